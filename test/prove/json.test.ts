import { randomBytes } from 'node:crypto';

import { container, docker, inside, secureFetch, url } from '../support/stack.ts';
import { eachOf } from './lib/edge-doors.ts';
import { prove, tries } from './row.ts';
import { JSON_TEXTS, type JsonText } from './vectors/json-texts.ts';

/** Which process serves; another one after the row means that this one has crashed. */
const life = () =>
  docker('inspect', '--format', '{{.State.Pid}} {{.State.StartedAt}} {{.RestartCount}}', container('server'));

const around = (before: string, { bytes }: JsonText, after: string): Buffer =>
  Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]);

/** The places where the text stands, and what the rest is then read as. */
const PLACES: Record<string, (text: JsonText) => Buffer> = {
  'the whole body': ({ bytes }) => bytes,
  'a parameter': (text) => around('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":', text, '}}'),
  // Refused by the tool's schema, which is after the gate has recorded what it was given.
  'an argument': (text) =>
    around(
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ssh_exec","arguments":{"device":"web-1","command":"true","x":',
      text,
      '}}}',
    ),
};

/** Texts that are refused alone, and mean something else between other ones. */
const ONLY_ALONE = ['byte order mark'];

/** What is wrong with the answer to a text; undefined if nothing. */
async function fault(text: JsonText, body: Buffer): Promise<string | undefined> {
  const response = await secureFetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: new Uint8Array(body),
    signal: AbortSignal.timeout(60_000),
  });
  const answer = await response.text();
  if (response.status === 202 && answer === '') return undefined;
  let parsed: { error?: { code?: number } };
  try {
    parsed = JSON.parse(answer) as typeof parsed;
  } catch {
    return `the answer, ${response.status}, is no JSON`;
  }
  if (![200, 400].includes(response.status)) return `answered ${response.status}`;
  const refused = parsed.error?.code === -32_700;
  if (refused && response.status !== 400) return `a parse error with ${response.status}`;
  if (text.says === 'json' && refused) return 'refused';
  if (text.says === 'no json' && !refused) return 'read';
  return undefined;
}

prove(
  'protocol',
  'Every text that is JSON is read, every other is refused, and none ends the server',
  async () => {
    const before = await life();
    const every = tries(1, 6);
    const first = Math.floor(Math.random() * every);
    const failures: string[] = [];
    let count = 0;
    for (const [place, bodyOf] of Object.entries(PLACES)) {
      const texts = JSON_TEXTS.filter((_, at) => at % every === first);
      await eachOf(texts, 8, async (text) => {
        if (place !== 'the whole body' && ONLY_ALONE.includes(text.kind)) return;
        count += 1;
        const found = await fault(text, bodyOf(text)).catch((error: unknown) => String(error));
        if (found !== undefined)
          failures.push(`${place}, ${text.kind}: ${JSON.stringify(text.name)}: ${found}`);
      });
    }
    // A polluted prototype would show in the next answer, and the audit log would no longer be lines of JSON.
    const marker = `json-${randomBytes(4).toString('hex')}`;
    const next = await fault(
      { kind: '', name: '', says: 'json', bytes: Buffer.alloc(0) },
      Buffer.from(`{"jsonrpc":"2.0","id":"${marker}","method":"ping"}`),
    );
    if (next !== undefined) failures.push(`a good request afterwards: ${next}`);
    const log = await inside('server', 'cat /data/audit/service-audit.log', '10001');
    for (const line of log.trim().split('\n')) {
      if (!line.endsWith('}') || line.includes('polluted":true,"seq"'))
        failures.push('a line of the audit log is broken');
    }
    if ((await life()) !== before) failures.push('the server was started again');
    return {
      tries: count,
      failures,
      figures: `${JSON_TEXTS.length} texts in ${Object.keys(PLACES).length} places`,
    };
  },
);
