/**
 * Our six tools as a peer's author would declare them: zod schemas, made once, and a handler that answers a fixed
 * refusal. TOOLS names a file with our tools/list, ANSWER one with the structured content of the refusal.
 */
import { readFileSync } from 'node:fs';

import * as z from 'zod';

const answer = JSON.parse(readFileSync(process.env.ANSWER, 'utf8'));

export const tools = JSON.parse(readFileSync(process.env.TOOLS, 'utf8')).map((tool) => ({
  name: tool.name,
  title: tool.title,
  description: tool.description,
  annotations: tool.annotations,
  inputSchema: z.fromJSONSchema(tool.inputSchema),
  outputSchema: z.fromJSONSchema(tool.outputSchema),
}));

export const answerText = JSON.stringify(answer);
export const result = () => ({
  structuredContent: answer,
  content: [{ type: 'text', text: JSON.stringify(answer) }],
});
