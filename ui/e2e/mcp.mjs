// An MCP server over stdio (2025-06-18) whose tools are what tools.json beside it says.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const tools = () => JSON.parse(readFileSync(new URL("tools.json", import.meta.url), "utf8"));

function answer({ method, params }) {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "notes-server", version: "1.2.3" },
      };
    case "tools/list":
      return { tools: tools() };
    case "tools/call":
      return { content: [{ type: "text", text: `stored for ${params.arguments?.to}` }] };
    case "ping":
      return {};
    default:
      return undefined;
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.id === undefined) continue;
  const result = answer(message);
  const body = result === undefined ? { error: { code: -32601, message: "no such method" } } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: message.id, ...body })}\n`);
}
