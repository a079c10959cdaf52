// @modelcontextprotocol/client, the second generation: asks what the server speaks, 2026-07-28 first.
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { job, measure } from './measure.mjs';

const work = job();
const started = performance.now();
const client = new Client({ name: 'bench', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
await client.connect(new StdioClientTransport({ command: work.command, args: work.args }));
await measure(work, client, started, client.getNegotiatedProtocolVersion());
