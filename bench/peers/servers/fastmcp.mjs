/** fastmcp over HTTP, stateless. */
import { FastMCP } from 'fastmcp';

import { answerText, tools } from './tools.mjs';

const server = new FastMCP({ name: 'tutorial', version: '1.0.0' });
for (const { name, description, annotations, inputSchema } of tools) {
  server.addTool({
    name,
    description,
    annotations,
    parameters: inputSchema,
    execute: async () => answerText,
  });
}
await server.start({
  transportType: 'httpStream',
  httpStream: {
    port: Number(process.env.PORT),
    host: '127.0.0.1',
    endpoint: '/mcp',
    stateless: true,
    enableJsonResponse: true,
  },
});
