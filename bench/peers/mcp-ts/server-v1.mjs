// @modelcontextprotocol/sdk, the first generation.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { register } from './tools.mjs';

const server = new McpServer({ name: 'tickets', version: '1.0.0' });
register(server);
await server.connect(new StdioServerTransport());
