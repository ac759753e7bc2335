import { ToolError } from '../../core/errors.ts';
import { abortable } from './abortable.ts';
import type { Connection, Target } from './ssh.ts';

/** One channel's worth of a connection. */
export interface Lease {
  readonly connection: Connection;
  /** Gives the channel back; what is done a second time does nothing. */
  release(): void;
  /** Tells the pool that the device admits fewer channels a connection than were tried. */
  channelRefused(): void;
}

export interface Pool {
  /**
   * A channel on a connection to the target, an open one where there is room. Once all are in use it waits for one,
   * at most `waitMs`.
   * @throws what `dial` throws; ToolError `timeout` when none came free; the signal's reason
   */
  lease(target: Target, waitMs: number, signal: AbortSignal): Promise<Lease>;
  /** A connection of one's own; the caller ends it. */
  dial(target: Target, signal: AbortSignal): Promise<Connection>;
  /** Open connections, those being made included. */
  size(): number;
  close(): Promise<void>;
}

interface Entry {
  ready: Promise<Connection>;
  active: number;
  abort: AbortController;
  connection?: Connection;
  idle?: NodeJS.Timeout;
}

interface Group {
  key: string;
  entries: Entry[];
  /** Callers that wait for a channel; calling one makes it look again. */
  waiting: (() => void)[];
  /** Channels a connection. Sinks where a device admits fewer. */
  channels: number;
}

/** sshd admits 10 by default; two are left for ending commands. */
const MOST_CHANNELS = 8;
const MOST_CONNECTIONS = 4;
const IDLE_MS = 5 * 60_000;

/** Connections kept open between calls, per device and user. */
export function createPool(dial: (target: Target, signal: AbortSignal) => Promise<Connection>): Pool {
  const groups = new Map<string, Group>();
  let closed = false;

  function groupOf({ address, port, user }: Target): Group {
    const key = JSON.stringify([address, port, user]);
    const group = groups.get(key) ?? { key, entries: [], waiting: [], channels: MOST_CHANNELS };
    groups.set(key, group);
    return group;
  }

  function add(group: Group, target: Target): Entry {
    const abort = new AbortController();
    const entry: Entry = { ready: dial(target, abort.signal), active: 0, abort };
    group.entries.push(entry);
    void watch(group, entry);
    return entry;
  }

  async function watch(group: Group, entry: Entry): Promise<void> {
    try {
      entry.connection = await entry.ready;
      if (closed) entry.connection.end();
      await entry.connection.closed;
    } catch {
      // Whoever waits for the connection is told by `ready` itself.
    } finally {
      drop(group, entry);
    }
  }

  function drop(group: Group, entry: Entry): void {
    clearTimeout(entry.idle);
    group.entries = group.entries.filter((other) => other !== entry);
    if (group.entries.length === 0) groups.delete(group.key);
    wake(group);
  }

  function wake(group: Group): void {
    for (const look of group.waiting.splice(0)) look();
  }

  /** Counts at once, before anybody else looks for room: callers of the same moment must not all find the last. */
  function take(group: Group, entry: Entry): { group: Group; entry: Entry } {
    entry.active += 1;
    clearTimeout(entry.idle);
    return { group, entry };
  }

  function give(group: Group, entry: Entry): void {
    entry.active -= 1;
    wake(group);
    if (entry.active > 0) return;
    if (!entry.connection) entry.abort.abort(new Error('nobody waits for this connection any more'));
    // One that just died is dropped by its own `closed`.
    entry.idle = setTimeout(() => entry.connection?.end(), IDLE_MS).unref();
  }

  async function room(
    target: Target,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<{ group: Group; entry: Entry }> {
    // Made only for a call that has to wait: most don't, and each would leave a timer behind.
    let enough: AbortSignal | undefined;
    for (;;) {
      const group = groupOf(target);
      signal.throwIfAborted();
      if (enough?.aborted) throw nothingFree(target, waitMs);
      if (closed) throw new ToolError('cancelled', 'The server is stopping.');
      const usable = group.entries.filter(
        ({ connection, abort }) => connection?.alive !== false && !abort.signal.aborted,
      );
      const free = usable.find((entry) => entry.active < group.channels);
      if (free) return take(group, free);
      if (usable.length < MOST_CONNECTIONS) return take(group, add(group, target));
      const channel = new Promise<void>((resolve) => group.waiting.push(resolve));
      enough ??= AbortSignal.timeout(waitMs);
      // Which of the two it was is found out at the top of the loop.
      await abortable(channel, AbortSignal.any([signal, enough])).catch(() => {});
    }
  }

  return {
    dial,
    size: () => [...groups.values()].reduce((sum, { entries }) => sum + entries.length, 0),
    async lease(target, waitMs, signal) {
      const { group, entry } = await room(target, waitMs, signal);
      let given = false;
      const release = () => {
        if (given) return;
        given = true;
        give(group, entry);
      };
      try {
        const connection = await abortable(entry.ready, signal);
        return {
          connection,
          release,
          channelRefused: () => {
            const others = given ? entry.active : entry.active - 1;
            group.channels = Math.max(1, Math.min(group.channels, others));
          },
        };
      } catch (error) {
        release();
        throw error;
      }
    },
    async close() {
      closed = true;
      const entries = [...groups.values()].flatMap((group) => {
        wake(group);
        return group.entries;
      });
      await Promise.all(
        entries.map(async (entry) => {
          clearTimeout(entry.idle);
          entry.abort.abort(new ToolError('cancelled', 'The server is stopping.'));
          entry.connection?.end();
          await entry.connection?.closed;
        }),
      );
      groups.clear();
    },
  };
}

function nothingFree(target: Target, waitMs: number): ToolError {
  const message = `No channel to ${target.device} came free within ${waitMs / 1000} s; the command was not started.`;
  return new ToolError('timeout', message, {
    hint: 'Many commands run there at once: wait for some to end, or cancel jobs (job "list" shows them).',
  });
}
