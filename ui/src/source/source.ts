// Where runs come from: a server, or files that somebody opened. Views ask a source and do not
// care which.

import type { Inspection, RunRecord, Summary, Tool } from "../wire/types";

export interface Query {
  text?: string;
  agent?: string;
  states?: string[];
  verdict?: string;
  tool?: string;
}

export interface Page {
  runs: Summary[];
  next?: string;
}

/** An event with the line it came in. */
export interface Line {
  text: string;
  record: RunRecord;
}

export interface Watch {
  /** Events so far and those to come, a batch at a time. */
  onLines: (lines: Line[]) => void;
  /** More of a reply that is still coming. */
  onDelta?: (hop: number, text: string) => void;
  /** Whether the connection stands. */
  onState?: (state: "live" | "lost" | "over") => void;
}

/** A problem as the server tells it (RFC 9457). */
export class Problem extends Error {
  constructor(
    message: string,
    readonly hint?: string,
    readonly status?: number,
  ) {
    super(message);
  }
}

export interface Source {
  readonly isServer: boolean;
  runs(query: Query, after?: string): Promise<Page>;
  run(id: string): Promise<Summary>;
  watch(id: string, watch: Watch): () => void;
  inspection(id: string): Promise<Inspection>;
  catalog(): Promise<Tool[]>;
  /** The run as one file, to give away. */
  exported(id: string): Promise<string>;
}
