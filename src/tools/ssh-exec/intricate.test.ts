import * as fc from 'fast-check';
import { expect, it } from 'vitest';

import { blockedBy } from './blocklist.ts';
import { Budget, TooIntricate } from './budget.ts';
import { pathOutside } from './paths.ts';
import { decideSsh } from './policy.ts';

// A policy that reads texts is itself a target: patterns that go back over their text, and readings that double with
// each nesting, let one call hold a server for minutes.

const BLOCKED = Array.from({ length: 100 }, (_, at) => `zap${at} -x${String.fromCodePoint(97 + (at % 26))}`);
const POLICY = { blockedCommands: BLOCKED, allowedDirs: [], dryRun: false };
const INTRICATE = 'too intricate to be checked';
const PIECES = (
  `{ } {, {a,b} \${ $( ) \` ' " \\ $' "$ \\' \\" $x \${a:- \${a:-b} a=$a; a=$b;b=$a; a+=$a; <<a\n # $(echo \`echo ` +
  `; | && ( > 2>x <y * ? [a- zap? z* -x -r sudo su -u read for~a~in~b; cd ../ /a ~ ! sh~-c aGVsbG8gd29ybGQ= 72~ \\x72 ` +
  `%2e "a"+"b" http://a \u00e9 \u200b \n a`
).split(' ');
const adversarial = fc
  .tuple(
    fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 12 }),
    fc.integer({ min: 1, max: 256 * 1024 }),
  )
  .map(([parts, length]) => {
    const unit = `${parts
      .join('')
      .replaceAll('~', ' ')
      .replaceAll(String.raw`\n`, '\n')} `;
    return unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
  });

/** Steps that the reading took, and whether it was broken off. */
function stepsOf(text: string): { spent: number; most: number; brokenOff: boolean }[] {
  return [
    (budget: Budget) => blockedBy(text, BLOCKED, budget),
    (budget: Budget) => pathOutside({ command: 'sh', cwd: '/srv', stdin: text }, ['/srv'], budget),
  ].map((read) => {
    const budget = new Budget(text.length);
    let brokenOff = false;
    try {
      read(budget);
    } catch (error) {
      if (!(error instanceof TooIntricate)) throw error;
      brokenOff = true;
    }
    return { spent: budget.spent, most: budget.most, brokenOff };
  });
}

// The timeout is for a busy machine.
it('no text takes more steps than its length allows, but for the last', { timeout: 120_000 }, () => {
  fc.assert(
    fc.property(adversarial, (text) => {
      for (const { spent, most, brokenOff } of stepsOf(text)) {
        // What is announced before a step that is not taken is at most a reading of the text.
        expect(spent).toBeLessThanOrEqual(most + 2 * text.length + 8_192);
        expect(brokenOff).toBe(spent > most);
      }
    }),
    { numRuns: 30, seed: 6 },
  );
});

it('what is too intricate is refused, and says so', () => {
  const stdin = 'a=$a$a;zap$a;'.repeat(20_000);
  expect(decideSsh({ command: 'sh', stdin }, POLICY)).toEqual({
    verdict: 'refuse',
    rule: INTRICATE,
    answer: {
      blocked: true,
      matched_rule: INTRICATE,
      reason:
        'Its quotes, variables or encodings take too long to follow: write it plainly, or in shorter calls.',
    },
  });
});

it('without lists nothing is too intricate', () => {
  const stdin = 'a=$a$a;zap$a;'.repeat(20_000);
  expect(decideSsh({ command: 'sh', stdin }, { ...POLICY, blockedCommands: [] })).toEqual({
    verdict: 'allow',
  });
});

it('what quotes hide is seen in the midst of a long script', () => {
  const filler = Array.from(
    { length: 3_000 },
    (_, at) => `echo "line ${at}" >>/tmp/out # it is ${at}\n`,
  ).join('');
  const found = (line: string) =>
    decideSsh({ command: 'sh', stdin: `${filler}${line}\n${filler}` }, POLICY).verdict;
  expect(found('echo harmless')).toBe('allow');
  for (const line of [
    'z"a"p7 -x\\h',
    'q=p7; za$q -xh',
    'zap7 -v -xh',
    '/opt/z?p7 -xh',
    '{zap7,-xh}',
    'emFwNyAteGg=',
  ])
    expect(found(line), line).toBe('refuse');
});

const SOURCE = [
  '  const found = { list: [first, ...rest], text: `${name} it\'s`, "c": (d) => d?.e * 2 };',
  '    if (!this.#open && value !== undefined) return await this.read(name, "text");',
  "  print('%s: %d' % (name, len(items)), file=sys.stderr)",
  '  for (int i = 0; i < count; i++) { sum += values->at(i); }',
];

it.each([
  ['a table', (at: number) => `${at},2026-01-01,"Name ${at * 7919}",${at / 7},it${at}@example.org\n`],
  ['source code', (at: number) => `${SOURCE[at % 4]} // ${at}\n`],
  [
    'base64',
    (at: number) =>
      `${Buffer.from(String(at * 7919).repeat(11))
        .toString('base64')
        .slice(0, 76)}\n`,
  ],
])('a mebibyte of %s passes', { timeout: 60_000 }, (_what, line) => {
  const stdin = Array.from({ length: 30_000 }, (_unused, at) => line(at))
    .join('')
    .slice(0, 1024 * 1024);
  expect(decideSsh({ command: 'cat >x', stdin }, POLICY)).toEqual({ verdict: 'allow' });
});
