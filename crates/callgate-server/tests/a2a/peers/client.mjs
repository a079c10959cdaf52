// A client built on @a2a-js/sdk: sends, streams, goes on with a task that asked, cancels one.
//
//     node client.mjs PACKAGES URL BINDING
//
// Prints one JSON object a step; whoever started it compares them.

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [packages, url, binding] = process.argv.slice(2);
const found = createRequire(packages + '/x.js').resolve('@a2a-js/sdk/client');
const { ClientFactory, ClientFactoryOptions } = await import(
  pathToFileURL(found.replace(/\.cjs$/, '.js')).href
);

const STATES = ['UNSPECIFIED', 'SUBMITTED', 'WORKING', 'COMPLETED', 'FAILED', 'CANCELED',
  'INPUT_REQUIRED', 'REJECTED', 'AUTH_REQUIRED'];
const state = (task) => STATES[task.status.state] ?? String(task.status.state);
const tell = (step, said) => console.log(JSON.stringify({ step, ...said }));

const text = (value) => part({ $case: 'text', value });
const data = (value) => part({ $case: 'data', value });
const part = (content) => ({ content, filename: '', mediaType: '', metadata: undefined });
const request = (messageId, parts, { taskId = '', skill } = {}) => ({
  tenant: '',
  message: {
    messageId, contextId: '', taskId, role: 1, parts, extensions: [], referenceTaskIds: [],
    metadata: skill ? { skillId: skill } : undefined,
  },
  configuration: undefined,
  metadata: undefined,
});

const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
  preferredTransports: [binding],
});
const client = await new ClientFactory(options).createFromUrl(url);
const tag = `js-${binding}-`;

let task = await client.sendMessage(request(tag + 1, [text('hello')]));
tell('send', { state: state(task), text: task.artifacts[0].parts[0].content.value });

const kinds = [];
for await (const event of client.sendMessageStream(request(tag + 2, [text('hello again')]))) {
  kinds.push(event.payload.$case);
}
tell('stream', { kinds });

task = await client.sendMessage(request(tag + 3, [data({ a: 1 })], { skill: 'add' }));
const asked = task.status.message.parts[1].content.value;
tell('ask', { state: state(task), missing: asked.missing });
task = await client.sendMessage(request(tag + 4, [data({ b: 2 })], { taskId: task.id }));
tell('answer', { state: state(task), data: task.artifacts[0].parts[0].content.value });

let id;
for await (const event of client.sendMessageStream(request(tag + 5, [text('sleep')]))) {
  if (event.payload.$case === 'task') id = event.payload.value.id;
  if (event.payload.$case === 'statusUpdate' && state(event.payload.value) === 'WORKING') break;
}
tell('cancel', { state: state(await client.cancelTask({ tenant: '', id, metadata: undefined })) });
tell('get', { state: state(await client.getTask({ tenant: '', id })) });
try {
  for await (const _ of client.resubscribeTask({ tenant: '', id })) { /* none should come */ }
  tell('subscribe', { error: null });
} catch (error) {
  tell('subscribe', { error: error.constructor.name });
}
process.exit(0);
