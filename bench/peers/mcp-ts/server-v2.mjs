// @modelcontextprotocol/server, the second generation: serves whatever the client speaks.
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { register } from './tools.mjs';

serveStdio(() => {
  const server = new McpServer({ name: 'tickets', version: '1.0.0' });
  register(server);
  return server;
});
