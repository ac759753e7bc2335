import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

import { describe, expect, it } from 'vitest';

/** Imports point down this list only. Parts on one line may not import each other. */
const LAYERS = [
  ['main'],
  ['app', 'cli'],
  ['config'],
  ['http', 'console'],
  ['mcp'],
  ['gate'],
  ['tools'],
  ['mesh', 'codehost'],
  ['net'],
  ['audit', 'metrics'],
  ['core'],
];
/** The wiring is called by the command that starts the server. */
const ALLOWED = ['cli → app'];

const files = globSync('src/**/*.ts').filter((file) => !file.endsWith('.test.ts'));
const partOf = (file: string) => relative('src', file).split('/')[0]?.replace(/\.ts$/, '') ?? '';
const rank = (part: string) => LAYERS.findIndex((layer) => layer.includes(part));

const imports = files.flatMap((file) =>
  [...readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*'(?<path>[^']+)'/g)].map((match) => ({
    file,
    target: match.groups?.['path'] ?? '',
  })),
);
const inner = imports
  .filter(({ target }) => target.startsWith('.'))
  .map(({ file, target }) => ({ file, target: join(dirname(file), target) }));

describe('imports', () => {
  it('are seen at all', () => expect(inner.length).toBeGreaterThan(50));

  it('belong to a part the list knows', () => {
    expect(files.filter((file) => rank(partOf(file)) === -1)).toEqual([]);
  });

  it('point one way', () => {
    const wrong = inner.filter(({ file, target }) => {
      const [from, to] = [partOf(file), partOf(target)];
      return from !== to && rank(to) <= rank(from) && !ALLOWED.includes(`${from} → ${to}`);
    });
    expect(wrong).toEqual([]);
  });

  it('never lead from one tool to another', () => {
    const toolOf = (path: string) => /^src\/tools\/([^/]+)\//.exec(path)?.[1];
    const wrong = inner.filter(({ file, target }) => {
      const [from, to] = [toolOf(file), toolOf(target)];
      return from !== undefined && to !== undefined && from !== to;
    });
    expect(wrong).toEqual([]);
  });

  it.each([
    ['ssh2', /^src\/(tools\/ssh-exec\/|cli\/deferred\.ts$)/],
    ['@modelcontextprotocol/server', /^src\/(mcp|http)\//],
    ['minisearch', /^src\/tools\/snippet-kb\//],
    ['undici', /^src\/(net\/|mesh\/|codehost\/|tools\/(fetch-external|browser)\/|cli\/deferred\.ts$)/],
    ['yaml', /^src\/config\//],
    ['@opentelemetry/sdk-trace-base', /^src\/metrics\/tracing\.ts$/],
    ['prom-client', /^src\/metrics\//],
  ])('of %s stay in their place', (name, place) => {
    const ofIt = imports.filter(({ target }) => target === name || target.startsWith(`${name}/`));
    expect(ofIt.length).toBeGreaterThan(0);
    expect(ofIt.filter(({ file }) => !place.test(file))).toEqual([]);
  });

  it('read the environment in main.ts alone', () => {
    const readers = files.filter((file) => /process\.(env|argv|exit)\b/.test(readFileSync(file, 'utf8')));
    expect(readers).toEqual(['src/main.ts']);
  });
});

describe('files', () => {
  it('stay readable: none is longer than 350 lines', () => {
    const long = [...globSync('{src,test,deploy}/**/*.{ts,mjs,sh}')].filter(
      (file) => readFileSync(file, 'utf8').split('\n').length > 350,
    );
    expect(long).toEqual([]);
  });
});
