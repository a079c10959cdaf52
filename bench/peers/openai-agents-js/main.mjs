// An agent of the OpenAI Agents SDK for Node, as its documentation shows it, without tracing.
import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled, tool } from "@openai/agents";
import OpenAI from "openai";
import { z } from "zod";

import * as driver from "../driver.mjs";

setTracingDisabled(true);
const told = driver.options();
const parameters = z.strictObject({
  ticketId: z.string().regex(/^TCK-[0-9]{4,8}$/).describe("id of the ticket"),
  priority: z.enum(["low", "normal", "high", "urgent"]),
  includeComments: z.boolean(),
  limit: z.number().int().min(1).max(100),
  tags: z.array(z.string()).max(10),
});
const getTicket = tool({
  name: driver.TOOL,
  description: driver.TOOL_ABOUT,
  parameters,
  execute: async ({ ticketId }) => driver.ticket(ticketId),
});
const client = new OpenAI({ baseURL: told.api, apiKey: "sk-bench" });
const agent = new Agent({
  name: "support",
  instructions: driver.INSTRUCTIONS,
  tools: [getTicket],
  model: new OpenAIChatCompletionsModel(client, "gpt-4o"),
});

await driver.drive("OpenAI Agents, Node", told, async () => {
  if (!told.stream) return (await run(agent, driver.PROMPT)).finalOutput;
  const result = await run(agent, driver.PROMPT, { stream: true });
  for await (const _ of result);
  await result.completed;
  return result.finalOutput;
});
