// What all Node peers share: the job, the options, runs side by side, and the line of JSON that says
// what they cost. The same options and the same output as the Rust driver in `rust/driver`, which
// describes them.
import fs from "node:fs";

// Nobody is told of these runs.
process.env.OPENAI_API_KEY ??= "sk-bench";
process.env.OPENAI_AGENTS_DISABLE_TRACING ??= "1";

export const PROMPT = "What is the state of ticket TCK-10400?";
export const INSTRUCTIONS = "You are a support agent. Use the tools, then answer in one sentence.";
export const TOOL = "get_ticket";
export const TOOL_ABOUT = "Look a support ticket up by its id";
export const SCHEMA = {
  type: "object",
  properties: {
    ticketId: { type: "string", pattern: "^TCK-[0-9]{4,8}$", description: "id of the ticket" },
    priority: { type: "string", enum: ["low", "normal", "high", "urgent"] },
    includeComments: { type: "boolean" },
    limit: { type: "integer", minimum: 1, maximum: 100 },
    tags: { type: "array", items: { type: "string" }, maxItems: 10 },
  },
  required: ["ticketId", "priority"],
  additionalProperties: false,
};

const RIGHT = "assigned to dana";
const counts = { calls: 0, rejected: 0 };

/** The tool's work. */
export function ticket(ticketId) {
  counts.calls += 1;
  return { ticketId, status: "open", assignee: "dana" };
}

/** Arguments were not valid. */
export function rejected() {
  counts.rejected += 1;
}

/** What the peer is told. */
export function options() {
  const told = { base: undefined, runs: 1, warm: 0, concurrency: 1, stream: false };
  const words = process.argv.slice(2);
  while (words.length > 0) {
    const name = words.shift().replace(/^--/, "");
    if (!(name in told)) throw new Error(`${name} is no option`);
    if (name === "stream") told.stream = true;
    else if (name === "base") told.base = words.shift();
    else told[name] = Number(words.shift());
  }
  return { ...told, api: `${told.base}/v1` };
}

async function batch(runs, concurrency, run) {
  const done = { right: 0, wrong: 0, error: null };
  let next = 0;
  const worker = async () => {
    while (next < runs) {
      next += 1;
      try {
        const text = String(await run());
        if (text.includes(RIGHT)) {
          done.right += 1;
          continue;
        }
        done.error = `the answer was ${JSON.stringify(text)}`.slice(0, 1000);
      } catch (error) {
        done.error = String(error?.stack ?? error).slice(0, 1000);
      }
      done.wrong += 1;
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, runs) }, worker));
  return done;
}

function memory(line) {
  const found = new RegExp(`^${line}:\\s+(\\d+)`, "m").exec(fs.readFileSync("/proc/self/status", "utf8"));
  return Number(found[1]);
}

/** Runs `run` as often as told, and prints what it cost. */
export async function drive(peer, told, run) {
  await batch(told.warm, told.concurrency, run);
  Object.assign(counts, { calls: 0, rejected: 0 });
  const beforeKb = memory("VmRSS");
  const before = process.resourceUsage();
  const began = process.hrtime.bigint();
  const { right, wrong, error } = await batch(told.runs, told.concurrency, run);
  const wallSeconds = Number(process.hrtime.bigint() - began) / 1e9;
  const after = process.resourceUsage();
  const cost = {
    peer,
    runs: told.runs,
    concurrency: told.concurrency,
    stream: told.stream,
    right,
    wrong,
    error,
    wallSeconds,
    userSeconds: (after.userCPUTime - before.userCPUTime) / 1e6,
    systemSeconds: (after.systemCPUTime - before.systemCPUTime) / 1e6,
    peakKb: memory("VmHWM"),
    beforeKb,
    toolCalls: counts.calls,
    rejected: counts.rejected,
  };
  fs.writeSync(1, `${JSON.stringify(cost)}\n`);
  // Kept connections would hold the process.
  process.exit(0);
}
