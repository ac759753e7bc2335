/**
 * ssh_exec beside what it is made of and what else there is: OpenSSH with ControlMaster, bare ssh2, and two other
 * servers, all against the same sshd's in containers of the demo's device. The server is asked as its users ask it,
 * over HTTP through the whole gate, with its audit log on.
 */
import { type Bench, type Report, median } from './lib/bench.ts';
import { type Devices, startDevices } from './ssh/devices.ts';
import { type OpenSsh, raw, startOpenSsh } from './ssh/openssh.ts';
import { startPeers } from './ssh/peers.ts';
import { type Product, startProduct } from './ssh/product.ts';

const DEVICES = 8;
const OTHERS = [1, 2, 3, 4, 5, 6, 7];
const ROUNDS = 5;
const CALLS = 100;
const PEER_CALLS = 20;
const POOL_ROUNDS = 3;
const POOL_MS = 3_000;
const CALLERS = 64;
const GIGABYTE = 1024 ** 3;
const OWN = 'remote-tool-server';

const WARM = 'A command on an open connection (`true`)';
const FIRST = 'First command on a device, login included';
const RATE = '64 callers on 8 devices';
const BULK = 'One gigabyte of output';
const MEMORY = 'Memory while a gigabyte of output goes by';

export const bench: Bench = {
  name: 'ssh',
  title: 'ssh_exec beside OpenSSH, ssh2 and other servers',
  peers: true,
  async run(report) {
    for (const series of [WARM, FIRST, MEMORY]) report.lowerIsBetter(series);
    const devices = await startDevices(DEVICES, (text) => report.say(text));
    try {
      const openSsh = startOpenSsh(devices);
      await warm(report, devices, openSsh);
      await first(report, devices, openSsh);
      const product = await startProduct(devices);
      try {
        await product.exec(0, 'true');
        await bulk(report, devices, openSsh, product);
        await many(report, devices, product);
      } finally {
        await product.stop();
      }
    } finally {
      devices.stop();
    }
    report.note(
      'ssh is OpenSSH’s client of the same release as the devices’ sshd, in a container on the host’s network.',
    );
    report.note(
      'ssh2 is the library alone, with TCP_NODELAY; every other line includes a server’s own work.',
    );
    report.note(
      'remote-tool-server answers over HTTP with its audit log flushed to disk; the other servers over stdio.',
    );
  },
};

async function warm(report: Report, devices: Devices, openSsh: OpenSsh): Promise<void> {
  const samples = new Map<string, number[]>();
  const add = (label: string, times: readonly number[]) =>
    samples.set(label, [...(samples.get(label) ?? []), median(times)]);
  const product = await startProduct(devices);
  const peers = await startPeers(devices.addresses[0] ?? '', devices.directory);
  try {
    await product.load([0], 1, 'true', { requests: CALLS });
    for (const peer of peers) await peer.exec();
    for (let round = 1; round <= ROUNDS; round += 1) {
      report.say(`warm calls, round ${round}`);
      for (const { p50 } of await product.load([0], 1, 'true', { requests: CALLS })) add(OWN, [p50]);
      add('ssh over ControlMaster', openSsh.warm(0, CALLS));
      add('ssh2', raw(devices, 'warm', devices.addresses[0] ?? '', CALLS));
      for (const peer of peers) {
        const times: number[] = [];
        for (let call = 0; call < PEER_CALLS; call += 1) times.push(await timed(() => peer.exec()));
        add(peer.name, times);
      }
    }
  } finally {
    await Promise.all([product.stop(), ...peers.map((peer) => peer.close())]);
  }
  const at = new Map([...samples].map(([label, each]) => [label, report.figure(WARM, label, 'ms', each)]));
  const ratio = (label: string) => (at.get(OWN) ?? Number.NaN) / (at.get(label) ?? Number.NaN);
  report.target('A warm call, of `ssh` over ControlMaster', ratio('ssh over ControlMaster'), 'at most', 1);
  for (const { name } of peers) report.target(`A warm call, of ${name}`, ratio(name), 'at most', 0.2);
}

/** A server that runs already, and devices that it has not called yet. */
async function first(report: Report, devices: Devices, openSsh: OpenSsh): Promise<void> {
  const own: number[] = [];
  const fresh: number[] = [];
  for (let round = 1; round <= 3; round += 1) {
    report.say(`first calls, round ${round}`);
    const product = await startProduct(devices);
    try {
      await product.exec(0, 'true');
      const times: number[] = [];
      for (const device of OTHERS) times.push(await timed(() => product.exec(device, 'true')));
      own.push(median(times));
    } finally {
      await product.stop();
    }
    fresh.push(median(openSsh.fresh(OTHERS)));
  }
  const ownTime = report.figure(FIRST, OWN, 'ms', own);
  const sshTime = report.figure(FIRST, 'ssh', 'ms', fresh);
  report.target('The first call to a device, of a fresh `ssh`', ownTime / sshTime, 'at most', 1.2);
}

async function bulk(report: Report, devices: Devices, openSsh: OpenSsh, product: Product): Promise<void> {
  const command = `head -c ${GIGABYTE} /dev/zero`;
  const rate = (ms: number) => GIGABYTE / 1e6 / (ms / 1_000);
  const own: number[] = [];
  const ssh: number[] = [];
  const library: number[] = [];
  await product.load([0], 1, 'true', { requests: 300 });
  const before = product.rss();
  const peaks: number[] = [];
  for (let round = 1; round <= 3; round += 1) {
    report.say(`a gigabyte of output, round ${round}`);
    const memory = peakOf(product);
    own.push(rate(await timed(() => product.exec(0, command))));
    peaks.push(memory.stop());
    ssh.push(rate(openSsh.one(0, command)));
    library.push(rate(median(raw(devices, 'bulk', GIGABYTE, devices.addresses[0] ?? ''))));
  }
  const ownRate = report.figure(BULK, OWN, 'MB/s', own);
  const sshRate = report.figure(BULK, 'ssh over ControlMaster', 'MB/s', ssh);
  report.figure(BULK, 'ssh2', 'MB/s', library);
  report.target('A gigabyte of output, of the speed of `ssh`', ownRate / sshRate, 'at least', 0.8);
  report.figure(MEMORY, 'before', 'MB', [before]);
  report.figure(MEMORY, 'at most', 'MB', peaks);
  report.target(
    'Memory for a gigabyte of output, at its peak',
    Math.max(...peaks) - before,
    'at most',
    32,
    'MB',
  );
}

async function many(report: Report, devices: Devices, product: Product): Promise<void> {
  const all = [0, ...OTHERS];
  const each = CALLERS / DEVICES;
  const own: number[] = [];
  const library: number[] = [];
  await product.load(all, each, 'true', { requests: 50 });
  for (let round = 1; round <= POOL_ROUNDS; round += 1) {
    report.say(`64 callers, round ${round}`);
    const rates = await product.load(all, each, 'true', { ms: POOL_MS });
    own.push(rates.reduce((sum, { rate }) => sum + rate, 0));
    library.push(...raw(devices, 'pool', POOL_MS, ...devices.addresses));
  }
  report.say('50 callers on one device');
  await product.load([0], 50, 'true', { requests: 500 });
  const { ok = 0, ...others } = await product.outcomes();
  const errors = Object.values(others).reduce((sum, count) => sum + count, 0);
  if (ok === 0) throw new Error('no call of ssh_exec was counted');
  const ownRate = report.figure(RATE, OWN, 'calls/s', own);
  const rawRate = report.figure(RATE, 'ssh2, a connection for each device', 'calls/s', library);
  report.target('64 callers on 8 devices, of bare ssh2', ownRate / rawRate, 'at least', 0.8);
  report.target('Errors of these calls, and of 50 callers on one device', errors, 'at most', 0, 'calls');
}

/** Looks at the memory until it is stopped. */
function peakOf(product: Product): { stop(): number } {
  let most = product.rss();
  const look = () => {
    most = Math.max(most, product.rss());
  };
  const timer = setInterval(look, 20);
  return {
    stop() {
      clearInterval(timer);
      look();
      return most;
    },
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}
