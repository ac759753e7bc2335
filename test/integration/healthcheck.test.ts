import { execFile } from 'node:child_process';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';

import { afterEach, describe, expect, it } from 'vitest';

// A check that cannot fail keeps a broken server in front of its users, and nobody is told.

const server = createServer();
const check = (port: number) =>
  promisify(execFile)('bash', ['deploy/healthcheck/server-ok.sh'], {
    env: { PATH: process.env['PATH'], PORT: String(port), MCP_SECRET: 's3cret%s $HOME' },
  }).then(
    () => 'well',
    ({ code, stdout }: { code: number; stdout: string }) => `${code} ${stdout.trim()}`.trim(),
  );

async function answering(listener: RequestListener): Promise<number> {
  server.removeAllListeners('request').on('request', listener);
  if (!server.listening) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

afterEach(() => void server.close());

describe('the health check of the container', () => {
  it('asks for /health with the secret as it is, and takes the server’s word', async () => {
    const asked: unknown[] = [];
    const port = await answering(({ url, headers }, response) => {
      asked.push([url, headers.authorization]);
      response.end('{"status":"ok","timestamp":"2026-01-01T00:00:00.000Z","dry_run":false}');
    });
    expect(await check(port)).toBe('well');
    expect(asked).toEqual([['/health', 'Bearer s3cret%s $HOME']]);
  });

  it.each([
    [401, '{"error":"unauthorized"}', '1 HTTP/1.1 401 Unauthorized'],
    [503, '{"status":"ok"}', '1 HTTP/1.1 503 Service Unavailable'],
    [200, '<title>It works!</title>', '1 HTTP/1.1 200 OK'],
    [200, '{"status":"failing","note":"{\\"status\\":\\"ok\\""}', '1 HTTP/1.1 200 OK'],
  ])('fails on %i %s', async (status, body, said) => {
    const port = await answering((_, response) => {
      response.statusCode = status;
      response.end(body);
    });
    expect(await check(port)).toBe(said);
  });

  it('fails where nobody answers', async () => {
    const port = await answering(({ socket }) => socket.destroy());
    expect(await check(port)).toBe('1');
    await new Promise((resolve) => server.close(resolve));
    expect(await check(port)).toBe('1');
  });
});
