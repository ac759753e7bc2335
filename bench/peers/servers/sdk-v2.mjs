/** SDK v2 as its tutorial has it: createMcpHandler, an McpServer and a registerTool for each tool in each request. */
import { serve } from '@hono/node-server';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { Hono } from 'hono';

import { result, tools } from './tools.mjs';

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'tutorial', version: '1.0.0' });
  for (const { name, ...tool } of tools) server.registerTool(name, tool, async () => result());
  return server;
});
const app = new Hono();
app.all('/mcp', (c) => handler.fetch(c.req.raw));
serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: '127.0.0.1' });
