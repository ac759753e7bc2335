import { randomInt } from 'node:crypto';

import * as fc from 'fast-check';

import { container, docker, post, secureFetch, url } from '../support/stack.ts';
import { eachOf } from './lib/edge-doors.ts';
import { prove, tries } from './row.ts';
import { generatedMessage, type Message } from './vectors/json-messages.ts';

type Answer = {
  jsonrpc?: unknown;
  id?: unknown;
  result?: unknown;
  error?: { code?: unknown; message?: unknown };
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Which process serves; another one after the row means that this one has crashed. */
const life = () =>
  docker('inspect', '--format', '{{.State.Pid}} {{.State.StartedAt}} {{.RestartCount}}', container('server'));

const list = async () => (await post({ jsonrpc: '2.0', id: 1, method: 'tools/list' })).text();

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The ids that an answer may carry: those of the message, or of each in a batch. */
function idsOf(body: unknown): unknown[] {
  return (Array.isArray(body) ? body : [body]).map((each) => (isObject(each) ? each['id'] : undefined));
}

/** What is wrong with one JSON-RPC answer; undefined if nothing. */
function faultOf(answer: unknown, ids: readonly unknown[]): string | undefined {
  if (!isObject(answer)) return 'an answer that is no object';
  const { jsonrpc, id, error, result } = answer as Answer;
  if (jsonrpc !== '2.0') return 'an answer without "jsonrpc": "2.0"';
  if ((error === undefined) === (result === undefined)) return 'neither a result nor an error, or both';
  if (error !== undefined && (!Number.isInteger(error.code) || typeof error.message !== 'string')) {
    return 'an error without code or message';
  }
  if (error !== undefined && (id === null || id === undefined)) return undefined;
  return ids.includes(id) ? undefined : `an answer to ${JSON.stringify(id)}`;
}

/** The answers in an event stream, without the notifications before them. */
const streamed = (text: string): unknown[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => parsed(line.slice(6)))
    .filter((event) => !(isObject(event) && 'method' in event));

/** A subscription stays open for as long as its client does; its first event is answer enough. */
async function textOf(response: Response, stop: AbortController): Promise<string> {
  if (response.headers.get('content-type') !== 'text/event-stream' || response.body === null)
    return response.text();
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.includes('notifications/subscriptions/acknowledged')) stop.abort();
    if (stop.signal.aborted) break;
  }
  return text;
}

async function fault({ body, headers }: Message): Promise<string | undefined> {
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(60_000)]);
  const response = await secureFetch(url, { method: 'POST', headers, body, signal });
  const text = await textOf(response, stop);
  if (response.status === 202) return text === '' ? undefined : '202 with a body';
  if (![200, 400, 404, 415].includes(response.status)) return `answered ${response.status}`;
  if (response.headers.get('content-type') === 'text/event-stream') {
    if (stop.signal.aborted) return undefined;
    const answers = streamed(text);
    return answers.length === 1
      ? faultOf(answers[0], idsOf(parsed(body)))
      : `${answers.length} answers in a stream`;
  }
  const answer = parsed(text);
  const ids = idsOf(parsed(body));
  if (!Array.isArray(answer)) return faultOf(answer, ids);
  return answer.map((each) => faultOf(each, ids)).find((each) => each !== undefined);
}

prove(
  'protocol',
  'Any message gets an answer of the protocol with its own id, and leaves the server as it was',
  async () => {
    const seed = randomInt(2 ** 31);
    const messages = fc.sample(generatedMessage, { numRuns: tries(10_000, 200), seed });
    const [before, listed] = [await life(), await list()];
    const failures: string[] = [];
    await eachOf([...messages.entries()], 12, async ([at, message]) => {
      const found = await fault(message).catch((error: unknown) => String(error));
      if (found !== undefined)
        failures.push(`seed ${seed}, message ${at}: ${found}: ${JSON.stringify(message).slice(0, 400)}`);
    });
    if ((await list()) !== listed) failures.push(`seed ${seed}: tools/list is another one afterwards`);
    if ((await life()) !== before) failures.push(`seed ${seed}: the server was started again`);
    return { tries: messages.length, failures, figures: `seed ${seed}` };
  },
);
