// The OpenAI Agents SDK for Node, as its docs do it: tools with zod schemas.
import { Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, run, setTracingDisabled, tool } from '@openai/agents';
import OpenAI from 'openai';
import { z } from 'zod';

const C = await import(process.env.FAULTS_CELLS);

setTracingDisabled(true);
// The SDK's strict mode, its default, makes every key required, so optional values are nullish.
// Tuned: unknown keys are refused, and the reason is shown by the documented errorFunction.
const S = C.schemas(z, C.TUNED ? z.strictObject : z.object, (type) => type.nullish());
const search = S.search((limit) => limit.nullish());
const told = (_, error) =>
  `Error: ${error?.message ?? error} ${error?.originalError?.message ?? error?.cause?.message ?? ''}`;
const more = C.TUNED ? { errorFunction: told } : {};

await C.serve(async (cell) => {
  const made = (name, description, parameters) => tool({
    name, description, parameters, ...more, ...(cell.tool === 'hang' ? { timeoutMs: C.TOOL_MS } : {}),
    execute: async (args) => C.ran(cell, name, args),
  });
  const tools = [made('searchInvoices', C.SEARCH, search), made('get_ticket', C.TICKET, S.ticket)];
  if (cell.more) tools.push(made('list_tickets', C.LIST, S.list));
  const client = new OpenAI({ baseURL: `${cell.base}/v1`, apiKey: 'sk-fake' });
  const Kind = cell.dialect === 'chat' ? OpenAIChatCompletionsModel : OpenAIResponsesModel;
  const agent = new Agent({ name: 'books', instructions: C.SYSTEM, tools, model: new Kind(client, 'gpt-4o') });
  if (!cell.stream) return [(await run(agent, C.PROMPT, { maxTurns: 10 })).finalOutput, {}];
  const result = await run(agent, C.PROMPT, { stream: true, maxTurns: 10 });
  for await (const _ of result);
  await result.completed;
  return [result.finalOutput, { error: result.error ? String(result.error) : null }];
});
