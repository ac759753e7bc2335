/** SDK v1 on Express, stateless, as its examples have it: a server and a transport for each request. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import express from 'express';

import { result, tools } from './tools.mjs';

const app = express();
app.use(express.json());
app.post('/mcp', async (request, response) => {
  const server = new McpServer({ name: 'tutorial', version: '1.0.0' });
  for (const { name, ...tool } of tools) server.registerTool(name, tool, async () => result());
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: undefined,
    enableJsonResponse: true,
  });
  response.on('close', () => {
    void transport.close();
    void server.close();
  });
  await server.connect(transport);
  await transport.handleRequest(request, response, request.body);
});
app.listen(Number(process.env.PORT), '127.0.0.1');
