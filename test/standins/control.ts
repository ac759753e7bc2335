import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono, type MiddlewareHandler } from 'hono';

export interface StandinEnv {
  Bindings: HttpBindings;
}

/** What one request gets instead of its answer. Field names are those of the JSON of `POST /_control/faults`. */
export interface Fault {
  /** Answer with this status; 200 when only `body` is given. */
  status?: number;
  /** A text is sent as it is, anything else as JSON; left out, the API's own error body for `status`. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Value of Retry-After: seconds or a date. */
  retry_after?: number | string;
  /** Answer with that many bytes of JSON that never ends. */
  bytes?: number;
  /** Wait before the answer, which then is the normal one unless another field says otherwise. */
  delay_ms?: number;
  /** Never answer. */
  hang?: boolean;
  /** Reset the connection instead of answering. */
  reset?: boolean;
  /** Close the connection in the middle of the body. */
  cut?: boolean;
}

interface SeenRequest {
  api: string;
  method: string;
  /** Path with its query. */
  path: string;
  /** The scheme of the Authorization header, never its value. */
  scheme: string | null;
}

/** Scripts the stand-ins' faults and remembers what they were asked. */
export interface Control {
  /** The next requests to that API fail so, one fault a request, in that order. */
  fail(api: string, ...faults: Fault[]): void;
  requests(api: string): SeenRequest[];
  /** Forgets all faults and requests. */
  reset(): void;
  /** Put before an API's routes. `errorResponse` gives the API's own body for a status. */
  middleware(api: string, errorResponse: (status: number) => Response): MiddlewareHandler<StandinEnv>;
  /** The same, for a stand-in that runs as a container: `/_control/…`. */
  routes(): Hono<StandinEnv>;
}

export function createControl(): Control {
  const faults = new Map<string, Fault[]>();
  let seen: SeenRequest[] = [];

  const control: Control = {
    fail(api, ...next) {
      faults.set(api, [...(faults.get(api) ?? []), ...next]);
    },
    requests: (api) => seen.filter((request) => request.api === api),
    reset() {
      faults.clear();
      seen = [];
    },
    middleware: (api, errorResponse) => async (c, next) => {
      const url = new URL(c.req.url);
      seen.push({
        api,
        method: c.req.method,
        path: url.pathname + url.search,
        scheme: /^(\w+) /.exec(c.req.header('authorization') ?? '')?.[1] ?? null,
      });
      const fault = faults.get(api)?.shift();
      if (fault?.delay_ms !== undefined) await new Promise((resolve) => setTimeout(resolve, fault.delay_ms));
      const answer = fault && (await instead(fault, c, errorResponse));
      if (answer) return answer;
      return next();
    },
    routes() {
      return new Hono<StandinEnv>()
        .post('/_control/faults', async (c) => {
          const { api, next } = await c.req.json<{ api: string; next: Fault[] }>();
          control.fail(api, ...next);
          return c.json({ api, pending: faults.get(api)?.length ?? 0 });
        })
        .get('/_control/requests', (c) => {
          const api = c.req.query('api');
          const requests = api === undefined ? seen : control.requests(api);
          return c.json({ count: requests.length, requests });
        })
        .post('/_control/reset', (c) => {
          control.reset();
          return c.json({ ok: true });
        });
    },
  };
  return control;
}

/** The answer a fault makes; undefined when it has none of its own. */
async function instead(
  fault: Fault,
  c: Context<StandinEnv>,
  errorResponse: (status: number) => Response,
): Promise<Response | undefined> {
  if (fault.hang) return new Promise<never>(() => {});
  if (fault.reset) {
    c.env.incoming.socket.resetAndDestroy();
    return RESPONSE_ALREADY_SENT;
  }
  if (fault.cut) {
    c.env.outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': '4096' });
    c.env.outgoing.write('{"devices":[', () => c.env.incoming.socket.destroy());
    return RESPONSE_ALREADY_SENT;
  }
  if (fault.bytes !== undefined) {
    return new Response(endless(fault.bytes), { headers: { 'content-type': 'application/json' } });
  }
  if (fault.status === undefined && fault.body === undefined) return undefined;

  const { status = 200, body } = fault;
  const plain = body === undefined ? errorResponse(status) : undefined;
  const headers = new Headers(plain?.headers);
  if (body !== undefined)
    headers.set('content-type', typeof body === 'string' ? 'text/html' : 'application/json');
  if (fault.retry_after !== undefined) headers.set('retry-after', String(fault.retry_after));
  for (const [name, value] of Object.entries(fault.headers ?? {})) headers.set(name, value);
  const content = plain ? await plain.text() : typeof body === 'string' ? body : JSON.stringify(body);
  return new Response(content, { status, headers });
}

function endless(bytes: number): ReadableStream<Uint8Array> {
  const block = new Uint8Array(64 * 1024).fill(0x20);
  let left = bytes;
  return new ReadableStream({
    pull(controller) {
      if (left <= 0) return controller.close();
      controller.enqueue(left < block.length ? block.subarray(0, left) : block);
      left -= block.length;
    },
  });
}
