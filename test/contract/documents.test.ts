import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { VERSION } from '../../src/core/version.ts';
import { renderDocuments } from '../support/render-docs.ts';

describe('generated documents', () => {
  it.each(Object.entries(renderDocuments()))('%s is fresh (npm run docs)', (path, text) => {
    expect(readFileSync(path, 'utf8')).toBe(text);
  });
});

describe('the version', () => {
  it('is the same everywhere', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(version).toBe(VERSION);
    expect(readFileSync('CHANGELOG.md', 'utf8')).toContain(`## ${VERSION}`);
  });
});
