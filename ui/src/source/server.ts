// Runs from the server's API (docs/api.md).

import { signal } from "@preact/signals";
import { ask } from "../json/client";
import { parse, written } from "../wire/lossless";
import type { Drifted, Health } from "../wire/lock";
import type { Inspection, RunRecord, Summary, Tool } from "../wire/types";
import { EventReader } from "./events";
import { type Line, type Page, Problem, type Query, type Source, type Watch } from "./source";

/** Asked for where the server wants one; kept for this tab only. */
export const token = signal<string | undefined>(kept());
export const needsToken = signal(false);

function kept(): string | undefined {
  try {
    return sessionStorage.getItem("callgate.token") ?? undefined;
  } catch {
    return undefined;
  }
}

export function setToken(text: string): void {
  token.value = text;
  needsToken.value = false;
  try {
    sessionStorage.setItem("callgate.token", text);
  } catch {
    // Then it is asked for again after a reload.
  }
}

/** Longer answers are not read on the page's own thread, in characters. */
const LARGE = 200_000;

export interface Verdict {
  admitted: boolean;
  /** What keeps the schema from being one. */
  mistakes?: { pointer: string; message: string; hint?: string }[];
  fault?: import("../wire/types").Fault;
  arguments?: string;
  adjustments?: import("../wire/types").Adjustment[];
}

export interface McpServer {
  name: string;
  transport: string;
  disabled: boolean;
  health: Health;
  /** How its tools compare with what was accepted. */
  lock?: Drifted;
}

export interface LintFinding {
  rule: string;
  level: string;
  tool?: string;
  pointer: string;
  message: string;
  suggestion?: string;
}

export class ServerSource implements Source {
  readonly isServer = true;

  async request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (token.value) headers.set("authorization", `Bearer ${token.value}`);
    let response: Response;
    try {
      response = await fetch(path, { ...init, headers });
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") throw error;
      throw new Problem("the server cannot be reached", "Is `callgate serve` still running?");
    }
    if (response.ok) return response;
    if (response.status === 401) needsToken.value = true;
    const text = await response.text();
    try {
      const problem = parse(text) as { title?: string; detail?: string; hint?: string };
      throw new Problem(problem.detail ?? problem.title ?? text, problem.hint, response.status);
    } catch (error) {
      if (error instanceof Problem) throw error;
      throw new Problem(text.trim() || `the server answered ${response.status}`, undefined, response.status);
    }
  }

  async get<T>(path: string): Promise<T> {
    const response = await this.request(path, { headers: { accept: "application/json" } });
    return parse(await response.text()) as T;
  }

  async post<T>(path: string, body: unknown): Promise<T | undefined> {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const response = await this.request(path, {
      method: "POST",
      body: text,
      headers: { "content-type": "application/json" },
    });
    const answer = await response.text();
    return answer === "" ? undefined : (parse(answer) as T);
  }

  async runs(query: Query, after?: string): Promise<Page> {
    const asked = new URLSearchParams();
    if (query.text) asked.set("text", query.text);
    if (query.agent) asked.set("agent", query.agent);
    if (query.tool) asked.set("tool", query.tool);
    if (query.verdict) asked.set("fault", query.verdict);
    for (const state of query.states ?? []) asked.append("state", state);
    if (after) asked.set("cursor", after);
    asked.set("limit", "100");
    return this.get<Page>(`api/runs?${asked}`);
  }

  run(id: string): Promise<Summary> {
    return this.get(`api/runs/${encodeURIComponent(id)}`);
  }

  inspection(id: string): Promise<Inspection> {
    return this.get(`api/runs/${encodeURIComponent(id)}/inspection`);
  }

  async catalog(): Promise<Tool[]> {
    const answer = await this.get<{ tools: Tool[] }>("api/catalog");
    return answer.tools;
  }

  async exported(id: string): Promise<string> {
    const response = await this.request(`api/runs/${encodeURIComponent(id)}/export`);
    return response.text();
  }

  watch(id: string, watch: Watch): () => void {
    const stop = new AbortController();
    void this.follow(id, watch, stop.signal);
    return () => stop.abort();
  }

  /** Reads events until the run is over; after a lost connection goes on where it ended. */
  private async follow(id: string, watch: Watch, signal: AbortSignal): Promise<void> {
    let last: string | undefined;
    let wait = 500;
    while (!signal.aborted) {
      try {
        const headers: Record<string, string> = { accept: "text/event-stream" };
        if (last !== undefined) headers["last-event-id"] = last;
        const response = await this.request(`api/runs/${encodeURIComponent(id)}/events`, { headers, signal });
        if (response.status === 204) {
          watch.onState?.("over");
          return;
        }
        watch.onState?.("live");
        wait = 500;
        const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
        const events = new EventReader();
        for (;;) {
          const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
          if (done) break;
          const lines: Line[] = [];
          for (const sent of events.push(value ?? "")) {
            if (sent.event === "delta") {
              const delta = parse(sent.data) as { hop: number; text?: string };
              if (delta.text) watch.onDelta?.(delta.hop, delta.text);
            } else if (sent.event === "end") {
              if (lines.length > 0) watch.onLines(lines.splice(0));
              watch.onState?.("over");
              return;
            } else if (sent.event === "record" || sent.event === "message") {
              if (sent.id !== undefined) last = sent.id;
              lines.push({ text: sent.data, record: parse(sent.data) as RunRecord });
            }
          }
          if (lines.length > 0) watch.onLines(lines);
        }
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof Problem && error.status !== undefined && error.status < 500) {
          watch.onState?.("lost");
          return;
        }
      }
      if (signal.aborted) return;
      watch.onState?.("lost");
      await new Promise((resolve) => setTimeout(resolve, wait));
      wait = Math.min(wait * 2, 10_000);
    }
  }

  /** A person's word on a call or a run. */
  say(
    id: string,
    word: "approve" | "reject" | "answer" | "doubt" | "cancel" | "pause" | "resume" | "fork",
    body: unknown,
  ): Promise<{ run?: string } | undefined> {
    return this.post(`api/runs/${encodeURIComponent(id)}/${word}`, body);
  }

  /** The gate's verdict. Documents are put in as they are written, so that digits stay. */
  async check(
    input: { tool: string; text: string } | { schema: string; instance: string },
  ): Promise<Verdict> {
    const body =
      "tool" in input
        ? JSON.stringify(input)
        : new Blob(['{"schema": ', input.schema, ', "instance": ', input.instance, "}"]);
    const response = await this.request("api/check", {
      method: "POST",
      body,
      headers: { "content-type": "application/json" },
    });
    let answer = await response.text();
    // What would be forwarded is as large as what was sent, and is known here.
    if (answer.length > LARGE) answer = await ask("without", { text: answer, name: "text" });
    return parse(answer) as Verdict;
  }

  call(tool: string, args: string): Promise<unknown> {
    return this.post(`api/catalog/${encodeURIComponent(tool)}/call`, `{"arguments": ${args}}`);
  }

  /** Takes a run file in, to be kept there. */
  async keep(file: string): Promise<void> {
    await this.request("api/runs/import", {
      method: "POST",
      body: file,
      headers: { "content-type": "application/x-ndjson" },
    });
  }

  /** What the lints say of a contract. */
  async lint(contract: Tool): Promise<LintFinding[]> {
    const judged = await this.post<{ findings?: LintFinding[] }>("api/check", written({ contract }));
    return judged?.findings ?? [];
  }

  async servers(): Promise<McpServer[]> {
    return (await this.get<{ servers: McpServer[] }>("api/servers?drift=true")).servers;
  }
}

/** The server, where it is one: of a call that only a server can answer. */
export function asServer(source: Source | undefined): ServerSource | undefined {
  return source instanceof ServerSource ? source : undefined;
}
