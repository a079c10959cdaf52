// The Vercel AI SDK, as its docs do it: tools with zod schemas, the providers' own packages.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';

const C = await import(process.env.FAULTS_CELLS);

// Tuned: unknown keys are refused.
const S = C.schemas(z, C.TUNED ? z.strictObject : z.object, (type) => type.optional());
const search = S.search((limit) => limit.default(10));
const found = z.object({ count: z.number().int(), items: z.array(z.string()) });

function model(cell) {
  const openai = () => createOpenAI({ baseURL: `${cell.base}/v1`, apiKey: 'sk-fake' });
  switch (cell.dialect) {
    case 'chat': return openai().chat('gpt-4o');
    case 'responses': return openai().responses('gpt-4o');
    case 'anthropic':
      return createAnthropic({ baseURL: `${cell.base}/v1`, apiKey: 'sk-fake' })('claude-sonnet-4-5');
    default:
      return createGoogleGenerativeAI({ baseURL: `${cell.base}/v1beta`, apiKey: 'fake' })('gemini-2.5-flash');
  }
}

await C.serve(async (cell) => {
  const made = (name, description, inputSchema) =>
    tool({ description, inputSchema, outputSchema: found, execute: async (args) => C.ran(cell, name, args) });
  const tools = {
    searchInvoices: made('searchInvoices', C.SEARCH, search),
    get_ticket: made('get_ticket', C.TICKET, S.ticket),
  };
  if (cell.more) tools.list_tickets = made('list_tickets', C.LIST, S.list);
  const asked = { model: model(cell), system: C.SYSTEM, prompt: C.PROMPT, tools, stopWhen: stepCountIs(10) };
  if (!cell.stream) {
    const result = await generateText(asked);
    return [result.text, { finishReason: result.finishReason, steps: result.steps.length }];
  }
  const errors = [];
  const result = streamText({ ...asked, onError: ({ error }) => { errors.push(`${error?.name}: ${error?.message}`); } });
  let text = '';
  for await (const part of result.fullStream) if (part.type === 'text-delta') text += part.text;
  let finishReason;
  try { finishReason = await result.finishReason; } catch (error) { errors.push(`finishReason rejects: ${error?.message}`); }
  return [text, { finishReason, errors }];
});
