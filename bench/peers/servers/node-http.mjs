/** The limit: node:http, reading the request and answering the bytes of the file BYTES. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const bytes = readFileSync(process.env.BYTES);
const headers = { 'content-type': 'application/json', 'content-length': bytes.length };

createServer((request, response) => {
  request.on('data', () => {});
  request.on('end', () => response.writeHead(200, headers).end(bytes));
}).listen(Number(process.env.PORT), '127.0.0.1');
