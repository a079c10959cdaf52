// Events to what a page shows of a run: hops, and within them calls. The machine decides what a
// run is; this only lays out what it recorded.

import type {
  Adjustment,
  Exchange,
  Fault,
  Finish,
  Omission,
  Output,
  ProviderError,
  RunRecord,
  Usage,
  Verdict,
} from "../wire/types";

export interface Judged {
  seq: number;
  at: number;
  raw: string;
  edited: boolean;
  adjustments: Adjustment[];
  verdict: Verdict;
}

export interface Attempt {
  attempt: number;
  startedAt: number;
  endedAt?: number;
  idempotencyKey: string;
  output?: Output;
  failure?: Fault;
  wire?: string;
  raw?: string;
  used?: string;
}

export interface Asked {
  at: number;
  binding?: string;
  because?: string;
  question?: string;
  choices?: string[];
  expiresAt?: number;
  decidedAt?: number;
  decision?: string;
  reason?: string;
  by?: string;
}

export type CallState =
  | "judging"
  | "refused"
  | "waiting"
  | "running"
  | "done"
  | "failed"
  | "rejected"
  | "in_doubt"
  | "answer"
  | "skipped";

export interface Call {
  id: string;
  /** Position among all calls of the run, from 1. */
  number: number;
  hop: number;
  name: string;
  tool: string;
  /** The model's own text, before any edit. */
  raw: string;
  /** A rule's question: the call that it is asked for. */
  lookupOf?: string;
  judged: Judged[];
  asked: Asked[];
  attempts: Attempt[];
  passed?: { adjustments: Adjustment[]; omissions: Omission[] };
  isInDoubt: boolean;
  isOver: boolean;
  startedAt: number;
  endedAt: number;
}

export interface Hop {
  hop: number;
  why: string;
  offered: string[];
  requestedAt: number;
  repliedAt?: number;
  model?: string;
  text: string;
  reasoning: string;
  usage?: Usage;
  stop?: string;
  error?: ProviderError;
  exchange?: Exchange;
  calls: Call[];
}

export interface RunView {
  id: string;
  goal: string;
  agent: string;
  model: string;
  instructions: string;
  start?: RunRecord;
  said: { at: number; text: string; hop: number }[];
  hops: Hop[];
  calls: Map<string, Call>;
  /** Calls that reached their tool; rules' questions are none of the model's. */
  made: number;
  finish?: Finish;
  startedAt: number;
  lastAt: number;
  paused: boolean;
  cancelled: boolean;
  usage: Usage;
  losses: Record<string, string[]>;
  parent?: { run: string; call: string };
  forked: { run: string; until: number }[];
}

export function fold(records: RunRecord[]): RunView {
  const view: RunView = {
    id: records[0]?.run ?? "",
    goal: "",
    agent: "",
    model: "",
    instructions: "",
    said: [],
    hops: [],
    calls: new Map(),
    made: 0,
    startedAt: records[0]?.at ?? 0,
    lastAt: records[0]?.at ?? 0,
    paused: false,
    cancelled: false,
    usage: { inputTokens: 0, outputTokens: 0 },
    losses: {},
    forked: [],
  };
  for (const record of records) take(view, record);
  return view;
}

export function take(view: RunView, record: RunRecord): void {
  view.lastAt = Math.max(view.lastAt, record.at);
  switch (record.type) {
    case "runStarted":
      view.id = record.run;
      view.start = record;
      view.goal = record.goal;
      view.agent = record.agent.name ?? "";
      view.instructions = record.agent.instructions ?? "";
      view.model = record.model;
      view.startedAt = record.at;
      view.losses = record.shown?.losses ?? {};
      view.forked = record.forked ?? [];
      if (record.parent) view.parent = record.parent;
      break;
    case "userSaid":
      view.said.push({ at: record.at, text: record.text, hop: view.hops.length });
      delete view.finish;
      break;
    case "modelRequested":
      view.hops.push({
        hop: record.hop,
        why: record.why,
        offered: record.tools,
        requestedAt: record.at,
        text: "",
        reasoning: "",
        calls: [],
      });
      break;
    case "modelReplied":
      replied(view, record);
      break;
    case "callGated":
      gated(view, record);
      break;
    case "approvalRequested":
    case "userAsked":
      on(view, record.call, record.at, (call) => {
        const asked: Asked = { at: record.at };
        if (record.type === "userAsked") {
          asked.question = record.question;
          if (record.choices) asked.choices = record.choices;
        } else {
          asked.binding = record.binding;
          if (record.because !== undefined) asked.because = record.because;
        }
        if (record.expiresAt !== undefined) asked.expiresAt = record.expiresAt;
        call.asked.push(asked);
      });
      break;
    case "approvalDecided":
      on(view, record.call, record.at, (call) => {
        const asked = call.asked.at(-1);
        if (!asked) return;
        asked.decidedAt = record.at;
        asked.decision = record.decision.decision;
        if (record.decision.reason !== undefined) asked.reason = record.decision.reason;
        if (record.by !== undefined) asked.by = record.by;
        if (record.decision.decision === "reject" || record.decision.decision === "expired") {
          call.isOver = true;
        }
      });
      break;
    case "userAnswered":
      on(view, record.call, record.at, (call) => {
        const asked = call.asked.at(-1);
        if (!asked) return;
        asked.decidedAt = record.at;
        asked.decision = record.text === undefined ? "expired" : "answered";
        if (record.text !== undefined) asked.reason = record.text;
        if (record.by !== undefined) asked.by = record.by;
        call.isOver = true;
      });
      break;
    case "callStarted":
      started(view, record);
      break;
    case "callFinished":
      on(view, record.call, record.at, (call) => {
        const attempt = call.attempts.find((one) => one.attempt === record.attempt) ?? call.attempts.at(-1);
        if (!attempt) return;
        attempt.endedAt = record.at;
        for (const name of ["output", "failure", "wire", "raw", "used"] as const) {
          if (record[name] !== undefined) Object.assign(attempt, { [name]: record[name] });
        }
        call.isOver = true;
        call.isInDoubt = false;
      });
      break;
    case "resultPassed":
      on(view, record.call, record.at, (call) => {
        call.passed = { adjustments: record.adjustments ?? [], omissions: record.omissions ?? [] };
      });
      break;
    case "callInDoubt":
      on(view, record.call, record.at, (call) => {
        call.isInDoubt = true;
        call.isOver = false;
      });
      break;
    case "doubtResolved":
      on(view, record.call, record.at, (call) => {
        call.isInDoubt = false;
      });
      break;
    case "runPaused":
      view.paused = true;
      break;
    case "runResumed":
      view.paused = false;
      break;
    case "cancelRequested":
      view.cancelled = true;
      break;
    case "runFinished":
      view.finish = record;
      break;
    default:
      break;
  }
}

function replied(view: RunView, record: Extract<RunRecord, { type: "modelReplied" }>): void {
  const hop = view.hops.findLast((one) => one.hop === record.hop);
  if (!hop) return;
  hop.repliedAt = record.at;
  if (record.by !== undefined) hop.model = record.by;
  if (record.error) hop.error = record.error;
  if (record.exchange) hop.exchange = record.exchange;
  const reply = record.reply;
  if (!reply) return;
  hop.usage = reply.usage;
  hop.stop = reply.stop;
  view.usage.inputTokens += reply.usage.inputTokens;
  view.usage.outputTokens += reply.usage.outputTokens;
  for (const part of reply.content) {
    if (part.type === "text") hop.text += part.text;
    if (part.type === "reasoning") hop.reasoning += part.text;
  }
}

function gated(view: RunView, record: Extract<RunRecord, { type: "callGated" }>): void {
  const known = view.calls.get(record.call);
  const call = known ?? add(view, record.call, record.name, record.at);
  call.name = record.name;
  call.tool = record.tool ?? record.name;
  if (!record.edited && call.judged.length === 0) call.raw = record.raw;
  call.judged.push({
    seq: record.seq,
    at: record.at,
    raw: record.raw,
    edited: record.edited ?? false,
    adjustments: record.adjustments ?? [],
    verdict: record.verdict,
  });
  call.endedAt = record.at;
  if (record.verdict.verdict === "refused" || record.verdict.verdict === "answer") call.isOver = true;
}

function started(view: RunView, record: Extract<RunRecord, { type: "callStarted" }>): void {
  let call = view.calls.get(record.call);
  if (!call) {
    call = add(view, record.call, record.lookup?.tool ?? record.call, record.at);
    if (record.lookup) {
      call.lookupOf = record.lookup.of;
      call.raw = record.lookup.arguments;
    }
  }
  if (!record.lookup && call.attempts.length === 0) view.made += 1;
  call.attempts.push({
    attempt: record.attempt,
    startedAt: record.at,
    idempotencyKey: record.idempotencyKey,
  });
  call.endedAt = record.at;
}

function add(view: RunView, id: string, name: string, at: number): Call {
  const hop = view.hops.at(-1);
  const call: Call = {
    id,
    number: view.calls.size + 1,
    hop: hop?.hop ?? 0,
    name,
    tool: name,
    raw: "",
    judged: [],
    asked: [],
    attempts: [],
    isInDoubt: false,
    isOver: false,
    startedAt: at,
    endedAt: at,
  };
  view.calls.set(id, call);
  hop?.calls.push(call);
  return call;
}

function on(view: RunView, id: string, at: number, change: (call: Call) => void): void {
  const call = view.calls.get(id);
  if (!call) return;
  change(call);
  call.endedAt = Math.max(call.endedAt, at);
}

export function stateOf(call: Call, view: RunView): CallState {
  if (call.isInDoubt) return "in_doubt";
  const verdict = call.judged.at(-1)?.verdict.verdict;
  const last = call.attempts.at(-1);
  if (last && last.endedAt === undefined) return view.finish ? "skipped" : "running";
  if (last) return last.failure ? "failed" : "done";
  if (verdict === "refused") return "refused";
  if (verdict === "answer") return "answer";
  const asked = call.asked.at(-1);
  if (asked?.decision === "reject" || asked?.decision === "expired") return "rejected";
  if (asked?.decision === "answered") return "done";
  if (asked && asked.decision === undefined) return view.finish ? "skipped" : "waiting";
  return view.finish ? "skipped" : "judging";
}

/** The fault that a person looks for first: why the call was refused or failed. */
export function faultOf(call: Call): Fault | undefined {
  const verdict = call.judged.at(-1)?.verdict;
  if (verdict?.verdict === "refused") return verdict.fault;
  return call.attempts.at(-1)?.failure;
}

/** The arguments that passed the gates last. */
export function admittedOf(call: Call): string | undefined {
  const verdict = call.judged.at(-1)?.verdict;
  return verdict && verdict.verdict !== "refused" ? verdict.arguments : undefined;
}

export function runState(view: RunView): string {
  if (view.finish) return view.finish.status;
  let state = "running";
  for (const call of view.calls.values()) {
    const one = stateOf(call, view);
    if (one === "in_doubt") return "in_doubt";
    if (one === "waiting") state = "waiting";
  }
  return view.paused && state === "running" ? "paused" : state;
}
