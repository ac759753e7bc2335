/**
 * Serves what PAGES_FILE holds (paths with type and body), and counts who comes for anything else: what injected text
 * points to must be fetched by nobody. Runs in the network of the demo's own site, so that it has its name.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const pages = JSON.parse(readFileSync('/pages.json', 'utf8'));
const hits = [];

createServer((request, response) => {
  const { pathname } = new URL(request.url, 'http://site');
  if (pathname === '/hits') return response.end(JSON.stringify(hits));
  const page = pages[pathname];
  // Every browser asks for it, whatever the page says.
  if (page === undefined && pathname !== '/favicon.ico') hits.push(`${request.method} ${request.url}`);
  response.writeHead(page ? 200 : 404, { 'content-type': page?.type ?? 'text/plain' });
  return response.end(page?.body);
}).listen(8088);
