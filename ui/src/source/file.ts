// Runs out of run files: dropped on the page, or written into it.

import { parse } from "../wire/lossless";
import type { Inspection, RunRecord, Summary, Tool } from "../wire/types";
import { type Call, faultOf, fold, runState } from "../run/fold";
import { type Line, type Page, Problem, type Query, type Source, type Watch } from "./source";

interface Kept {
  text: string;
  lines: Line[];
  tools: Tool[];
  summary: Summary;
  inspection: Inspection;
}

/** The newest version of run files that this page reads. */
const VERSION = 1;

/** Reads a run file: a header, an event a line, an end with a hash. */
export async function read(text: string): Promise<Omit<Kept, "inspection">> {
  const rows = text.split("\n").filter((row) => row.trim() !== "");
  const header = object(rows[0], 1);
  if (header.callgate !== "run") {
    throw new Problem("this is no run file", "`callgate runs export ID -o FILE` writes one.");
  }
  if (typeof header.version === "number" && header.version > VERSION) {
    throw new Problem(`this run file is of version ${header.version}; this page reads up to ${VERSION}`);
  }
  const end = object(rows[rows.length - 1], rows.length);
  if (end.callgate !== "end") {
    throw new Problem("this run file is cut: its last line is missing", "Export the run again.");
  }
  await intact(text, String(end.sha256 ?? ""));
  const lines = rows
    .slice(1, -1)
    .map((row, i) => ({ text: row, record: object(row, i + 2) as unknown as RunRecord }));
  const view = fold(lines.map((line) => line.record));
  const last = lines.at(-1)?.record;
  const summary: Summary = {
    run: view.id,
    agent: view.agent,
    model: view.model,
    goal: view.goal,
    state: runState(view),
    paused: view.paused,
    startedAt: view.startedAt,
    updatedAt: last?.at ?? view.startedAt,
    events: lines.length,
    hops: view.hops.length,
    calls: view.made,
    tokens: view.usage.inputTokens + view.usage.outputTokens,
  };
  const note = view.finish?.text ?? view.finish?.fault?.message;
  if (note) summary.note = note;
  return { text, lines, tools: (header.catalog ?? []) as Tool[], summary };
}

function object(row: string | undefined, line: number): Record<string, unknown> {
  try {
    const value = parse(row ?? "");
    if (value !== null && typeof value === "object") return value as Record<string, unknown>;
  } catch {
    // Told below.
  }
  throw new Problem(`line ${line} of this file is no JSON object`, "A run file has an object a line.");
}

/** The hash is of everything before the last line. Without a secure context nothing can be hashed. */
async function intact(text: string, wanted: string): Promise<void> {
  if (!globalThis.crypto?.subtle) return;
  const body = text.trimEnd();
  const before = body.slice(0, body.lastIndexOf("\n") + 1);
  const sum = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(before));
  const hex = [...new Uint8Array(sum)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  if (wanted !== hex) {
    throw new Problem("this run file was changed: its hash is another one", "Export the run again.");
  }
}

export class FileSource implements Source {
  readonly isServer = false;
  private readonly kept = new Map<string, Kept>();

  /** Takes a run file; what the machine worked out of it comes beside it where a page carries it. */
  async add(text: string, inspection: Inspection = {}): Promise<string> {
    const one = { ...(await read(text)), inspection };
    this.kept.set(one.summary.run, one);
    return one.summary.run;
  }

  get isEmpty(): boolean {
    return this.kept.size === 0;
  }

  has(id: string): boolean {
    return this.kept.has(id);
  }

  remove(id: string): void {
    this.kept.delete(id);
  }

  private one(id: string): Kept {
    const found = this.kept.get(id);
    if (!found) throw new Problem(`no file with the run ${id} is open`, "Drop its run file on the page.");
    return found;
  }

  async runs(query: Query): Promise<Page> {
    const wanted = query.text?.toLowerCase() ?? "";
    const runs = [...this.kept.values()]
      .map((one) => one.summary)
      .filter((run) => `${run.run} ${run.goal} ${run.agent}`.toLowerCase().includes(wanted))
      .filter((run) => !query.states?.length || query.states.includes(run.state))
      .filter((run) => !query.agent || run.agent === query.agent)
      .filter((run) => !query.tool || this.calls(run.run).some((call) => call.tool === query.tool))
      .filter(
        (run) => !query.verdict || this.calls(run.run).some((call) => faultOf(call)?.kind === query.verdict),
      );
    return { runs };
  }

  private calls(id: string): Call[] {
    return [...fold(this.one(id).lines.map((line) => line.record)).calls.values()];
  }

  async run(id: string): Promise<Summary> {
    return this.one(id).summary;
  }

  watch(id: string, watch: Watch): () => void {
    watch.onLines(this.one(id).lines);
    watch.onState?.("over");
    return () => {};
  }

  async inspection(id: string): Promise<Inspection> {
    return this.one(id).inspection;
  }

  async catalog(): Promise<Tool[]> {
    const tools = new Map<string, Tool>();
    for (const one of this.kept.values()) for (const tool of one.tools) tools.set(tool.name, tool);
    return [...tools.values()];
  }

  async exported(id: string): Promise<string> {
    return this.one(id).text;
  }
}
