// A loop over the official Node libraries, as an application writes it.
//
// node agent.mjs MODULES chat|responses|messages whole|streamed BASE_URL MODEL CASES OUT
//
// The same as agent.py; here `ajv` judges.

import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, dialect, mode, url, named, cases, out] = process.argv.slice(2);
const require = createRequire(`${modules}/x.js`);
const load = async (name) => import(pathToFileURL(require.resolve(name)).href);
const { default: OpenAI } = await load("openai");
const { default: Anthropic } = await load("@anthropic-ai/sdk");
const Ajv2020 = require("ajv/dist/2020");

const streamed = mode === "streamed";
const HOPS = 6;
// A real model makes up what to call with; it has to call, and says something in the end or not.
const isReal = named !== "" && !named.endsWith(":");
const ASK = isReal ? "Call the tool once, with any arguments that fit, then answer." : "Do it.";
const most = Number(process.env.CLIENT_CASES ?? 1000);
const apiKey = process.env.CALLGATE_TOKEN ?? "no-key";

// The model calls and calls.
class Endless extends Error {}

class Tool {
  received = 0;
  admitted = 0;

  constructor(schema) {
    this.schema = schema;
    this.judge = new (Ajv2020.default ?? Ajv2020)({ strict: false, validateFormats: false }).compile(schema);
  }

  run(given) {
    this.received += 1;
    // An application that is handed broken JSON ends here.
    const value = typeof given === "string" ? JSON.parse(given) : given;
    if (this.judge(value) && value !== null && typeof value === "object" && !Array.isArray(value)) this.admitted += 1;
    return "ran: well";
  }
}

async function chat(model, tool) {
  const client = new OpenAI({ baseURL: url, apiKey, maxRetries: 0 });
  const messages = [{ role: "user", content: ASK }];
  const tools = [{ type: "function", function: { name: "act", description: "Acts.", parameters: tool.schema } }];
  for (let hop = 0; hop < HOPS; hop++) {
    const asked = { model, messages, tools };
    if (isReal) Object.assign(asked, { max_completion_tokens: 200, tool_choice: tool.received ? "auto" : "required" });
    const completion = streamed
      ? await client.chat.completions.stream({ ...asked, stream_options: { include_usage: true } }).finalChatCompletion()
      : await client.chat.completions.create(asked);
    if (!completion.usage) throw new Error("no usage");
    const { message } = completion.choices[0];
    if (!message.tool_calls?.length) return message.content;
    messages.push(message);
    for (const call of message.tool_calls) {
      messages.push({ role: "tool", tool_call_id: call.id, content: tool.run(call.function.arguments) });
    }
  }
  throw new Endless();
}

async function responses(model, tool) {
  const client = new OpenAI({ baseURL: url, apiKey, maxRetries: 0 });
  const input = [{ role: "user", content: ASK }];
  const tools = [{ type: "function", name: "act", description: "Acts.", parameters: tool.schema, strict: false }];
  for (let hop = 0; hop < HOPS; hop++) {
    const asked = { model, input, tools, store: false };
    if (isReal) Object.assign(asked, { max_output_tokens: 200, tool_choice: tool.received ? "auto" : "required" });
    const response = streamed
      ? await client.responses.stream(asked).finalResponse()
      : await client.responses.create(asked);
    if (!response.usage) throw new Error("no usage");
    const calls = response.output.filter((item) => item.type === "function_call");
    if (calls.length === 0) return response.output_text;
    input.push(...response.output);
    for (const call of calls) {
      input.push({ type: "function_call_output", call_id: call.call_id, output: tool.run(call.arguments) });
    }
  }
  throw new Endless();
}

async function messages(model, tool) {
  const client = new Anthropic({ baseURL: url.replace(/\/v1$/, ""), apiKey, maxRetries: 0 });
  const messages = [{ role: "user", content: ASK }];
  const tools = [{ name: "act", description: "Acts.", input_schema: tool.schema }];
  for (let hop = 0; hop < HOPS; hop++) {
    const asked = { model, max_tokens: isReal ? 200 : 1000, messages, tools };
    if (isReal) asked.tool_choice = { type: tool.received ? "auto" : "any" };
    const message = streamed
      ? await client.messages.stream(asked).finalMessage()
      : await client.messages.create(asked);
    const calls = message.content.filter((block) => block.type === "tool_use");
    if (calls.length === 0) return message.content.map((block) => block.text ?? "").join("");
    messages.push({ role: "assistant", content: message.content });
    const content = calls.map((call) => ({ type: "tool_result", tool_use_id: call.id, content: tool.run(call.input) }));
    messages.push({ role: "user", content });
  }
  throw new Endless();
}

const loops = { chat, responses, messages };

async function tried({ id, input }) {
  const tool = new Tool(input.schema);
  const saw = { case: id };
  try {
    saw.end = (await loops[dialect](isReal ? named : `${named}case-${id}`, tool)) ? "answered" : "nothing";
  } catch (error) {
    const of = (name) => error instanceof OpenAI[name] || error instanceof Anthropic[name];
    if (error instanceof Endless) return { ...saw, end: "endless", received: tool.received, admitted: tool.admitted };
    saw.end = of("APIError") && !of("APIConnectionError") ? "refused" : "crashed";
    saw.error = `${error.constructor.name}: ${error.message}`;
  }
  return { ...saw, received: tool.received, admitted: tool.admitted };
}

function isJson(text) {
  try {
    return JSON.parse(text) !== null;
  } catch {
    return false;
  }
}

// A provider of whole messages can say nothing but JSON.
const upstream = named || (dialect === "messages" ? "anthropic:" : "");
const onlyJson = upstream === "anthropic:" && !streamed;
const all = readFileSync(cases, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line))
  .filter(({ family }) => family === "malformed-json" || family === "schema-mismatch")
  .filter(({ input }) => !onlyJson || isJson(input.arguments_raw));
// At most so many, evenly over them.
const share = (at) => Math.floor(at * Math.min(1, most / all.length));
const wanted = all.filter((_, at) => share(at + 1) > share(at));
const lines = [];
const width = isReal ? 1 : 4;
for (let at = 0; at < wanted.length; at += width) {
  for (const saw of await Promise.all(wanted.slice(at, at + width).map(tried))) lines.push(JSON.stringify(saw));
}
writeFileSync(out, `${lines.join("\n")}\n`);
