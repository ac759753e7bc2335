import { execFile } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';

import { type Browser, chromium } from 'playwright-core';

import { freePort } from './server.ts';

const run = promisify(execFile);

export interface TestChromium {
  browser: Browser;
  close(): Promise<void>;
}

/**
 * The project's own Chromium, sandboxed as in the appliance, but on this machine's network and without the proxy:
 * that one forbids it the server, and rightly so.
 * @param authority PEM of a certificate authority to trust besides the public ones
 */
export async function startChromium(authority?: string): Promise<TestChromium> {
  const port = await freePort();
  const { stdout } = await run('docker', [
    ...['run', '--detach', '--rm', '--init', '--network', 'host', '--shm-size', '256m'],
    ...['--cap-drop', 'ALL', '--security-opt', 'no-new-privileges:true'],
    ...['--security-opt', 'seccomp=deploy/chromium-seccomp.json'],
    ...['--entrypoint', '/usr/lib/chromium/chromium-headless-shell', 'remote-tool-server/chromium:0.1.0'],
    ...[
      `--remote-debugging-port=${port}`,
      '--user-data-dir=/tmp/profile',
      '--no-first-run',
      '--disable-gpu',
      '--hide-scrollbars',
    ],
    ...(authority === undefined ? [] : [`--ignore-certificate-errors-spki-list=${keyDigest(authority)}`]),
  ]);
  const id = stdout.trim();
  const remove = () => run('docker', ['rm', '--force', id]);
  try {
    const browser = await connect(`http://127.0.0.1:${port}`);
    return {
      browser,
      async close() {
        await browser.close();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
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
