import type { Socket } from 'node:net';

import { container, docker, inside, stack } from '../support/stack.ts';
import { until } from '../support/until.ts';
import { type Door, eachOf, exchange, statusesOf } from './lib/edge-doors.ts';
import { prove, tries, whole } from './row.ts';
import { SLOW_KINDS } from './vectors/edge-slow.ts';

const HEALTH = `GET /health?token=${stack.secret} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
/** Between two questions, so that asking is no load of its own. */
const PAUSE_MS = 100;
/** How long an answer may take before it counts as none. */
const PATIENCE_MS = 30_000;
/** What Caddy keeps for its next requests to the server, whoever asks. */
const KEPT_BY_CADDY = 32;

const SERVICES = { caddy: 'caddy', port: 'server' } as const;
/** Local ports as /proc/net/tcp has them: 443 and 3000. */
const PORTS = { caddy: '01BB', port: '0BB8' } as const;

/** MiB that the service's processes have in memory. */
async function memory(service: string): Promise<number> {
  const lines = (await docker('top', container(service), '-o', 'pid,rss')).trim().split('\n').slice(1);
  return Math.round(lines.reduce((sum, line) => sum + Number(line.trim().split(/\s+/)[1]), 0) / 1024);
}

/** Connections that the service has open at its door. */
async function connections(door: Door): Promise<number> {
  const command = `cat /proc/net/tcp /proc/net/tcp6 | grep -c ':${PORTS[door]} [0-9A-F]*:[0-9A-F]* 01' || true`;
  return Number(await inside(SERVICES[door], command));
}

/** Asks for /health on one fresh connection after the other, until told to stop. */
function watch(door: Door) {
  const times: number[] = [];
  const failures: string[] = [];
  const enough = new AbortController();
  const done = (async () => {
    while (!enough.signal.aborted) {
      const from = performance.now();
      const answer = await exchange(door, [Buffer.from(HEALTH)], { patience: PATIENCE_MS }).catch(
        (error: unknown) => String(error),
      );
      times.push(performance.now() - from);
      if (statusesOf(answer)[0] !== 200)
        failures.push(`${door}: /health got ${answer.slice(0, 60) || 'no answer'}`);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  })();
  return {
    async stop() {
      enough.abort();
      await done;
      times.sort((one, two) => one - two);
      const at = (share: number) => Math.round(times[Math.floor(share * (times.length - 1))] ?? 0);
      return { failures, figures: `health p50 ${at(0.5)} ms, p99 ${at(0.99)} ms of ${times.length}` };
    },
  };
}

/** Opens them all, keeps asking for /health, and waits until the last one has been let go. */
async function besiege(door: Door, count: number) {
  const kinds = SLOW_KINDS.filter(({ doors, soon }) => doors.includes(door) && (whole || soon));
  const [rss, before] = [await memory(SERVICES[door]), await connections(door)];
  const watcher = watch(door);
  const sockets = new Map<Socket, string>();
  const open = new Set<Socket>();
  const failures: string[] = [];
  let peak = 0;
  try {
    await eachOf(
      Array.from({ length: count }, (_, at) => at),
      20,
      async (at) => {
        const kind = kinds[at % kinds.length];
        const socket = await kind?.start(door);
        if (socket === undefined || kind === undefined) return;
        sockets.set(socket, kind.name);
        open.add(socket);
        // Our own half is closed at once when the other one is: the client is slow, not gone.
        socket
          .on('end', () => socket.end())
          .on('error', () => {})
          .on('close', () => open.delete(socket));
        socket.resume();
      },
    );
    peak = await memory(SERVICES[door]);
    await until('all are let go', async () => open.size === 0, whole ? 240 : 60).catch(() => {});
    const kept = [...open].map((socket) => sockets.get(socket));
    for (const name of new Set(kept)) {
      failures.push(`${door}, ${name}: ${kept.filter((each) => each === name).length} are held`);
    }
  } finally {
    for (const socket of open) socket.destroy();
  }
  const health = await watcher.stop();
  await until(
    'no connection is left',
    async () => (await connections(door)) <= before + KEPT_BY_CADDY,
    60,
  ).catch((error: unknown) => {
    failures.push(`${door}: ${String(error)}`);
  });
  const after = await memory(SERVICES[door]);
  return {
    tries: count,
    failures: [...failures, ...health.failures.slice(0, 5)],
    figures: `${health.figures}; RSS ${rss} → ${peak} → ${after} MiB`,
  };
}

prove('edge', 'Slow and idle clients of Caddy are let go, and all the while /health answers', () =>
  besiege('caddy', tries(1_000, 60)),
);

// From inside only. Its limits are longer than Caddy's, and waited for in the whole run alone.
if (whole) {
  prove(
    'edge',
    'Slow and idle clients at the server’s port are let go, and all the while /health answers',
    () => besiege('port', 1_000),
  );
}
