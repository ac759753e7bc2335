import { afterAll, beforeAll, expect, it } from 'vitest';

import { type Lab, startLab } from '../support/browser-lab.ts';

// The browser's command-line tool knows a tab that is not pinned yet by its place among the tabs of all sessions. When
// another session closed one in that moment, an open went to a stranger's tab and showed it to the wrong caller.

const SESSIONS = ['one', 'two', 'three', 'four'];
const ROUNDS = 8;

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.stop());

it('each session acts on its own tab while others open and close theirs', async () => {
  const mixed: unknown[] = [];
  const late: string[] = [];
  const play = async (session: string) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const path = `/?${session}-${round}`;
      const { value: opened } = await lab.open(path, session);
      // Slow is not mixed up: one that hung was seen on a machine with twenty times its load.
      const hung = opened.error?.code === 'timeout';
      if (hung) late.push(path);
      const answers = hung ? [] : [opened, (await lab.call({ session, action: 'text' })).value];
      for (const { url, error } of answers) {
        if (url !== `http://pages${path}`) mixed.push({ path, url, error });
      }
      await lab.call({ session, action: 'close' });
    }
  };
  await Promise.all(SESSIONS.map(play));
  expect(mixed).toEqual([]);
  expect(late.length, `opened too late: ${late.join(', ')}`).toBeLessThan(2);
});

it('a daemon of the tool that ended is followed by one that finds the session’s tab', async () => {
  await lab.open('/second', 'one');
  await lab.open('/form', 'two');
  const ended = await lab.docker(
    'exec',
    '--user',
    '10001',
    lab.container('server'),
    'sh',
    '-c',
    'for f in /tmp/rts-*/run/*.pid; do kill -9 "$(cat "$f")" && echo ended; done',
  );
  expect(ended.match(/ended/g)).toHaveLength(2);
  expect((await lab.call({ session: 'one', action: 'text' })).value).toMatchObject({
    url: 'http://pages/second',
    text: 'The second page',
  });
  const { value } = await lab.call({ session: 'two', action: 'snapshot' });
  expect(value.url).toBe('http://pages/form');
  expect(String(value['snapshot'])).toContain('textbox');
});
