// One agent of the AI SDK for each of its providers, streamed.
//
// node frameworks.mjs MODULES BASE_URL MODEL OUT   one line of JSON an agent.
//
// The model's first call lacks what is required; the framework is not to notice.

import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, url, model, out] = process.argv.slice(2);
const require = createRequire(`${modules}/x.js`);
const load = async (name) => import(pathToFileURL(require.resolve(name)).href);
const { streamText, tool, jsonSchema, isStepCount } = await load("ai");
const { createOpenAI } = await load("@ai-sdk/openai");
const { createAnthropic } = await load("@ai-sdk/anthropic");

const apiKey = "no-key";
const openai = createOpenAI({ baseURL: url, apiKey });
const anthropic = createAnthropic({ baseURL: url, apiKey });

async function run(who, model, providerOptions) {
  const calls = [];
  const deltas = [];
  const weather = tool({
    description: "How the weather will be.",
    inputSchema: jsonSchema({
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer" } },
      required: ["city", "days"],
      additionalProperties: false,
    }),
    execute: async (input) => {
      calls.push(input);
      return "ran: rain";
    },
  });
  let failed;
  const result = streamText({
    model,
    tools: { weather },
    prompt: "What is the weather in Oslo?",
    stopWhen: isStepCount(5),
    maxRetries: 0,
    providerOptions,
    onError: ({ error }) => {
      failed = error;
    },
  });
  for await (const delta of result.textStream) deltas.push(delta);
  if (failed) throw failed;
  return { who, calls, words: deltas.join(""), deltas: deltas.length };
}

const lines = [];
for (const [who, of, options] of [
  ["ai chat", openai.chat(model)],
  // Without this it refers to what it takes for stored.
  ["ai responses", openai.responses(model), { openai: { store: false } }],
  ["ai messages", anthropic(model)],
]) {
  let saw;
  try {
    saw = await run(who, of, options);
  } catch (error) {
    saw = { who, error: `${error?.constructor?.name}: ${error?.message}` };
  }
  lines.push(`${JSON.stringify(saw)}\n`);
}
writeFileSync(out, lines.join(""));
