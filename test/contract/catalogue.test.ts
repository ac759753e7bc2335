import { describe, expect, it } from 'vitest';

import { listTools } from '../../src/mcp/list.ts';
import { catalogue } from '../support/catalogue.ts';

const { tools } = listTools(catalogue());

interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: unknown;
  description?: string;
  anyOf?: unknown;
  oneOf?: unknown;
  allOf?: unknown;
}

describe('tools/list', () => {
  it('has exactly the six tools, in this order', () => {
    expect(tools.map(({ name }) => name)).toEqual([
      'ssh_exec',
      'mesh_status',
      'fetch_external',
      'code_search',
      'snippet_kb',
      'browser',
    ]);
  });

  it('stays under 10 KB, output schemas included', () => {
    const sizes = tools.map((tool) => `${tool.name} ${JSON.stringify(tool).length}`).join(', ');
    const total = Buffer.byteLength(JSON.stringify({ tools }));
    process.stdout.write(`tools/list: ${total} bytes (${sizes})\n`);
    expect(total).toBeLessThan(10_000);
  });

  it('matches its snapshot', async () => {
    await expect(`${JSON.stringify(tools, undefined, 2)}\n`).toMatchFileSnapshot('__snapshots__/tools.json');
  });
});

describe.each(tools)('$name', (tool) => {
  const input = tool.inputSchema as Schema;
  const output = tool.outputSchema as Schema;

  it('takes one plain object without unknown properties', () => {
    expect(input.type).toBe('object');
    expect(input.additionalProperties).toBe(false);
    expect([input.anyOf, input.oneOf, input.allOf]).toEqual([undefined, undefined, undefined]);
  });

  it('describes every property', () => {
    const silent = Object.entries(input.properties ?? {}).filter(([, { description }]) => !description);
    expect(silent.map(([name]) => name)).toEqual([]);
  });

  it('says when to use it and gives one example', () => {
    expect(tool.description).toMatch(/Example: \{".+\}/);
  });

  it('gives all four annotations', () => {
    expect(Object.keys(tool.annotations ?? {}).sort()).toEqual([
      'destructiveHint',
      'idempotentHint',
      'openWorldHint',
      'readOnlyHint',
    ]);
  });

  it('lets an answer that is only an error pass its output schema', () => {
    expect(output.type).toBe('object');
    expect([output.anyOf, output.oneOf]).toEqual([undefined, undefined]);
    const definition = catalogue().find(({ name }) => name === tool.name);
    expect(definition?.output.safeParse({ error: { code: 'x', message: 'y' } }).success).toBe(true);
  });
});
