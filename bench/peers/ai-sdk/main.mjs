// An agent loop of the Vercel AI SDK, as its documentation shows it.
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

import * as driver from "../driver.mjs";

const told = driver.options();
const model = createOpenAI({ baseURL: told.api, apiKey: "sk-bench" }).chat("gpt-4o");
const inputSchema = z.strictObject({
  ticketId: z.string().regex(/^TCK-[0-9]{4,8}$/).describe("id of the ticket"),
  priority: z.enum(["low", "normal", "high", "urgent"]),
  includeComments: z.boolean().optional(),
  limit: z.number().int().min(1).max(100).optional(),
  tags: z.array(z.string()).max(10).optional(),
});
const tools = {
  [driver.TOOL]: tool({
    description: driver.TOOL_ABOUT,
    inputSchema,
    execute: async ({ ticketId }) => driver.ticket(ticketId),
  }),
};

await driver.drive("Vercel AI SDK", told, async () => {
  const goal = {
    model,
    system: driver.INSTRUCTIONS,
    prompt: driver.PROMPT,
    tools,
    stopWhen: stepCountIs(10),
  };
  if (!told.stream) return (await generateText(goal)).text;
  let text = "";
  for await (const part of streamText(goal).fullStream) {
    if (part.type === "text-delta") text += part.text;
  }
  return text;
});
