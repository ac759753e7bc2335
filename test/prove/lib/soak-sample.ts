import { inside, secureFetch, stack } from '../../support/stack.ts';

/** What one container holds at a moment. */
export interface Holding {
  /** How many processes there are of each name, the engine's own checks left out. */
  processes: Record<string, number>;
  /** Resident memory of each of those processes, by its number, in MB of 1,000,000 bytes. */
  rss: ReadonlyMap<number, number>;
  /** What the engine counts against the container's memory limit, caches of files included, in MB. */
  cgroupMb: number;
  /** Open file descriptors of those processes that are not TCP sockets. */
  files: number;
  /** Open TCP sockets. */
  sockets: number;
  /** Those of them that are connected. */
  connections: number;
}

export interface Sample {
  /** Milliseconds of the epoch. */
  time: number;
  services: Record<string, Holding>;
  /** The server's own gauges: connections to devices, jobs and browser sessions. */
  gauges: Record<string, number>;
}

/** Each service's user; for a device, that of its logins. */
const SERVICES = {
  server: '10001',
  caddy: '10002',
  chromium: '10003',
  egress: '10004',
  'web-1': '1000',
  'db-1': '1000',
};
/** As /proc/net/tcp writes it. */
const ESTABLISHED = '01';
/** Open files and sockets are read one after the other, and a health check's connection is among the sockets. */
const SCATTER = 2;
const GAUGES = ['ssh_connections', 'ssh_commands_unfinished', 'jobs_running', 'browser_sessions'];

// Needs no tool but sh, ls, wc and cat: the images have little more.
const SCRIPT = `
for d in /proc/[0-9]*; do
  [ "$d" = "/proc/$$" ] && continue
  name= parent= rss=0
  while read -r key value _; do
    case $key in Name:) name=$value ;; PPid:) parent=$value ;; VmRSS:) rss=$value ;; esac
  done 2>/dev/null <"$d/status" || continue
  echo "process \${d#/proc/} $parent $rss $(ls "$d/fd" 2>/dev/null | wc -l) $name"
done
cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | while read -r _ _ _ state _ _ _ _ _ inode _; do
  [ "$state" = st ] || [ "$inode" = 0 ] || echo "tcp $state"
done
echo "cgroup $(cat /sys/fs/cgroup/memory.current /sys/fs/cgroup/memory/memory.usage_in_bytes 2>/dev/null)"
`;

/** What every container of the stack holds now. */
export async function sample(): Promise<Sample> {
  const looks = Object.entries(SERVICES).map(async ([service, user]) => {
    // A process that gave up root shows its open files to root alone, and any other only to its own user.
    const texts = await Promise.all([inside(service, SCRIPT), inside(service, SCRIPT, user)]);
    return [service, parse(...texts)] as const;
  });
  const services: Record<string, Holding> = Object.fromEntries(await Promise.all(looks));
  return { time: Date.now(), services, gauges: await gauges() };
}

async function gauges(): Promise<Record<string, number>> {
  const response = await secureFetch(`${stack.base}/metrics?token=${stack.secret}`);
  const text = await response.text();
  return Object.fromEntries(
    GAUGES.map((name) => [
      name,
      Number(new RegExp(`^remote_tool_server_${name} (.+)$`, 'm').exec(text)?.[1]),
    ]),
  );
}

function parse(...texts: string[]): Holding {
  const lines = texts.map((text) =>
    text
      .trim()
      .split('\n')
      .map((line) => line.split(' ')),
  );
  const found = new Map<number, { parent: number; rss: number; files: number; name: string }>();
  for (const [kind, pid, parent, rss, files, ...name] of lines.flat()) {
    if (kind !== 'process') continue;
    const seen = Math.max(Number(files), found.get(Number(pid))?.files ?? 0);
    const entry = { parent: Number(parent), rss: Number(rss), files: seen, name: name.join(' ') };
    found.set(Number(pid), entry);
  }
  /** Health checks and this very look come into the container from outside: their tree has another root than 1. */
  const isOwn = (pid: number): boolean => {
    const parent = found.get(pid)?.parent ?? 0;
    return pid === 1 || (parent !== 0 && isOwn(parent));
  };
  const own = [...found].filter(([pid]) => isOwn(pid));
  const processes: Record<string, number> = {};
  for (const [, { name }] of own) processes[name] = (processes[name] ?? 0) + 1;
  const [first = []] = lines;
  const sockets = first.filter(([kind]) => kind === 'tcp');
  return {
    processes,
    rss: new Map(own.map(([pid, { rss }]) => [pid, (rss * 1024) / 1e6])),
    cgroupMb: Number(first.find(([kind]) => kind === 'cgroup')?.[1]) / 1e6,
    files: own.reduce((total, [, { files }]) => total + files, 0) - sockets.length,
    sockets: sockets.length,
    connections: sockets.filter(([, state]) => state === ESTABLISHED).length,
  };
}

/**
 * Resident memory of a service's processes that were there at the start, in MB: it would creep where memory leaks,
 * while that of a page's or a session's process comes and goes.
 */
export function lastingRss(service: string, start: Sample, now: Sample): number {
  const pids = [...(start.services[service]?.rss.keys() ?? [])];
  return pids.reduce((sum, pid) => sum + (now.services[service]?.rss.get(pid) ?? 0), 0);
}

/**
 * What `now` holds beyond `start`, one text each.
 * @param sockets whether sockets count: connections that are kept for a while make them differ at first
 */
export function leaks(start: Sample, now: Sample, sockets: boolean): string[] {
  const found: string[] = [];
  const compare = (what: string, before: number, after: number, scatter = 0) => {
    if (after > before + scatter) found.push(`${what}: ${after}, at the start ${before}`);
  };
  for (const [service, { processes, files, sockets: open }] of Object.entries(now.services)) {
    const before = start.services[service];
    for (const [name, count] of Object.entries(processes)) {
      compare(`${service}: processes ${name}`, before?.processes[name] ?? 0, count);
    }
    compare(`${service}: open files`, before?.files ?? 0, files, SCATTER);
    if (sockets) compare(`${service}: sockets`, before?.sockets ?? 0, open, SCATTER);
  }
  for (const name of GAUGES) compare(name, start.gauges[name] ?? 0, now.gauges[name] ?? 0);
  return found;
}

/** A straight line through points by least squares, its slope with its standard error. */
export function slope(points: readonly (readonly [x: number, y: number])[]): {
  slope: number;
  error: number;
} {
  const n = points.length;
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / n;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / n;
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  const steep = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread;
  const rest = points.reduce((sum, [x, y]) => sum + (y - meanY - steep * (x - meanX)) ** 2, 0);
  return { slope: steep, error: Math.sqrt(rest / (n - 2) / spread) };
}
