/** Bare Hono: one route that reads the request's body and answers the text of the file BYTES. */
import { readFileSync } from 'node:fs';

import { serve } from '@hono/node-server';
import { Hono } from 'hono';

const text = readFileSync(process.env.BYTES, 'utf8');
const app = new Hono();
app.post('/mcp', async (c) => {
  await c.req.text();
  return c.body(text, 200, { 'content-type': 'application/json' });
});
serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: '127.0.0.1' });
