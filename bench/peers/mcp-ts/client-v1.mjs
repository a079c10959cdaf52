// @modelcontextprotocol/sdk, the first generation: 2025-11-25 and before.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/sdk/types.js';
import { job, measure } from './measure.mjs';

const work = job();
const started = performance.now();
const client = new Client({ name: 'bench', version: '1.0.0' });
await client.connect(new StdioClientTransport({ command: work.command, args: work.args }));
await measure(work, client, started, LATEST_PROTOCOL_VERSION);
