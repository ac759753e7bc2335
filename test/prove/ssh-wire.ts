import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';

import ssh2 from 'ssh2';

/** A wire to a device that can be cut. */
export interface Wire {
  port: number;
  /** Connections so far. */
  connections(): number;
  /** Breaks every connection there is: with a reset, a plain end, a flipped bit, or by passing on nothing more. */
  cut(how: Cut): void;
  close(): Promise<void>;
}

export type Cut = 'reset' | 'end' | 'corrupt' | 'silence';

export async function wireTo(host: string, port: number): Promise<Wire> {
  const pairs = new Set<{ near: Socket; far: Socket; state: 'open' | 'corrupt' | 'silence' }>();
  let connections = 0;
  const server = createServer((near) => {
    connections += 1;
    const pair = { near, far: connect(port, host), state: 'open' as 'open' | 'corrupt' | 'silence' };
    pairs.add(pair);
    near.on('data', (chunk) => void (pair.state === 'silence' || pair.far.write(chunk)));
    pair.far.on('data', (chunk) => {
      if (pair.state === 'silence') return;
      if (pair.state === 'corrupt') chunk.writeUInt8(chunk.readUInt8(chunk.length - 1) ^ 1, chunk.length - 1);
      near.write(chunk);
    });
    for (const [one, other] of [
      [near, pair.far],
      [pair.far, near],
    ] as const) {
      one.on('error', () => {});
      one.on('close', () => {
        pairs.delete(pair);
        other.destroy();
      });
    }
  });
  await listening(server, '127.0.0.1', 0);
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    cut(how) {
      for (const pair of pairs) {
        if (how === 'reset') pair.near.resetAndDestroy();
        else if (how === 'end') pair.near.end();
        else pair.state = how;
      }
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const { near, far } of pairs) for (const each of [near, far]) each.destroy();
      }),
  };
}

/** A device that lets anyone in and writes down what it is asked. */
export interface Stranger {
  port: number;
  /** Key exchanges begun, attempts to log in, and commands it was sent. */
  seen: { connections: number; logins: number; commands: string[] };
  close(): Promise<void>;
}

/** @param hostKeys private keys, one or more; each is offered under its own type */
export async function stranger(
  hostKeys: readonly string[],
  address = '127.0.0.1',
  port = 0,
): Promise<Stranger> {
  const seen = { connections: 0, logins: 0, commands: [] as string[] };
  const clients = new Set<{ end(): unknown }>();
  const server = new ssh2.Server({ hostKeys: [...hostKeys] }, (client) => {
    seen.connections += 1;
    clients.add(client);
    client.on('error', () => {});
    client.on('authentication', (attempt) => {
      seen.logins += 1;
      attempt.accept();
    });
    client.on('session', (accept) => {
      accept().on('exec', (begin, _refuse, { command }) => {
        seen.commands.push(command);
        const channel = begin();
        channel.exit(0);
        channel.end();
      });
    });
  });
  await listening(server as unknown as Server, address, port);
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const client of clients) client.end();
      }),
  };
}

function listening(server: Server, address: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, () => resolve());
  });
}
