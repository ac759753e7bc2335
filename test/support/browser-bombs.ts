import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

const MIB = 1024 * 1024;
const page = (script: string) =>
  `<!doctype html><title>Bomb</title><body><p>here</p><script>${script}</script>`;

/** Pages that would use up whoever opens them, by what they use. */
export const BOMBS: Record<string, string> = {
  'huge-dom': page(`document.body.innerHTML = '<div><span>word</span></div>'.repeat(400_000)`),
  'deep-dom': page(
    `let at = document.body; for (let i = 0; i < 50_000; i++) at = at.appendChild(document.createElement('div'))`,
  ),
  'endless-script': page('for (;;);'),
  'endless-timers': page(
    'const go = () => { const end = Date.now() + 900; while (Date.now() < end); setTimeout(go) }; go()',
  ),
  'endless-promises': page('const go = () => Promise.resolve().then(go); go()'),
  reload: page('location.reload()'),
  'alerts-1000': page('for (let i = 0; i < 1000; i++) alert(i)'),
  'confirms-1000': page('for (let i = 0; i < 1000; i++) confirm(i)'),
  'prompts-1000': page('for (let i = 0; i < 1000; i++) prompt(i)'),
  beforeunload: page(
    `onbeforeunload = (e) => { e.preventDefault(); return 'stay' }; setInterval(() => { location = '/second?' + Math.random() }, 10)`,
  ),
  downloads: page(
    `for (let i = 0; i < 500; i++) { const a = document.createElement('a'); a.href = '/bomb/file?' + i; a.download = i; a.click() }`,
  ),
  'download-blobs': page(
    `const b = URL.createObjectURL(new Blob([new Uint8Array(64e6)])); for (let i = 0; i < 50; i++) { const a = document.createElement('a'); a.href = b; a.download = i; a.click() }`,
  ),
  memory: page('const all = []; for (;;) all.push(new Uint8Array(8e6).fill(1))'),
  'memory-strings': page(
    `let s = 'x'; const all = []; for (;;) { s = s.length > 1e8 ? 'x' : s + s; all.push(s + all.length) }`,
  ),
  popups: page(`for (let i = 0; i < 200; i++) open('/second?' + i); setInterval(() => open('/second'), 10)`),
  workers: page(
    `const u = URL.createObjectURL(new Blob(['for(;;);'])); for (let i = 0; i < 200; i++) new Worker(u)`,
  ),
  frames: page(
    `for (let i = 0; i < 2; i++) { const f = document.createElement('iframe'); f.src = '/bomb/frames?' + Math.random(); document.body.append(f) }`,
  ),
  'fullscreen-and-pointer-lock': page(
    `setInterval(() => { document.body.requestFullscreen().catch(() => {}); document.body.requestPointerLock() }, 1); navigator.keyboard?.lock?.()`,
  ),
  permissions: page(
    `setInterval(() => { Notification.requestPermission(); navigator.geolocation.getCurrentPosition(() => {}); navigator.mediaDevices?.getUserMedia({ audio: true, video: true }).catch(() => {}); navigator.requestMIDIAccess?.().catch(() => {}) }, 5)`,
  ),
  history: page(`for (;;) history.pushState(0, '', '?' + Math.random())`),
  'history-slowly': page(
    `setInterval(() => { for (let i = 0; i < 100; i++) history.pushState(0, '', '?' + i) }, 10); onpopstate = () => history.forward()`,
  ),
  print: page('for (let i = 0; i < 1000; i++) print(); setInterval(print, 1)'),
  title: page(`setInterval(() => { document.title = Math.random() + 'x'.repeat(1e6) }, 1)`),
  console: page(`setInterval(() => { for (let i = 0; i < 1000; i++) console.log('x'.repeat(1000)) }, 1)`),
  storage: page(
    `(async () => { const c = await (self.caches?.open('x')); for (let i = 0; ; i++) { try { localStorage[i] = 'x'.repeat(1e6) } catch {} await new Promise((done) => { const r = indexedDB.open('d' + i); r.onupgradeneeded = () => r.result.createObjectStore('s').put(new Uint8Array(2e7), 1); r.onsuccess = r.onerror = done }) } })()`,
  ),
  'self-navigation': page(`setInterval(() => { location = '/bomb/self-navigation?' + Math.random() }, 1)`),
};

/** A bomb that is a response rather than a script; false where there is none of that name. */
export function answerBomb(name: string, response: ServerResponse): boolean {
  const pump = (chunk: string | Buffer, most: number) => {
    let sent = 0;
    const go = () => {
      while (sent < most && !response.destroyed) {
        sent += chunk.length;
        if (!response.write(chunk)) return;
      }
      response.end();
    };
    response.on('drain', go);
    go();
  };
  switch (name) {
    case 'file':
    case 'huge-file':
      response.writeHead(200, {
        'content-type': 'application/octet-stream',
        'content-disposition': 'attachment',
      });
      pump(Buffer.alloc(MIB), name === 'file' ? MIB : 4096 * MIB);
      return true;
    case 'huge-html':
      response.writeHead(200, { 'content-type': 'text/html' });
      pump('<p>word word word word</p>'.repeat(10_000), 2048 * MIB);
      return true;
    case 'gzip':
      // 1 GiB of text within 1 MiB.
      response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' });
      pump(gzipSync('a'.repeat(16 * MIB)), MIB);
      return true;
    case 'redirects':
      response.writeHead(302, { location: '/bomb/redirects' });
      response.end();
      return true;
    case 'refresh':
      response.writeHead(200, { 'content-type': 'text/html', refresh: '0' });
      response.end('again');
      return true;
    default:
      return false;
  }
}
