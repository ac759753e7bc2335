import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';

/** A name server on a loopback port, and a resolver that asks it and nobody else. */
export interface NameServer {
  /** All IPv4 and IPv6 addresses of a name, as one look-up gives them. */
  resolve(name: string): Promise<string[]>;
  /** How many look-ups of that name there were. */
  lookups(name: string): number;
  close(): Promise<void>;
}

const TYPE_A = 1;
const TYPE_AAAA = 28;

/**
 * @param addressesOf the addresses of a name at its nth look-up, from 0 on; each answer has a time to live of 0
 */
export async function openNameServer(
  addressesOf: (name: string, time: number) => readonly string[],
): Promise<NameServer> {
  const asked = new Map<string, number>();
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = questionOf(query);
    const key = `${type} ${name}`;
    const time = asked.get(key) ?? 0;
    asked.set(key, time + 1);
    const found = addressesOf(name, time).filter((each) => each.includes(':') === (type === TYPE_AAAA));
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x8580, 2);
    header.writeUInt16BE(found.length, 6);
    header.fill(0, 8);
    // A pointer to the name asked for, its type, class IN, time to live 0, length, address.
    const answers = found.map((each) => {
      const bytes = bytesOf(each);
      return Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length, ...bytes]);
    });
    socket.send(Buffer.concat([header, query.subarray(12, end), ...answers]), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const resolver = new Resolver();
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return {
    async resolve(name) {
      const lists = await Promise.all([
        resolver.resolve4(name).catch(() => []),
        resolver.resolve6(name).catch(() => []),
      ]);
      return lists.flat();
    },
    lookups: (name) => asked.get(`${TYPE_A} ${name}`) ?? 0,
    close: () => new Promise((resolve) => socket.close(resolve)),
  };
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** IPv6 in full only: eight groups. */
function bytesOf(address: string): number[] {
  if (!address.includes(':')) return address.split('.').map(Number);
  return address.split(':').flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}
