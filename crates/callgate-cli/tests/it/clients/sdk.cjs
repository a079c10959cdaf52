// A client of the TypeScript SDK, 1.x or 2.x, that tells what it saw of a server as one line of JSON.
//
// node sdk.cjs NODE_MODULES v1|v2 legacy|auto|modern PIDS URL | PROGRAM ARGUMENT...
'use strict';
const fs = require('node:fs');
const { createRequire } = require('node:module');

const [modules, sdk, era, pids, ...at] = process.argv.slice(2);
const from = createRequire(modules + '/');

function parts() {
  if (sdk === 'v1') {
    return {
      ...from('@modelcontextprotocol/sdk/client/index.js'),
      ...from('@modelcontextprotocol/sdk/client/stdio.js'),
      ...from('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    };
  }
  return { ...from('@modelcontextprotocol/client'), ...from('@modelcontextprotocol/client/stdio') };
}

async function main() {
  const { Client, StdioClientTransport, StreamableHTTPClientTransport } = parts();
  const mode = era === 'modern' ? { pin: '2026-07-28' } : era;
  const options = sdk === 'v1' ? {} : { versionNegotiation: { mode } };
  const client = new Client({ name: 'test', version: '1' }, { capabilities: {}, ...options });
  const [first, ...rest] = at;
  const transport = first.startsWith('http')
    ? new StreamableHTTPClientTransport(new URL(first))
    : new StdioClientTransport({ command: first, args: rest });
  await client.connect(transport);

  // 1.x has a schema of the result as its second argument.
  const call = (name, args, more = {}) => {
    const limits = { timeout: 100_000, ...more };
    const params = { name, arguments: args };
    return sdk === 'v1' ? client.callTool(params, undefined, limits) : client.callTool(params, limits);
  };

  const saw = {};
  saw.server = client.getServerVersion()?.name;
  saw.revision = sdk === 'v1' ? transport.protocolVersion : client.getNegotiatedProtocolVersion();
  const list = await client.listTools();
  saw.tools = list.tools.map((tool) => tool.name);
  saw.picked = await call('pick', { x: 'a', n: 3 });
  saw.refused = { pick: await call('pick', { x: 'c' }), say: await call('say', { x: 'c' }) };
  saw.unknown = await call('pik', {}).then(() => null, (error) => error.code ?? error.name);

  const stop = new AbortController();
  saw.progress = 0;
  const hanging = call('hang', {}, {
    signal: stop.signal,
    onprogress: () => { saw.progress += 1; },
  });
  hanging.catch(() => {});
  while (!fs.existsSync(pids) || saw.progress === 0) {
    await new Promise((done) => setTimeout(done, 20));
  }
  stop.abort('enough');
  saw.cancelled = await hanging.then(() => null, (error) => String(error));

  saw.afterwards = (await call('say', { x: 'b' })).content[0].text;
  await client.close();
  console.log(JSON.stringify(saw));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
