/**
 * Asks each tool of the running demo once and writes what was said into README.md, between the two marks.
 * `npm run transcripts`, after `./deploy/up --demo`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

import { Agent, fetch } from 'undici';

const CALLS: [tool: string, args: Record<string, unknown>][] = [
  ['mesh_status', { device: 'laptop-1' }],
  ['ssh_exec', { device: 'web-1', command: 'hostname; uptime -p', cwd: '/srv/app' }],
  ['fetch_external', { url: 'http://demo-site/', format: 'markdown' }],
  ['code_search', { query: 'backup' }],
  ['snippet_kb', { action: 'search', query: 'router', limit: 1 }],
  ['browser', { action: 'open', url: 'http://demo-site/' }],
  ['browser', { action: 'snapshot' }],
];
const START = '<!-- transcripts -->';
const END = '<!-- /transcripts -->';
const LONGEST_TEXT = 240;
const MOST_ENTRIES = 2;

const env = parseEnv(readFileSync('.env.demo', 'utf8'));
const dispatcher = new Agent({ connect: { ca: readFileSync('deploy/state/caddy-root.crt', 'utf8') } });

async function ask(tool: string, args: Record<string, unknown>): Promise<unknown> {
  const response = await fetch(`https://localhost:${env['HTTPS_PORT']}/mcp`, {
    dispatcher,
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${env['MCP_SECRET']}` },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: tool, arguments: args },
    }),
  });
  const { result } = (await response.json()) as { result: { structuredContent: unknown; isError: boolean } };
  if (result.isError) throw new Error(`${tool}: ${JSON.stringify(result.structuredContent)}`);
  return result.structuredContent;
}

/** Long texts and lists cut, so that a transcript can be read. */
function shortened(value: unknown): unknown {
  if (typeof value === 'string') {
    return value.length > LONGEST_TEXT ? `${value.slice(0, LONGEST_TEXT)}…` : value;
  }
  if (Array.isArray(value)) {
    const kept = value.slice(0, MOST_ENTRIES).map(shortened);
    return value.length > MOST_ENTRIES ? [...kept, `… ${value.length - MOST_ENTRIES} more`] : kept;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, shortened(entry)]));
}

const parts: string[] = [];
for (const [tool, args] of CALLS) {
  const answer = shortened(await ask(tool, args));
  parts.push(
    `**${tool}** \`${JSON.stringify(args)}\``,
    '',
    '```json',
    JSON.stringify(answer, undefined, 2),
    '```',
    '',
  );
}
const readme = readFileSync('README.md', 'utf8');
const [from, to] = [readme.indexOf(START), readme.indexOf(END)];
if (from === -1 || to === -1) throw new Error(`README.md lacks ${START} and ${END}`);
writeFileSync(
  'README.md',
  [
    readme.slice(0, from + START.length),
    '<details>',
    '<summary>A call of each tool, as the demo answered it</summary>',
    parts.join('\n').trimEnd(),
    '</details>',
    readme.slice(to),
  ].join('\n\n'),
);
