import type { GistText } from '../../codehost/gist-texts.ts';
import type { Gists } from '../../codehost/gists.ts';
import { type ErrorCode, ToolError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { WIDTH } from './listing.ts';
import { eachOf } from './pool.ts';

/** A note whose text the index lacks. */
export interface Pending {
  id: string;
  nodeId: string | undefined;
}

export interface FillParts {
  gists: Gists;
  log: Log;
  now: () => number;
  signal: AbortSignal;
  pending: () => Pending[];
  /** Takes in texts that were read together, as far as they are whole and current. */
  take: (text: GistText, readAt: number) => void;
  /** Reads one note and takes it in. */
  read: (id: string) => Promise<void>;
}

/** Notes from which on reading them together is worth a request of another kind. */
const BULK_FROM = 10;
const BULK_SIZE = 50;
const BULK_WIDTH = 2;
/** Failures that may be one note's own; after some of them it is the code host that fails. */
const ONE_NOTE: readonly ErrorCode[] = ['upstream_error', 'too_large', 'timeout'];
const MOST_FAULTS = 5;

/** Makes the function that reads what the index lacks: many notes together where that works, the rest one by one. */
export function createFill({ gists, log, now, signal, pending, take, read }: FillParts): () => Promise<void> {
  let together = true;

  async function readTogether(): Promise<void> {
    const ids = pending().flatMap(({ nodeId }) => (nodeId === undefined ? [] : [nodeId]));
    if (ids.length < BULK_FROM) return;
    const batches = Array.from({ length: Math.ceil(ids.length / BULK_SIZE) }, (_, at) =>
      ids.slice(at * BULK_SIZE, (at + 1) * BULK_SIZE),
    );
    try {
      await eachOf(batches, BULK_WIDTH, async (batch) => {
        const readAt = now();
        for (const text of await gists.texts(batch, signal)) take(text, readAt);
      });
    } catch (error) {
      if (signal.aborted || (error instanceof ToolError && error.code === 'rate_limited')) throw error;
      // A server or a token without GraphQL: the other API tells what is the matter, if anything is.
      together = false;
      log.warn('snippet_kb: notes are read one by one', { reason: String(error) });
    }
  }

  return async () => {
    if (together) await readTogether();
    let faults = 0;
    await eachOf(pending(), WIDTH, ({ id }) =>
      read(id).catch((error: unknown) => {
        faults += 1;
        // A note that can't be read is tried again at the next search; the others must not wait for it.
        if (!(error instanceof ToolError) || !ONE_NOTE.includes(error.code) || faults > MOST_FAULTS)
          throw error;
        log.warn('snippet_kb: a note is not in the index', { note: id, reason: error.message });
      }),
    );
  };
}
