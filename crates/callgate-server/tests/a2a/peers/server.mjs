// An agent built on @a2a-js/sdk, 1.0 over JSON-RPC or HTTP+JSON.
//
//     node server.mjs PACKAGES [jsonrpc|rest] [--no-streaming]
//
// Prints its address; ends with its input. What it does is said by a message's first word.

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [packages, way = 'jsonrpc', ...flags] = process.argv.slice(2);
const require = createRequire(packages + '/x.js');
const load = (name) => import(pathToFileURL(require.resolve(name).replace(/\.cjs$/, '.js')).href);
const express = require('express');
const { DefaultRequestHandler, InMemoryTaskStore, AgentEvent } = await load('@a2a-js/sdk/server');
const { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } =
  await load('@a2a-js/sdk/server/express');

const S = { SUBMITTED: 1, WORKING: 2, COMPLETED: 3, FAILED: 4, CANCELED: 5, INPUT_REQUIRED: 6, REJECTED: 7 };
let cancelled = 0;
const part = (content) => ({ content, filename: '', mediaType: '', metadata: undefined });
const text = (value) => part({ $case: 'text', value });
let count = 0;
const say = (words, taskId = '', contextId = '') => ({
  messageId: `m${++count}`, contextId, taskId, role: 2, parts: [text(words)],
  metadata: undefined, extensions: [], referenceTaskIds: [],
});

class Executor {
  waiting = new Map();

  async execute(context, bus) {
    const { userMessage, taskId, contextId, task } = context;
    const words = userMessage.parts.map((p) => (p.content.$case === 'text' ? p.content.value : '')).join(' ');
    const status = (state, message) => bus.publish(AgentEvent.statusUpdate({
      taskId, contextId, status: { state, message, timestamp: new Date().toISOString() }, metadata: undefined,
    }));
    const artifact = (artifactId, parts, append = false, lastChunk = true) => bus.publish(AgentEvent.artifactUpdate({
      taskId, contextId, append, lastChunk, metadata: undefined,
      artifact: { artifactId, name: 'answer', description: '', parts, metadata: undefined, extensions: [] },
    }));
    if (words.startsWith('message')) {
      bus.publish(AgentEvent.message(say('just words', '', contextId)));
      bus.finished();
      return;
    }
    // Each turn begins with the task, as it is by then.
    bus.publish(AgentEvent.task(task ?? {
      id: taskId, contextId, status: { state: S.SUBMITTED, message: undefined, timestamp: new Date().toISOString() },
      artifacts: [], history: [userMessage], metadata: undefined,
    }));
    status(S.WORKING);
    if (words.startsWith('ask')) status(S.INPUT_REQUIRED, say('Which one?', taskId, contextId));
    else if (words.startsWith('fail')) status(S.FAILED, say('it is broken', taskId, contextId));
    else if (words.startsWith('reject')) status(S.REJECTED, say('not I', taskId, contextId));
    else if (words.startsWith('slow')) {
      await new Promise((done) => this.waiting.set(taskId, done));
      return;
    } else if (words.startsWith('data')) {
      const got = userMessage.parts.filter((p) => p.content.$case === 'data').map((p) => p.content.value);
      artifact('a', [part({ $case: 'data', value: { got } })]);
      status(S.COMPLETED);
    } else if (words.startsWith('pieces')) {
      artifact('a', [text('one ')], false, false);
      artifact('a', [text('two')], true, true);
      status(S.COMPLETED);
    } else {
      artifact('a', [text(`You said: ${words}`)]);
      status(S.COMPLETED);
    }
    bus.finished();
  }

  async cancelTask(taskId, bus) {
    cancelled += 1;
    bus.publish(AgentEvent.statusUpdate({
      taskId, contextId: '', status: { state: S.CANCELED, message: undefined, timestamp: new Date().toISOString() },
      metadata: undefined,
    }));
    bus.finished();
    this.waiting.get(taskId)?.();
  }
}

const app = express();
const server = app.listen(0, '127.0.0.1', () => {
  const base = `http://127.0.0.1:${server.address().port}`;
  const ways = {
    jsonrpc: { url: `${base}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' },
    rest: { url: `${base}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0', tenant: '' },
  };
  const card = {
    name: 'js', description: 'An agent on @a2a-js/sdk.', version: '1.0.0', provider: undefined,
    supportedInterfaces: [ways[way]], securitySchemes: {}, securityRequirements: [], signatures: [],
    capabilities: { streaming: !flags.includes('--no-streaming'), pushNotifications: false, extendedAgentCard: false, extensions: [] },
    defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'],
    skills: [{ id: 'talk', name: 'talk', description: 'Talks.', tags: ['talk'], examples: [], inputModes: [], outputModes: [], securityRequirements: [] }],
  };
  const handler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new Executor());
  const userBuilder = UserBuilder.noAuthentication;
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: handler }));
  app.use('/rpc', jsonRpcHandler({ requestHandler: handler, userBuilder }));
  app.use('/rest', restHandler({ requestHandler: handler, userBuilder }));
  app.get('/cancelled', (_, response) => response.send(String(cancelled)));
  console.log(JSON.stringify({ url: base }));
});
// Whoever started it is gone: so is this.
process.stdin.on('end', () => process.exit(0)).resume();
