import { execFile } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Server } from 'node:net';
import { pipeline } from 'node:stream';
import { promisify } from 'node:util';

import { type Browser, chromium } from 'playwright-core';

const run = promisify(execFile);

export interface TestChromium {
  browser: Browser;
  /** Makes a port of this machine's loopback one of Chromium's too. */
  reach(address: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * The project's own Chromium, sandboxed as in the appliance, but without the filtering proxy: that one forbids it
 * the server, and rightly so. It has a network of its own, because on this machine's it would drop requests
 * (ERR_NETWORK_CHANGED) whenever a container comes or goes.
 * @param authority PEM of a certificate authority to trust besides the public ones
 */
export async function startChromium(authority?: string): Promise<TestChromium> {
  const id = await docker(
    ...['run', '--detach', '--rm', '--init', '--shm-size', '256m', '--publish', '127.0.0.1::9222'],
    ...['--cap-drop', 'ALL', '--security-opt', 'no-new-privileges:true'],
    ...[
      '--security-opt',
      'seccomp=deploy/chromium-seccomp.json',
      '--env',
      'EGRESS_PROXY=direct://',
      'remote-tool-server/chromium:0.1.0',
    ],
    ...['--host-resolver-rules=', '--hide-scrollbars'],
    ...(authority === undefined ? [] : [`--ignore-certificate-errors-spki-list=${keyDigest(authority)}`]),
  );
  const relays: Server[] = [];
  const end = async () => {
    for (const relay of relays) relay.close();
    await docker('rm', '--force', id);
  };
  try {
    const [address] = (await docker('port', id, '9222/tcp')).split('\n');
    const gateway = await docker('inspect', '--format', '{{.NetworkSettings.Gateway}}', id);
    const browser = await connect(`http://${address}`);
    return {
      browser,
      async reach(target) {
        const { port } = new URL(target);
        const relay = await relayTo(Number(port), gateway);
        relays.push(relay);
        const { port: there } = relay.address() as AddressInfo;
        const listen = `TCP-LISTEN:${port},bind=127.0.0.1,fork,reuseaddr`;
        await docker('exec', '--detach', id, 'socat', listen, `TCP:${gateway}:${there}`);
      },
      async close() {
        await browser.close();
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

async function docker(...args: string[]): Promise<string> {
  return (await run('docker', args)).stdout.trim();
}

/** Listens where containers reach it, and passes on to a port of the loopback. */
async function relayTo(port: number, gateway: string): Promise<Server> {
  const relay = createServer((incoming) => {
    const outgoing = createConnection(port, '127.0.0.1');
    // Either side may hang up at any time; the other one then hears of it.
    pipeline(incoming, outgoing, incoming, () => {});
  });
  relay.listen(0, gateway);
  await once(relay, 'listening');
  return relay;
}

async function connect(address: string): Promise<Browser> {
  for (let tries = 0; ; tries += 1) {
    try {
      await fetch(`${address}/json/version`);
      return await chromium.connectOverCDP(address);
    } catch (error) {
      if (tries === 150) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** What Chromium knows a key by. */
function keyDigest(pem: string): string {
  const key = new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(key).digest('base64');
}
