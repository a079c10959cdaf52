// A loop by hand on the OpenAI SDK for Node, whose arguments are validated by a compiled ajv validator.
import { Ajv2020 } from "ajv/dist/2020.js";
import OpenAI from "openai";

import * as driver from "../driver.mjs";

const told = driver.options();
const client = new OpenAI({ baseURL: told.api, apiKey: "sk-bench" });
const isValid = new Ajv2020({ strict: false }).compile(driver.SCHEMA);
const tools = [
  {
    type: "function",
    function: { name: driver.TOOL, description: driver.TOOL_ABOUT, parameters: driver.SCHEMA },
  },
];

function work(text) {
  let given;
  try {
    given = JSON.parse(text);
  } catch (error) {
    return JSON.stringify({ error: `invalid JSON: ${error.message}` });
  }
  if (!isValid(given)) {
    driver.rejected();
    const said = isValid.errors.map((error) => `${error.instancePath} ${error.message}`);
    return JSON.stringify({ error: said.join("; ") });
  }
  return JSON.stringify(driver.ticket(given.ticketId));
}

async function whole(messages) {
  const reply = await client.chat.completions.create({ model: "gpt-4o", messages, tools });
  const { content, tool_calls: calls = [] } = reply.choices[0].message;
  return [content, calls.map(({ id, function: { name, arguments: text } }) => ({ id, name, text }))];
}

async function streamed(messages) {
  let content = "";
  const calls = [];
  const stream = await client.chat.completions.create({ model: "gpt-4o", messages, tools, stream: true });
  for await (const chunk of stream) {
    const delta = chunk.choices[0]?.delta;
    content += delta?.content ?? "";
    for (const piece of delta?.tool_calls ?? []) {
      const call = (calls[piece.index] ??= { id: "", name: "", text: "" });
      call.id = piece.id ?? call.id;
      call.name += piece.function?.name ?? "";
      call.text += piece.function?.arguments ?? "";
    }
  }
  return [content, calls];
}

await driver.drive("OpenAI SDK by hand, Node", told, async () => {
  const messages = [
    { role: "system", content: driver.INSTRUCTIONS },
    { role: "user", content: driver.PROMPT },
  ];
  for (let turn = 0; turn < 10; turn += 1) {
    const [content, calls] = await (told.stream ? streamed : whole)(messages);
    if (calls.length === 0) return content;
    const made = calls.map(({ id, name, text }) => ({
      id,
      type: "function",
      function: { name, arguments: text },
    }));
    messages.push({ role: "assistant", content: null, tool_calls: made });
    for (const { id, text } of calls) {
      messages.push({ role: "tool", tool_call_id: id, content: work(text) });
    }
  }
  throw new Error("no answer after ten turns");
});
