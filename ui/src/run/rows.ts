// A run as rows of a timeline, in order: what the user said, each hop, its calls, its waits, the end.

import type { Call, Hop, RunView } from "./fold";

export type Row =
  | { kind: "said"; key: string; text: string; at: number; until: number }
  | { kind: "hop"; key: string; hop: Hop; at: number; until: number }
  | { kind: "call"; key: string; call: Call; at: number; until: number }
  | { kind: "end"; key: string; at: number; until: number };

export function rowsOf(view: RunView): Row[] {
  const rows: Row[] = [];
  if (view.goal) {
    rows.push({ kind: "said", key: "goal", text: view.goal, at: view.startedAt, until: view.startedAt });
  }
  let said = 0;
  view.hops.forEach((hop, i) => {
    for (; said < view.said.length && view.said[said].hop <= i; said += 1) {
      const { text, at } = view.said[said];
      rows.push({ kind: "said", key: `said-${said}`, text, at, until: at });
    }
    rows.push({
      kind: "hop",
      key: `hop-${i}`,
      hop,
      at: hop.requestedAt,
      until: hop.repliedAt ?? view.lastAt,
    });
    for (const call of hop.calls) {
      const until = call.isOver ? call.endedAt : view.finish ? call.endedAt : view.lastAt;
      rows.push({ kind: "call", key: `call-${call.id}`, call, at: call.startedAt, until });
    }
  });
  if (view.finish) rows.push({ kind: "end", key: "end", at: view.lastAt, until: view.lastAt });
  return rows;
}

/** The axis: time, with long silences folded, so that a run that waited for days can be read. */
export interface Axis {
  place: (at: number) => number;
  folds: { from: number; until: number; place: number }[];
  length: number;
}

/** A silence longer than this, and longer than all the work, is folded. */
const SILENCE = 5_000;
const FOLDED = 0.04;

export function axisOf(view: RunView, rows: Row[]): Axis {
  const from = view.startedAt;
  const until = Math.max(view.lastAt, from + 1);
  // Where something is at work: models asked, tools called. Waiting for people is silence.
  const spans: [number, number][] = [];
  for (const row of rows) {
    if (row.kind === "hop") spans.push([row.at, row.until]);
    if (row.kind === "call")
      for (const one of row.call.attempts) spans.push([one.startedAt, one.endedAt ?? until]);
  }
  spans.sort((a, b) => a[0] - b[0]);
  const gaps: [number, number][] = [];
  let end = from;
  let busy = 0;
  for (const [a, b] of spans) {
    if (a > end) gaps.push([end, a]);
    busy += Math.max(0, b - Math.max(a, end));
    end = Math.max(end, b);
  }
  if (until > end) gaps.push([end, until]);
  const folded = gaps.filter(([a, b]) => b - a > Math.max(SILENCE, busy));
  const silent = folded.reduce((sum, [a, b]) => sum + (b - a), 0);
  const rest = Math.max(1, until - from - silent);
  const each = folded.length > 0 ? Math.min(FOLDED, 0.5 / folded.length) : 0;
  const scale = (1 - each * folded.length) / rest;
  const place = (at: number): number => {
    let x = 0;
    let last = from;
    for (const [a, b] of folded) {
      if (at <= a) break;
      x += (a - last) * scale;
      if (at < b) return x + each * ((at - a) / (b - a));
      x += each;
      last = b;
    }
    return Math.min(1, Math.max(0, x + (at - last) * scale));
  };
  return {
    place,
    folds: folded.map(([a, b]) => ({ from: a, until: b, place: place(a) })),
    length: until - from,
  };
}
