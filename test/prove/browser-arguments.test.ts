import { afterAll, beforeAll } from 'vitest';

import { COUNTED, forbiddenHits } from '../support/browser-arrivals.ts';
import { type Lab, startLab } from '../support/browser-lab.ts';
import { until } from '../support/until.ts';
import { prove, whole } from './row.ts';
import { SESSION_NAMES, TEXTS } from './vectors/browser-arguments.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab(COUNTED);
  await until('the lab answers', async () => !(await lab.open('/')).isError);
});
afterAll(() => lab?.stop());

const some = <T>(list: readonly T[], few: number): T[] => {
  const step = whole ? 1 : Math.ceil(list.length / few);
  return list.filter((_, at) => at % step === 0);
};

/** Every file that the server's user has, but for sockets and pids of daemons, with its size. */
const files = () =>
  lab.docker(
    'exec',
    '--user',
    '10001',
    lab.container('server'),
    'sh',
    '-c',
    'find /tmp /home/service /data -type f ! -path "/tmp/rts-*/run/*" ! -path "/data/audit/*" 2>/dev/null | sort; ls /tmp',
  );

const SECRETS = /root:x:0|daemon:x:1|MCP_SECRET|taken\.p/;

prove(
  'browser',
  'A text that looks like an option, a command or a file is filled in and typed as it is',
  async () => {
    const failures: string[] = [];
    const before = await files();
    let tried = 0;
    // The first three are those that the tool does take for options, where it is not kept from it.
    let at = '';
    for (const text of new Set(['--clear', '--delay', '--cdp', ...some(TEXTS, 9)])) {
      // In an input of one line a line break is Enter, which sends the form.
      const path = /[\r\n]/.test(text) ? '/note' : '/form';
      for (const action of ['fill', 'type'] as const) {
        tried++;
        if (at !== path) await lab.open(path, 'texts');
        at = path;
        await lab.call({ action: 'fill', ref: '#name', value: '', session: 'texts' });
        const { value } = await lab.call({ action, ref: '#name', value: text, session: 'texts' });
        // As numbers: a result of the tool's is rid of what nobody sees.
        const script = '[...document.querySelector("#name").value].map((c) => c.codePointAt(0))';
        const { value: read } = await lab.call({
          action: 'eval',
          value: script,
          session: 'texts',
          max_chars: 10_000,
        });
        const shown = String.fromCodePoint(...((read['result'] ?? []) as number[])).replaceAll(/\n+/g, '\n');
        if (value.error ? shown !== '' : shown !== text.replaceAll(/[\r\n]+/g, '\n')) {
          failures.push(`${action} ${JSON.stringify(text)}: ${value.error?.code ?? JSON.stringify(shown)}`);
        }
        if (read.error || value.url !== `http://pages${path}`) {
          if (value.error === undefined)
            failures.push(`${action} ${JSON.stringify(text)}: the page is another one`);
          at = '';
        }
      }
    }
    if ((await files()) !== before) failures.push('files were written');
    failures.push(...(await forbiddenHits(lab)));
    await lab.call({ action: 'close', session: 'texts' });
    return { tries: tried, failures };
  },
);

prove('browser', 'In every other argument such a text is refused, or names nothing', async () => {
  const failures: string[] = [];
  const before = await files();
  const daemons = await running();
  let tried = 0;
  await lab.open('/form', 'refs');
  const ways = (text: string): Record<string, unknown>[] => [
    { action: 'click', ref: text },
    { action: 'hover', ref: text },
    { action: 'fill', ref: text, value: 'x' },
    { action: 'select', ref: '#colour', value: text },
    { action: 'select', ref: text, value: 'r' },
    { action: 'press', value: text },
    { action: 'press', ref: text, value: 'a' },
    { action: 'scroll', value: text },
    { action: 'scroll', ref: text },
    { action: 'snapshot', ref: text },
    { action: 'text', ref: text },
    { action: 'screenshot', ref: text },
    { action: 'open', url: text },
    { action: 'tabs', tab: text },
    { action: 'close', tab: text },
    { action: 'snapshot', dialog: text },
    // A wait for what is not there takes its time, so only texts that are refused at once are waited for.
    ...(text.startsWith('-') ? [{ action: 'wait', ref: text }] : []),
  ];
  for (const text of some(TEXTS, 6)) {
    for (const way of ways(text)) {
      tried++;
      const answer = await lab.call({ ...way, session: 'refs', timeout_seconds: 5 });
      const said = JSON.stringify(answer.value);
      const code = answer.value.error?.code;
      const what = `${JSON.stringify(way)}: ${code ?? 'taken'}`;
      if (SECRETS.test(said.replaceAll(JSON.stringify(text).slice(1, -1), '')))
        failures.push(`${what}, and said more`);
      // The tool takes its own error for a time limit when the text that it repeats speaks of one.
      const refused = REFUSALS.includes(String(code)) || (code === 'timeout' && /timeout/i.test(text));
      if (code === undefined ? !harmless(way) : !refused) failures.push(what);
      if (code === undefined && answer.value.url !== 'http://pages/form') await lab.open('/form', 'refs');
    }
  }
  if ((await files()) !== before) failures.push('files were written');
  await lab.call({ action: 'close', session: 'refs' });
  await until('no more runs than before', async () => (await running()) <= daemons, 20).catch(() =>
    failures.push('processes were left'),
  );
  failures.push(...(await forbiddenHits(lab)));
  return { tries: tried, failures };
});

prove('browser', 'A session’s name is a name: no path, no option, and no other session', async () => {
  const failures: string[] = [];
  for (const session of SESSION_NAMES) {
    const { value } = await lab.open('/', session);
    if (value.error?.code !== 'invalid_input') failures.push(`${JSON.stringify(session)} was taken`);
  }
  // What a name may be is taken as it is, also where it reads like an option or like something in the language.
  const names = ['--cdp', '-h', '__proto__', 'constructor', 'Default', 'DEFAULT', 'default-', '_'];
  for (const session of names) {
    await lab.open(`/cookie?set=${session}`, session);
    const { value } = await lab.open('/cookie', session);
    const { value: read } = await lab.call({ action: 'text', session });
    if (value.session !== session || read.text !== `who=${session}`)
      failures.push(`${session}: ${read.text}`);
    const { value: other } = await lab.open('/cookie', 'unrelated');
    if (other.error) failures.push(`unrelated: ${other.error.code}`);
    const { value: seen } = await lab.call({ action: 'text', session: 'unrelated' });
    if (seen.text !== 'no cookie') failures.push(`another session sees the cookie of ${session}`);
    await lab.call({ action: 'close', session });
  }
  await lab.call({ action: 'close', session: 'unrelated' });
  return { tries: SESSION_NAMES.length + names.length, failures };
});

const STORES: Record<string, { put: string; get: string }> = {
  cookie: { put: 'document.cookie = "k=v"', get: 'document.cookie.includes("k=v")' },
  localStorage: { put: 'localStorage.k = "v"', get: 'localStorage.k === "v"' },
  sessionStorage: { put: 'sessionStorage.k = "v"', get: 'sessionStorage.k === "v"' },
  indexedDB: {
    put: 'new Promise((done) => { indexedDB.open("k").onsuccess = () => done(0) })',
    get: 'indexedDB.databases().then((all) => all.some(({ name }) => name === "k"))',
  },
  'window name': { put: 'window.name = "v"', get: 'window.name === "v"' },
  channel: {
    put: 'globalThis.c = new BroadcastChannel("k"); c.onmessage = () => c.postMessage("v"); 0',
    get: `new Promise((done) => { const c = new BroadcastChannel("k"); c.onmessage = () => done(true); c.postMessage("?");
      setTimeout(done, 300, false) })`,
  },
  'shared worker': {
    put: 'globalThis.w = new SharedWorker("data:text/javascript,onconnect=(e)=>{self.n=(self.n||0)+1;e.ports[0].postMessage(self.n)}"); 0',
    get: `new Promise((done) => { const w = new SharedWorker("data:text/javascript,onconnect=(e)=>{self.n=(self.n||0)+1;e.ports[0].postMessage(self.n)}");
      w.port.onmessage = ({ data }) => done(data > 1) })`,
  },
};

prove(
  'browser',
  'What a page stores in one session is not there in another, nor after the session is closed',
  async () => {
    const failures: string[] = [];
    let tried = 0;
    for (const [name, { put, get }] of Object.entries(STORES)) {
      const holds = async (session: string) => {
        await lab.open('/', session);
        const { value } = await lab.call({ action: 'eval', value: get, session });
        if (value.error) failures.push(`${name}: ${value.error.message}`);
        return value['result'] === true;
      };
      await lab.open('/', 'mine');
      await lab.call({ action: 'eval', value: put, session: 'mine' });
      tried += 2;
      if (await holds('theirs')) failures.push(`${name} is seen in another session`);
      await lab.call({ action: 'close', session: 'mine' });
      await lab.call({ action: 'close', session: 'theirs' });
      if (await holds('mine')) failures.push(`${name} is still there after the session was closed`);
      await lab.call({ action: 'close', session: 'mine' });
    }
    return { tries: tried, failures };
  },
);

const REFUSALS = ['invalid_input', 'not_found', 'address_not_allowed', 'upstream_error'];

/** Whether a call may succeed with such a text: a key's name, a dialog that is not there, and a selector are one. */
function harmless({ action, value, ref }: Record<string, unknown>): boolean {
  return (action === 'press' && String(value).length < 42) || ref === '*' || ref === '@e1';
}

/** Processes of the command-line tool. */
async function running(): Promise<number> {
  const list = await lab.docker('top', lab.container('server'), '-o', 'pid,stat,args');
  return list.split('\n').filter((line) => line.includes('agent-browser') && !line.includes('Z')).length;
}
