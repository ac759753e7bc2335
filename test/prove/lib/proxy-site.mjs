/**
 * With `serve`: answers on some ports of all its addresses and tells at /hits which of them were called. With `ask`:
 * reads `METHOD TARGET` lines from standard input, asks the proxy in PROXY for each, and prints a line of JSON each.
 */
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

const PORTS = [22, 25, 80, 443, 445, 1023, 1024, 3306, 6379, 8080, 9222];

function serve() {
  const hits = [];
  for (const port of PORTS) {
    createServer((request, response) => {
      if (request.url === '/hits') return response.end(JSON.stringify(hits));
      hits.push(`${request.socket.localAddress}:${port} ${request.headers.host}`);
      return response.end('reached');
    })
      .on('connect', (_, socket) => socket.end())
      .listen(port, '::');
  }
}

/** The status and, where the proxy itself answered, its name for the error. */
function ask(method, target) {
  return new Promise((resolve) => {
    const socket = connect(3128, process.env['PROXY']);
    let head = '';
    const host = method === 'CONNECT' ? target : target.replace(/^\w+:\/\//, '').replace(/\/.*$/, '');
    socket.setTimeout(20_000, () => socket.destroy());
    socket.on('connect', () => {
      socket.write(`${method} ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    });
    socket.on('data', (chunk) => {
      head += chunk.toString('latin1');
      if (head.includes('\r\n\r\n')) socket.destroy();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      const status = Number(/^HTTP\/1\.\d (\d{3})/.exec(head)?.[1] ?? 0);
      resolve({ method, target, status, error: /^X-Squid-Error: (\w+)/im.exec(head)?.[1] ?? '' });
    });
  });
}

if (process.argv[2] === 'serve') serve();
else {
  const lines = (await text(process.stdin)).split('\n').filter(Boolean).values();
  const worker = async () => {
    for (const line of lines) {
      const [method, target] = line.split(' ');
      process.stdout.write(`${JSON.stringify(await ask(method, target))}\n`);
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}
