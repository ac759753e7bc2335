import { existsSync, readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { OLD_FIELD, packages } from '../support/render-licences.ts';

/** What may be in the server: nothing that asks more of those who pass it on than to keep its notice. */
const IN_THE_SERVER = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'Unlicense',
]);
/** Of what is never passed on, those that ask for a change of ours in return would be wrong here as well. */
const BESIDE_IT = new Set([...IN_THE_SERVER, '(MIT OR CC0-1.0)', 'MPL-2.0', 'SEE LICENSE IN LICENSE']);

describe('licences', () => {
  it('of what the server runs with are of the permissive kinds', () => {
    const production = packages().filter(({ development }) => !development);
    expect(production.map(({ name }) => name)).toContain('ssh2');
    expect(production.filter(({ licence }) => !IN_THE_SERVER.has(licence ?? ''))).toEqual([]);
  });

  it('of what builds and tests it are known kinds', () => {
    expect(packages().filter(({ licence }) => !BESIDE_IT.has(licence ?? ''))).toEqual([]);
  });

  it('that the lock file leaves out are those that the packages say', () => {
    const said = Object.keys(OLD_FIELD).flatMap((name) => {
      // Two of them are optional: a machine without a compiler goes without.
      const path = `node_modules/${name}/package.json`;
      if (!existsSync(path)) return [];
      const { licenses } = JSON.parse(readFileSync(path, 'utf8')) as { licenses: { type: string }[] };
      return [[name, licenses.map(({ type }) => type).join()]];
    });
    expect(Object.fromEntries(said)).toMatchObject({ ssh2: 'MIT' });
    for (const [name = '', licence] of said) expect(licence).toBe(OLD_FIELD[name]);
  });
});
