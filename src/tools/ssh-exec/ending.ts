import { setTimeout as pause } from 'node:timers/promises';

import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { abortable } from './abortable.ts';
import { type Handle, endCommand } from './end-command.ts';
import type { Pool } from './pool.ts';
import { type Connection, NotStarted, type Remote, type Target } from './ssh.ts';

/** Ends commands on devices, and goes on with those that did not end while their calls waited. */
export interface Ending {
  /**
   * Ends a command over its own connection, or over another one where that has no channel left.
   * @returns false where something of it is left after four seconds; then ending it goes on, for a minute at most
   */
  end(target: Target, own: Connection, remote: Remote, handle: Handle): Promise<boolean>;
  /** Commands that are still being ended after their calls were answered. */
  unfinished(): number;
  /** Gives up what is left, and resolves when nothing is under way. */
  close(): Promise<void>;
}

/** The gate waits five seconds for the clean-up of a call; ending the command must fit in. */
const END_MS = 4_000;
const AFTERWARDS_MS = 60_000;
const TRY_MS = 20_000;
/** Before the second try; twice as long before each that follows. */
const FIRST_PAUSE_MS = 1_000;
/** Each takes a connection of its own; a crowd of them would keep the device from admitting any. */
const AT_A_TIME = 4;

export function createEnding(pool: Pool, log: Log): Ending {
  const stop = new AbortController();
  const underWay = new Set<Promise<void>>();
  let active = 0;
  const waiting: (() => void)[] = [];

  async function place(): Promise<void> {
    if (active >= AT_A_TIME) await new Promise<void>((resolve) => waiting.push(resolve));
    else active += 1;
  }

  function leave(): void {
    const next = waiting.shift();
    if (next) next();
    else active -= 1;
  }

  async function onAnother(target: Target, handle: Handle, signal: AbortSignal): Promise<boolean> {
    const other = await pool.dial(target, signal);
    try {
      return await abortable(endCommand(other, handle, signal), signal);
    } finally {
      other.end();
    }
  }

  async function afterwards(target: Target, handle: Handle): Promise<void> {
    const facts = { device: target.device, address: target.address, user: target.user };
    log.warn('ssh command not ended in time, trying on', facts);
    const limit = AbortSignal.any([stop.signal, AbortSignal.timeout(AFTERWARDS_MS)]);
    let reason = 'something of it is left';
    for (let wait = FIRST_PAUSE_MS; !limit.aborted; wait *= 2) {
      await place();
      try {
        const enough = AbortSignal.any([limit, AbortSignal.timeout(TRY_MS)]);
        if (!limit.aborted && (await onAnother(target, handle, enough))) {
          log.info('ssh command ended after its call', facts);
          return;
        }
      } catch (error) {
        reason = messageOf(error);
      } finally {
        leave();
      }
      await pause(wait, undefined, { signal: limit, ref: false }).catch(() => {});
    }
    log.error('ssh command could not be ended', { ...facts, reason });
  }

  return {
    async end(target, own, remote, handle) {
      const limit = AbortSignal.any([stop.signal, AbortSignal.timeout(END_MS)]);
      try {
        const onOwn = endCommand(own, handle, limit).catch((error: unknown) => {
          if (error instanceof NotStarted) return onAnother(target, handle, limit);
          throw error;
        });
        // A device that fell silent keeps even the opening of a channel waiting.
        const done = await abortable(onOwn, limit);
        // What it wrote before it was ended is still under way.
        if (done) await abortable(remote.ended, limit);
        if (done) return true;
      } catch {
        // Below it is tried on.
      }
      if (stop.signal.aborted) return false;
      const later = afterwards(target, { ...handle }).finally(() => underWay.delete(later));
      underWay.add(later);
      return false;
    },
    unfinished: () => underWay.size,
    async close() {
      stop.abort(new Error('the server is stopping'));
      await Promise.all(underWay);
    },
  };
}
