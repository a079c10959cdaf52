// How a server's tools compare with what was accepted, as `callgate lock --json` tells it (docs/mcp.md).

export interface Drifted {
  server: string;
  pinned: boolean;
  drifted: boolean;
  unchanged: number;
  added?: { tool: string; description: string; flags?: Flag[] }[];
  removed?: string[];
  changed?: Changed[];
  unusable?: { tool?: string; pointer: string; reason: string }[];
  /** Why it could not be asked. */
  error?: string;
}

export interface Changed {
  tool: string;
  fields: string[];
  texts?: { field: string; diff: { op: "same" | "removed" | "added"; text: string }[] }[];
  input?: Effect;
  output?: Effect;
  annotations?: { hint: string; before: unknown; after: unknown }[];
  flags?: Flag[];
}

export interface Effect {
  relation: string;
  /** A value that only the new schema admits, and one that only the old one did. */
  onlyAfter?: unknown;
  onlyBefore?: unknown;
  edits: { pointer: string; before?: unknown; after?: unknown }[];
  more?: number;
}

export interface Flag {
  pointer: string;
  kind: string;
  codePoints?: string[];
  text: string;
}

export interface Health {
  state: {
    state: string;
    protocolVersion?: string;
    name?: string;
    version?: string;
    why?: string;
    stderr?: string;
  };
  restarts: number;
  faults: number;
}
