/** What a hostile page does to each target: every way in which a page can make a browser open a connection. */
export const HOSTILE = (targets: readonly string[], gated: boolean): string => `<body><script>
const reached = [];
const LIMIT = 3000;
const soon = (promise) => Promise.race([promise, new Promise((_, no) => setTimeout(no, LIMIT))]).catch(() => {});
const put = (name, attributes, parent = document.body) => new Promise((done) => {
  const element = document.createElement(name);
  Object.assign(element, attributes);
  element.onload = element.onerror = done;
  parent.append(element);
});
const frame = (source) => put('iframe', source);
const redirect = (url) => '/to?url=' + encodeURIComponent(url);
const socket = (url) => new Promise((done) => {
  const ws = new WebSocket(url);
  ws.onopen = () => { reached.push('websocket ' + url); done() };
  ws.onerror = done;
});
const ice = (host, urls) => new Promise((done) => {
  const peer = new RTCPeerConnection({ iceServers: urls.map((urls) => ({ urls, username: 'u', credential: 'c' })) });
  peer.createDataChannel('x');
  peer.onicecandidate = ({ candidate }) => {
    if (!candidate) { peer.close(); return done() }
    if (candidate.address && !candidate.address.endsWith('.local')) reached.push('candidate ' + candidate.candidate);
  };
  peer.createOffer().then((offer) => peer.setLocalDescription(offer));
  setTimeout(() => { peer.close(); done() }, LIMIT);
});
const script = (url) => 'fetch(' + JSON.stringify(url) + ',{mode:"no-cors"}).finally(()=>globalThis.postMessage&&postMessage(0))';
const blob = (text, type) => URL.createObjectURL(new Blob([text], { type }));
const within = (url) => '<script>' + script(url) + '<' + '/script><img src="' + url + '">';
const worker = (text) => new Promise((done) => {
  const w = new Worker(blob(text, 'text/javascript'));
  w.onmessage = w.onerror = () => { w.terminate(); done() };
});
const form = (url, method) => {
  const name = 'f' + Math.random();
  const loaded = put('iframe', { name });
  const element = document.createElement('form');
  Object.assign(element, { action: url, method, target: name });
  document.body.append(element);
  element.submit();
  return loaded;
};
const style = (text) => { const s = document.createElement('style'); s.textContent = text; document.head.append(s) };
const link = (rel, url, more = {}) => put('link', { rel, href: url, ...more }, document.head);
const WAYS = [
  (url) => fetch(url).then((answer) => { reached.push('fetch ' + url + ' ' + answer.status) }),
  (url) => fetch(url, { mode: 'no-cors', method: 'POST', body: 'x', credentials: 'include' }),
  (url) => fetch(url, { mode: 'no-cors', keepalive: true }),
  (url) => fetch(redirect(url), { mode: 'no-cors' }),
  (url) => new Promise((done) => { const x = new XMLHttpRequest(); x.onloadend = done; x.open('PUT', url); x.send('x') }),
  (url) => navigator.sendBeacon(url, 'x'),
  (url) => new Promise((done) => { const es = new EventSource(url); es.onerror = () => { es.close(); done() };
    es.onopen = () => reached.push('eventsource ' + url) }),
  (url) => put('img', { src: url }).then((event) => { if (event.type === 'load') reached.push('img ' + url) }),
  (url) => put('img', { srcset: url + ' 2x' }),
  (url) => put('script', { src: url }),
  (url) => put('script', { src: url, type: 'module' }),
  (url) => import(url),
  (url) => link('stylesheet', url),
  (url) => style('@import "' + url + '"; body { background: url("' + url + '?css") }'),
  (url) => new FontFace('f', 'url("' + url + '")').load(),
  (url) => put('video', { src: url }),
  (url) => put('audio', { src: url }),
  (url) => put('object', { data: url }),
  (url) => put('embed', { src: url }),
  (url) => document.body.insertAdjacentHTML('beforeend', '<svg><image href="' + url + '"/><use href="' + url + '#a"/></svg>'),
  (url) => frame({ src: url }),
  (url) => frame({ src: redirect(url) }),
  (url) => frame({ srcdoc: '<meta http-equiv="refresh" content="0;url=' + url + '">' }),
  (url) => frame({ srcdoc: '<script>location = ' + JSON.stringify(url) + '<' + '/script>' }),
  (url) => frame({ src: 'data:text/html,' + encodeURIComponent(within(url)) }),
  (url) => frame({ src: blob(within(url), 'text/html') }),
  (url) => frame({ src: 'javascript:' + JSON.stringify(within(url)) }),
  (url) => frame({ src: 'view-source:' + url }),
  (url) => form(url, 'post'),
  (url) => form(url, 'get'),
  (url) => socket(url.replace('http', 'ws')),
  (url) => socket('wss://' + new URL(url).host + '/'),
  (url) => new WebTransport('https://' + new URL(url).host + '/').ready.then(() => reached.push('webtransport ' + url)),
  (url) => ice(url, ['stun:' + new URL(url).hostname + ':3478']),
  (url) => ice(url, ['turn:' + new URL(url).hostname + ':3478', 'turn:' + new URL(url).hostname + ':3478?transport=tcp']),
  (url) => worker(script(url)),
  (url) => worker('try{importScripts(' + JSON.stringify(url) + ')}catch{}postMessage(0)'),
  (url) => caches.open('x').then((cache) => cache.add(url)),
  (url) => navigator.serviceWorker.register(url),
  ...['prefetch', 'preconnect', 'dns-prefetch', 'prerender', 'modulepreload', 'icon', 'manifest'].map((rel) => (url) => link(rel, url)),
  (url) => link('preload', url, { as: 'fetch' }),
  (url) => { const s = document.createElement('script'); s.type = 'speculationrules';
    s.textContent = JSON.stringify({ prerender: [{ source: 'list', urls: [url] }], prefetch: [{ source: 'list', urls: [url], referrer_policy: 'no-referrer' }] });
    document.head.append(s) },
  (url) => frame({ srcdoc: '<a download href="' + url + '">x</a><script>document.querySelector("a").click()<' + '/script>' }),
  (url) => { const a = Object.assign(document.createElement('a'), { href: '#x', ping: url }); document.body.append(a); a.click() },
  (url) => { const opened = open(url); setTimeout(() => opened?.close(), LIMIT) },
  (url) => fetchLater(url, { activateAfter: 0 }),
];
async function attack(url) {
  await Promise.all(WAYS.map(async (way) => soon((async () => way(url))())));
  // Frames and loose ends of one target make room for those of the next.
  for (const element of document.body.querySelectorAll('iframe,object,embed,video,audio')) element.remove();
}
(async () => {
  const targets = ${JSON.stringify(targets)};
  if (${gated}) await fetch('/gate');
  for (let at = 0; at < targets.length; at += 4) await Promise.all(targets.slice(at, at + 4).map(attack));
  window.reached = reached;
  document.title = 'tried ' + targets.length * WAYS.length;
  if (${gated}) await fetch('/report?tried=' + targets.length * WAYS.length + '&reached=' + encodeURIComponent(JSON.stringify(reached)));
})();
</script>`;
