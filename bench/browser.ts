/**
 * The browser tool beside the command-line tool that it drives, called by hand, and beside Microsoft's server: all on
 * one Chromium, the appliance's own behind its proxy, and one page. The product is asked as its users ask it, over HTTP
 * through the whole gate, with its audit log on.
 */
import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

import { type Lab, startLab } from '../test/support/browser-lab.ts';
import { type Bench, median } from './lib/bench.ts';

const ROUNDS = 15;
/** An assistant thinks between two calls, so calls stand apart here, too. */
const APART_MS = 100;
const PAGE = 'http://pages/form';
const ACTIONS = ['open', 'snapshot', 'click', 'fill', 'screenshot'] as const;
const HAND = 'agent-browser by hand';
const OWN = 'remote-tool-server';
const PEER = '@playwright/mcp 0.0.83';

type Action = (typeof ACTIONS)[number];
/** Does an action and resolves with the milliseconds it took. */
type Driver = (action: Action, round: number) => Promise<number>;

export const bench: Bench = {
  name: 'browser',
  title: 'The browser tool beside the command-line tool it drives, and another server',
  peers: true,
  async run(report) {
    for (const script of ['deploy/lib/ensure-engine.sh', 'deploy/lib/ensure-images.sh']) {
      execFileSync(script, { stdio: ['ignore', 'ignore', 'inherit'] });
    }
    const lab = await startLab({ build: true });
    const ends: (() => Promise<void>)[] = [() => lab.stop()];
    try {
      const hand = await byHand(lab);
      ends.unshift(hand.stop);
      const peer = await byPeer(lab);
      ends.unshift(peer.stop);
      const drivers: [string, Driver][] = [
        [HAND, hand.drive],
        [OWN, byProduct(lab)],
        [PEER, peer.drive],
      ];
      const samples = new Map<string, number[]>();
      // The first two rounds warm up.
      for (let round = -2; round < ROUNDS; round++) {
        for (const action of ACTIONS) {
          for (const [name, drive] of drivers) {
            await wait(APART_MS);
            const milliseconds = await drive(action, round);
            if (round < 0) continue;
            const key = `${action} ${name}`;
            samples.set(key, [...(samples.get(key) ?? []), milliseconds]);
          }
        }
      }
      for (const action of ACTIONS) {
        const of = (name: string) => samples.get(`${action} ${name}`) ?? [];
        report.lowerIsBetter(action);
        for (const [name] of drivers) report.figure(action, name, 'ms', of(name));
        if (action === 'open') continue;
        const own = median(of(OWN));
        report.target(
          `browser ${action}, over the command-line tool by hand`,
          own / median(of(HAND)),
          'at most',
          1.3,
        );
        report.target(`browser ${action}, over @playwright/mcp`, own / median(of(PEER)), 'at most', 0.5);
      }
      report.note('Calls are 100 ms apart and alternate: by hand, this server, the other server.');
      report.note(
        'By hand is the same native program, in the server’s container, with the same commands on its standard input.',
      );
    } finally {
      for (const end of ends) await end();
    }
  },
};

function byProduct(lab: Lab): Driver {
  const argumentsOf = (action: Action, round: number) => ({
    action,
    ...(action === 'open' && { url: PAGE }),
    ...((action === 'click' || action === 'fill') && { ref: '#name' }),
    ...(action === 'fill' && { value: `round ${round}` }),
  });
  return async (action, round) => {
    const started = performance.now();
    await lab.value(argumentsOf(action, round));
    return performance.now() - started;
  };
}

/** Runs beside the server: reads commands, one array a line, and answers with the milliseconds they took. */
const HAND_SCRIPT = `
const { spawn } = require('node:child_process');
const { mkdtempSync, mkdirSync, readFileSync } = require('node:fs');
const root = mkdtempSync('/tmp/hand-');
mkdirSync(root + '/run');
const env = { PATH: process.env.PATH, HOME: root, AGENT_BROWSER_SOCKET_DIR: root + '/run', AGENT_BROWSER_CDP: process.argv[1],
  AGENT_BROWSER_IDLE_TIMEOUT_MS: '60000', AGENT_BROWSER_PIN_TAB: '1', AGENT_BROWSER_NO_AUTO_DIALOG: '1',
  AGENT_BROWSER_NO_WEBMCP: '1', AGENT_BROWSER_NO_VERSION_CHECK: '1' };
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const commands = JSON.parse(line).map((command) => command.map((part) => part.replace('ROOT', root)));
  const started = performance.now();
  const child = spawn('agent-browser', ['--session', 'hand', '--json', 'batch', '--bail', '--omit-command'], { env });
  let answer = '';
  child.stdout.on('data', (chunk) => (answer += chunk));
  child.on('close', () => {
    if (commands[0][0] === 'screenshot') readFileSync(root + '/shot.png');
    const milliseconds = performance.now() - started;
    console.log(JSON.stringify({ milliseconds, failed: JSON.parse(answer).find?.(({ success }) => !success)?.error }));
  });
  child.stdin.end(JSON.stringify(commands));
});`;

async function byHand(lab: Lab): Promise<{ drive: Driver; stop: () => Promise<void> }> {
  const cdp = `http://${await lab.address('chromium', 'browser')}:9222`;
  const args = ['exec', '-i', '--user', '10001', lab.container('server'), 'node', '-e', HAND_SCRIPT, cdp];
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn('docker', args, {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const run = async (commands: readonly (readonly string[])[]): Promise<number> => {
    child.stdin.write(`${JSON.stringify(commands)}\n`);
    const { value } = await answers.next();
    const { milliseconds, failed } = JSON.parse(String(value)) as { milliseconds: number; failed?: string };
    if (failed !== undefined) throw new Error(`by hand: ${failed}`);
    return milliseconds;
  };
  await run([['window', 'new']]);
  await run([['set', 'viewport', '1280', '800']]);
  return {
    drive: (action, round) => {
      if (action === 'open') return run([['open', PAGE]]);
      if (action === 'click') return run([['click', '#name']]);
      if (action === 'fill') return run([['fill', '#name', `round ${round}`]]);
      return run([action === 'screenshot' ? ['screenshot', 'ROOT/shot.png'] : ['snapshot']]);
    },
    async stop() {
      await run([['tab', 'close'], ['close']]);
      child.stdin.end();
    },
  };
}

async function byPeer(lab: Lab): Promise<{ drive: Driver; stop: () => Promise<void> }> {
  // It keeps a file of each snapshot.
  const output = mkdtempSync(join(tmpdir(), 'bench-browser-'));
  const cdp = `http://${await lab.address('chromium', 'browser')}:9222`;
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [
      'bench/peers/node_modules/@playwright/mcp/cli.js',
      ...['--cdp-endpoint', cdp],
      ...['--viewport-size', '1280x800'],
      '--isolated',
      ...['--output-dir', output],
    ],
    stderr: 'ignore',
  });
  const client = new Client({ name: 'bench', version: '0.0.0' });
  await client.connect(transport);
  const calls: Record<Action, (round: number) => { name: string; arguments: Record<string, unknown> }> = {
    open: () => ({ name: 'browser_navigate', arguments: { url: PAGE } }),
    snapshot: () => ({ name: 'browser_snapshot', arguments: {} }),
    click: () => ({ name: 'browser_click', arguments: { element: 'name', target: '#name' } }),
    fill: (round) => ({
      name: 'browser_type',
      arguments: { element: 'name', target: '#name', text: `round ${round}` },
    }),
    screenshot: () => ({ name: 'browser_take_screenshot', arguments: { type: 'png' } }),
  };
  return {
    async drive(action, round) {
      const started = performance.now();
      const result = await client.callTool(calls[action](round));
      const milliseconds = performance.now() - started;
      if (result.isError === true)
        throw new Error(`${PEER}: ${JSON.stringify(result.content).slice(0, 500)}`);
      return milliseconds;
    },
    async stop() {
      await client.close();
      rmSync(output, { recursive: true, force: true });
    },
  };
}
