import { ToolError } from '../../core/errors.ts';

/** An event of the browser's, or of a page's when it has a session id. */
export interface CdpEvent {
  method: string;
  params: Record<string, unknown>;
  sessionId?: string;
}

/** A connection to the browser's debugging protocol. */
export interface Cdp {
  /**
   * Rejects when the browser answers with an error and when the connection ends.
   * @throws ToolError `timeout` after `timeoutMs`
   */
  send(
    method: string,
    params?: object,
    sessionId?: string,
    timeoutMs?: number,
  ): Promise<Record<string, unknown>>;
  onEvent(listener: (event: CdpEvent) => void): void;
  /** Resolves when the connection is gone, for whatever reason. */
  readonly ended: Promise<void>;
  close(): void;
}

interface Answer extends Partial<CdpEvent> {
  id?: number;
  result?: Record<string, unknown>;
  error?: { message: string };
}

const ANSWER_MS = 10_000;

/** Connects to `ws://HOST:PORT/devtools/browser/<id>`. */
export async function connectCdp(url: string): Promise<Cdp> {
  const { WebSocket } = await import('undici');
  const socket = new WebSocket(url);
  const waiting = new Map<number, (answer: Answer) => void>();
  const listeners: ((event: CdpEvent) => void)[] = [];
  let lastId = 0;
  let open = false;

  const ended = new Promise<void>((resolve) => {
    socket.addEventListener('close', () => {
      open = false;
      for (const answer of waiting.values()) answer({ error: { message: 'the browser went away' } });
      waiting.clear();
      resolve();
    });
  });
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Answer;
    if (message.id === undefined) {
      for (const listener of listeners) listener(message as CdpEvent);
    } else {
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    }
  });
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => {
      open = true;
      resolve();
    });
    socket.addEventListener('error', () => reject(new Error('the browser did not accept the connection')));
  });

  return {
    send: (method, params = {}, sessionId, timeoutMs = ANSWER_MS) =>
      new Promise((resolve, reject) => {
        if (!open) {
          reject(new Error(`${method}: the browser went away`));
          return;
        }
        const id = ++lastId;
        // A page that spins never answers.
        const timer = setTimeout(() => {
          waiting.delete(id);
          reject(
            new ToolError('timeout', `The browser did not answer ${method} within ${timeoutMs / 1000} s.`, {
              hint: 'A page keeps it busy: close the session that shows it, or try again later.',
            }),
          );
        }, timeoutMs);
        waiting.set(id, ({ result, error }) => {
          clearTimeout(timer);
          if (error) reject(new Error(`${method}: ${error.message}`));
          else resolve(result ?? {});
        });
        socket.send(JSON.stringify({ id, method, params, sessionId }));
      }),
    onEvent: (listener) => listeners.push(listener),
    ended,
    close: () => socket.close(),
  };
}
