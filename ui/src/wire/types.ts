// Events of a run as the journal has them (`callgate schema event`), as far as the inspector reads
// them. Of an event that is not here the line is still shown.

export interface Usage {
  inputTokens: number;
  outputTokens: number;
  cachedTokens?: number;
  reasoningTokens?: number;
}

export interface Violation {
  path: string;
  keyword: string;
  expected?: unknown;
  got?: unknown;
  suggestion?: unknown;
  message?: string;
}

export interface Fault {
  kind: string;
  message: string;
  hint?: string;
  retryable?: boolean;
  executed?: boolean | "unknown";
  reason?: string;
  offset?: number;
  path?: string;
  got?: string;
  violations?: Violation[];
  rule?: string;
  suggestion?: string;
  available?: string[];
}

export interface Adjustment {
  name: string;
  path?: string;
  to?: string;
}

export type Part =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "call"; id: string; name: string; arguments: string }
  | { type: "opaque"; provider: string; json: string };

export interface Reply {
  content: Part[];
  stop: string;
  usage: Usage;
  model?: string;
  notes?: unknown[];
}

export interface ProviderError {
  kind: string;
  message: string;
  status?: number;
}

export type Verdict =
  | { verdict: "admitted"; arguments: string; tier: string; because?: string }
  | { verdict: "asking"; arguments: string; rule: number; question: string }
  | { verdict: "answer"; arguments: string }
  | { verdict: "refused"; fault: Fault };

export type Content =
  | { type: "text"; text: string }
  | { type: "image" | "audio"; mediaType?: string; data?: string }
  | { type: "link"; uri?: string; name?: string };

export interface Output {
  content?: Content[];
  structured?: string;
}

export type Omission =
  | { items: { path: string; kept: number; total: number } }
  | { bytes: { kept: number; total: number } }
  | "unselected";

export interface Finish {
  status: string;
  stoppedBy?: string;
  text?: string;
  value?: string;
  fault?: Fault;
  provider?: ProviderError;
  skipped?: string[];
  hops: number;
  calls: number;
  usage: Usage;
  usd?: number;
}

export interface Exchange {
  request?: unknown;
  response?: unknown;
  status?: number;
}

export type Event =
  | {
      type: "runStarted";
      agent: { name?: string; instructions?: string; budget?: Record<string, number | null> };
      model: string;
      goal: string;
      caller?: unknown;
      tools?: Record<string, string>;
      shown?: { losses?: Record<string, string[]>; fellBack?: Record<string, string> };
      fallbacks?: string[];
      parent?: { run: string; call: string };
      forked?: { run: string; until: number }[];
    }
  | { type: "userSaid"; text: string }
  | { type: "modelRequested"; hop: number; why: string; tools: string[]; toolChoice: unknown }
  | {
      type: "modelReplied";
      hop: number;
      reply?: Reply;
      error?: ProviderError;
      by?: string;
      passedOver?: { model: string; error: ProviderError }[];
      exchange?: Exchange;
    }
  | {
      type: "callGated";
      call: string;
      name: string;
      tool?: string;
      raw: string;
      edited?: boolean;
      adjustments?: Adjustment[];
      verdict: Verdict;
    }
  | { type: "approvalRequested"; call: string; binding: string; because?: string; expiresAt?: number }
  | {
      type: "approvalDecided";
      call: string;
      binding: string;
      decision: { decision: "approve" | "reject" | "edit" | "expired"; reason?: string; arguments?: string };
      by?: string;
    }
  | { type: "userAsked"; call: string; question: string; choices?: string[]; expiresAt?: number }
  | { type: "userAnswered"; call: string; text?: string; by?: string }
  | {
      type: "callStarted";
      call: string;
      attempt: number;
      idempotencyKey: string;
      lookup?: { of: string; tool: string; arguments: string };
    }
  | {
      type: "callFinished";
      call: string;
      attempt: number;
      output?: Output;
      failure?: Fault;
      wire?: string;
      raw?: string;
      used?: string;
      spent?: { usage: Usage; usd?: number };
    }
  | { type: "resultPassed"; call: string; adjustments?: Adjustment[]; omissions?: Omission[] }
  | { type: "callInDoubt"; call: string; attempt: number; policy?: unknown }
  | { type: "doubtResolved"; call: string; resolution: unknown; by?: string }
  | { type: "pauseRequested"; by?: string }
  | { type: "runResumed"; by?: string; model?: string; catalog?: string }
  | { type: "cancelRequested"; by?: string }
  | { type: "runPaused"; by?: string }
  | ({ type: "runFinished" } & Finish);

export interface Place {
  run: string;
  seq: number;
  at: number;
}

export type RunRecord = Place & Event;

export interface Tool {
  name: string;
  version?: string;
  description: string;
  input: unknown;
  output?: unknown;
  tier?: unknown;
  annotations?: Record<string, boolean>;
  backend?: unknown;
  rules?: { id: string; message?: string }[];
}

export interface Open {
  call: string;
  want: "approval" | "answer" | "doubt";
}

export interface Summary {
  run: string;
  agent: string;
  model: string;
  goal: string;
  state: string;
  open?: Open[];
  paused: boolean;
  startedAt: number;
  updatedAt: number;
  events: number;
  hops: number;
  calls: number;
  tokens: number;
  parent?: string;
  note?: string;
}

/** Where an argument's value came from. */
export interface Origin {
  path: string;
  from: "user" | "instructions" | "result" | "tool" | "model";
  /** The call whose result it is, or the words it stands in. */
  call?: string;
  at?: string;
  match?: string;
}

/** What the doctor found. */
export interface Finding {
  symptom: string;
  hop?: number;
  seq?: number;
  call?: string;
  tool?: string;
  evidence: string;
  fix: string;
}

/** What is worked out of a run's events by the machine, not by the page. */
export interface Inspection {
  /** What the model read of each call. */
  read?: Record<string, string>;
  provenance?: Record<string, Origin[]>;
  /** The definitions as the model's provider was shown them. */
  offered?: Record<string, { definition: unknown; losses: string[]; contract?: Tool }>;
  doctor?: Finding[];
}
