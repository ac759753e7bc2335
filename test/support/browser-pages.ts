/**
 * The site that the browser's container tests open, served from a container of its own. It notes each request by the
 * name it came for, so that a test can tell whether a page reached what it must not.
 */
import { createSocket } from 'node:dgram';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';

import { BOMBS, answerBomb } from './browser-bombs.ts';
import { HOSTILE } from './browser-hostile.ts';

const hits: string[] = [];

type Page = (response: ServerResponse, url: URL, request: IncomingMessage) => void;

const html =
  (body: string, title = 'Page', status = 200): Page =>
  (response) => {
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' });
    response.end(`<!doctype html><title>${title}</title>${body}`);
  };

const PAGES: Record<string, Page> = {
  '/': html('<h1>Welcome</h1><p>A paragraph with <b>bold</b> text.</p><a href="/second">Second</a>', 'Home'),
  '/second': html('<p>The second page</p>', 'Second'),
  '/form': html(
    `<form action="/sent"><label>Name <input name="name" id="name"></label>
     <label>Colour <select id="colour"><option value="r">Red</option><option value="g">Green</option></select></label>
     <button onmouseover="document.title = 'hovered'">Send</button></form>
     <div style="height:3000px"></div><p id="keys"></p>
     <script>addEventListener('keydown', (e) => { document.querySelector('#keys').textContent += e.key + ' ' })</script>`,
    'Form',
  ),
  '/note': html('<textarea id="name"></textarea>', 'Note'),
  '/sent': (response, url, request) =>
    html(`<p id="got">${url.searchParams.get('name')}</p>`, 'Sent')(response, url, request),
  '/late': html(`<script>setTimeout(() => { document.body.append('It has arrived') }, 700)</script>`, 'Late'),
  '/invisible': html('<p>ab\u{E0041}\u200Bcd</p>', 'in\u200Bvisible'),
  '/long-text': html(`<p>${'word '.repeat(20_000)}</p>`, 'Long text'),
  '/tall': html('<div style="height:9000px;background:linear-gradient(red,blue)">tall</div>', 'Tall'),
  '/noise': html(
    `<canvas width="1280" height="780"></canvas><script>const c = document.querySelector('canvas').getContext('2d');
     const d = c.createImageData(1280, 780); for (let i = 0; i < d.data.length; i++) d.data[i] = Math.random() * 255;
     c.putImageData(d, 0, 0)</script>`,
    'Noise',
  ),
  '/console': html(
    `<script>console.log('hello', { a: 1 }); console.error('bad'); setTimeout(() => { throw new Error('boom') })</script>`,
    'Console',
  ),
  '/missing': html('<p>nothing here</p>', 'Missing', 404),
  '/dialogs': html(
    `<button id="alert" onclick="alert('be warned'); document.title = 'after alert'">A</button>
     <button id="confirm" onclick="document.title = 'confirmed: ' + confirm('really?')">C</button>
     <button id="prompt" onclick="document.title = 'named: ' + prompt('your name?')">P</button>`,
    'Dialogs',
  ),
  '/confirm-at-once': html(`<script>document.title = 'answered: ' + confirm('at once?')</script>`, 'At once'),
  '/unload': html(`<input id="i"><script>onbeforeunload = (e) => { e.preventDefault() }</script>`, 'Unload'),
  '/opener': html(`<a id="new" href="/second" target="_blank">new tab</a>`, 'Opener'),
  '/closer': html(`<button onclick="window.close()">close me</button>`, 'Closer'),
  '/spin': html(`<button id="b" onclick="for (;;);">spin</button>`, 'Spin'),
  '/spin-at-once': html(`<script>for (;;);</script>`, 'Spin'),
  '/never': () => {},
  '/download': (response) => {
    response.writeHead(200, {
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment; filename=report.bin',
    });
    response.end('data');
  },
  '/download-link': html('<a id="d" href="/download">get it</a>', 'Download link'),
  '/cookie': (response, url, request) => {
    const set = url.searchParams.get('set');
    if (set !== null) response.setHeader('set-cookie', `who=${set}; path=/`);
    html(`<p>${request.headers.cookie ?? 'no cookie'}</p>`, 'Cookie')(response, url, request);
  },
  '/to': (response, url) => {
    response.writeHead(302, { location: asHeader(url.searchParams.get('url') ?? '/') });
    response.end();
  },
  '/hostile': (response, url, request) =>
    html(
      HOSTILE(JSON.parse(url.searchParams.get('targets') ?? '[]') as string[], url.searchParams.has('gated')),
      'Hostile',
    )(response, url, request),
  '/gate': (response) => {
    gate.push(() => response.end());
  },
  '/gate/open': (response) => {
    for (const pass of gate) pass();
    response.end(String(gate.length));
    gate = [];
  },
  '/report': html('noted'),
  '/connections': (response) => response.end(JSON.stringify(connections)),
  '/meta-to': (response, url, request) =>
    html(`<meta http-equiv="refresh" content="0;url=${url.searchParams.get('url')}">`)(
      response,
      url,
      request,
    ),
  '/script-to': (response, url, request) =>
    html(`<script>location = ${JSON.stringify(url.searchParams.get('url'))}</script>`)(
      response,
      url,
      request,
    ),
  '/form-to': (response, url, request) =>
    html(
      `<form method="post" action="${url.searchParams.get('url')}"></form><script>document.forms[0].submit()</script>`,
    )(response, url, request),
  '/refresh-to': (response, url, request) => {
    response.setHeader('refresh', asHeader(`0;url=${url.searchParams.get('url')}`));
    html('on the way')(response, url, request);
  },
  '/link-to': (response, url, request) =>
    html(`<a href="${url.searchParams.get('url')}">go</a>`, 'Link')(response, url, request),
  '/hits': (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(hits));
  },
};

/** Any text as the bytes of a header. */
const asHeader = (text: string) => Buffer.from(text.replaceAll(/[\r\n\0]/g, '')).toString('latin1');

/** Let through all at once, so that a test may look around before a hostile page begins. */
let gate: (() => void)[] = [];
/** Connections to the site's port by the address they came from. */
const connections: Record<string, number> = {};

createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://pages');
  hits.push(`http ${request.headers.host} ${request.url}`);
  const bomb = url.pathname.replace('/bomb/', '');
  if (url.pathname !== bomb && answerBomb(bomb, response)) return;
  const page = BOMBS[bomb] === undefined ? PAGES[url.pathname] : html(BOMBS[bomb], bomb);
  if (page) page(response, url, request);
  else html('<p>no such page</p>', 'Not found', 404)(response, url, request);
})
  .on('upgrade', (request, socket) => {
    hits.push(`upgrade ${request.headers.host}`);
    socket.end();
  })
  .on('connection', ({ remoteAddress = '' }) => {
    const from = remoteAddress.replace('::ffff:', '');
    connections[from] = (connections[from] ?? 0) + 1;
  })
  .listen(80);
createSocket('udp4')
  .on('message', () => hits.push('udp hidden'))
  .bind(3478);
// Where a target of that name would listen: sshd, HTTPS, the server, TURN, an API, the debugging port.
for (const port of [22, 443, 3000, 3478, 8080, 9222]) {
  createTcpServer((socket) => {
    hits.push('tcp hidden');
    socket.on('error', () => {}).end();
  }).listen(port);
}

const PUBLIC = [93, 184, 216, 34];
const PRIVATE = String(process.env['SITE_ADDRESS']).split('.').map(Number);
const asked = new Map<string, number>();

/** both*.test has a public and a private address; flip*.test a public one first and a private one ever after. */
function addressesOf(name: string): number[][] {
  if (name.startsWith('both')) return [PUBLIC, PRIVATE];
  if (name.startsWith('private')) return [PRIVATE];
  if (!name.startsWith('flip')) return [];
  const times = asked.get(name) ?? 0;
  asked.set(name, times + 1);
  return [times === 0 ? PUBLIC : PRIVATE];
}

const dns = createSocket('udp4');
dns.on('message', (query, { port, address }) => {
  let end = 12;
  const labels: string[] = [];
  for (let length = query[end] ?? 0; length > 0; length = query[end] ?? 0) {
    labels.push(query.toString('latin1', end + 1, end + 1 + length));
    end += length + 1;
  }
  const isA = query.readUInt16BE(end + 1) === 1;
  const found = isA ? addressesOf(labels.join('.').toLowerCase()) : [];
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(0x8580, 2);
  header.writeUInt16BE(found.length, 6);
  header.fill(0, 8);
  // A pointer to the name asked for, type A, class IN, time to live 0, four bytes.
  const answers = found.map((bytes) => Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...bytes]));
  dns.send(Buffer.concat([header, query.subarray(12, end + 5), ...answers]), port, address);
});
dns.bind(53);
