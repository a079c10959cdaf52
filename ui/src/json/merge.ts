// Two or three documents laid on one another: members by name, elements by what they are.
//
// The result is one tree whose nodes know their place in each document. Elements of lists are
// matched by an id that they carry (`id`, `key`, `name`), else by what they say, so that one
// element taken out is one difference and not a thousand.

import { canonicalNumber } from "./number";
import { digests } from "./digest";
import { childrenOf, type Doc, Kind, keyOf, lexeme, stringOf } from "./doc";

export enum Mark {
  /** The same in all. */
  Same = 0,
  /** Something within differs. */
  Within = 1,
  /** Other values. */
  Changed = 2,
  /** Not in all of them. */
  Missing = 3,
  /** The same value in another spelling: `1.0` and `1`. */
  Spelled = 4,
}

export interface Merged {
  count: number;
  /** For each document, its node here; -1 where it has none. */
  nodes: Int32Array[];
  mark: Uint8Array;
  parent: Int32Array;
  last: Int32Array;
  /** Nodes that are themselves changed, missing or spelled otherwise, in order. */
  differences: Int32Array;
}

interface Side {
  doc: Doc;
  digest: Float64Array;
}

const IDS = ["id", "key", "name", "uuid", "path"];

/** Longest lists that are matched step by step; longer ones are matched by ids and equal elements. */
const STEPS = 4_000_000;

export function merge(docs: Doc[]): Merged {
  const sides = docs.map((doc) => ({ doc, digest: digests(doc) }));
  const out: { nodes: number[][]; mark: number[]; parent: number[]; last: number[] } = {
    nodes: docs.map(() => []),
    mark: [],
    parent: [],
    last: [],
  };
  const differences: number[] = [];

  const put = (at: number[], parent: number): Mark => {
    const id = out.mark.length;
    at.forEach((node, i) => {
      out.nodes[i].push(node);
    });
    out.mark.push(Mark.Same);
    out.parent.push(parent);
    out.last.push(id);
    let mark = markOf(sides, at);
    // What is missing somewhere is one difference: its parts are shown, and not counted again.
    const isGap = mark === Mark.Missing;
    const present = at.flatMap((node, i) => (node >= 0 ? [{ side: sides[i], node, i }] : []));
    const kinds = new Set(present.map(({ side, node }) => side.doc.kind[node]));
    const kind = present.length > 0 ? present[0].side.doc.kind[present[0].node] : Kind.Null;
    if (kinds.size === 1 && kind <= Kind.Array) {
      const slots = kind === Kind.Object ? members(sides, at) : elements(sides, at);
      for (const slot of slots) {
        const within = put(slot, id);
        if (within !== Mark.Same && mark === Mark.Same) mark = Mark.Within;
      }
    }
    if (isGap && parent >= 0 && out.mark[parent] === Mark.Missing) mark = Mark.Missing;
    out.mark[id] = mark;
    out.last[id] = out.mark.length - 1;
    return mark;
  };
  put(
    docs.map(() => 0),
    -1,
  );
  // Counted in a second walk: a parent's mark is known only after its parts.
  for (let id = 0; id < out.mark.length; id += 1) {
    const mark = out.mark[id];
    if (mark === Mark.Changed || mark === Mark.Spelled) differences.push(id);
    if (mark === Mark.Missing && (out.parent[id] < 0 || out.mark[out.parent[id]] !== Mark.Missing)) {
      differences.push(id);
    }
  }
  return {
    count: out.mark.length,
    nodes: out.nodes.map((nodes) => Int32Array.from(nodes)),
    mark: Uint8Array.from(out.mark),
    parent: Int32Array.from(out.parent),
    last: Int32Array.from(out.last),
    differences: Int32Array.from(differences),
  };
}

function markOf(sides: Side[], at: number[]): Mark {
  if (at.some((node) => node < 0)) return Mark.Missing;
  const first = sides[0];
  const kind = first.doc.kind[at[0]];
  for (let i = 1; i < at.length; i += 1) {
    if (sides[i].doc.kind[at[i]] !== kind) return Mark.Changed;
  }
  if (kind <= Kind.Array) return Mark.Same;
  const texts = at.map((node, i) => lexeme(sides[i].doc, node));
  if (texts.every((text) => text === texts[0])) return Mark.Same;
  const worth = at.map((node, i) => {
    const { doc } = sides[i];
    return kind === Kind.String ? stringOf(doc, node) : canonicalNumber(lexeme(doc, node));
  });
  return worth.every((text) => text === worth[0]) ? Mark.Spelled : Mark.Changed;
}

function members(sides: Side[], at: number[]): number[][] {
  const slots = new Map<string, number[]>();
  at.forEach((node, i) => {
    if (node < 0) return;
    for (const child of childrenOf(sides[i].doc, node)) {
      const key = keyOf(sides[i].doc, child) ?? "";
      let slot = slots.get(key);
      if (!slot) {
        slot = at.map(() => -1);
        slots.set(key, slot);
      }
      // Of a name that stands twice the last counts, as with most parsers.
      slot[i] = child;
    }
  });
  return [...slots.values()];
}

function elements(sides: Side[], at: number[]): number[][] {
  let slots: number[][] = [];
  let isFirst = true;
  at.forEach((node, i) => {
    if (node < 0) return;
    const list = [...childrenOf(sides[i].doc, node)];
    if (isFirst) {
      slots = list.map((child) => at.map((_, j) => (j === i ? child : -1)));
      isFirst = false;
      return;
    }
    slots = align(sides, slots, list, i, at.length);
  });
  return slots;
}

/** What an element is known by: its id among its like, else what it says. */
function identities(side: Side, list: number[]): (number | string)[] {
  for (const name of IDS) {
    const ids = list.map((node) => idOf(side.doc, node, name));
    if (ids.every((id) => id !== undefined) && new Set(ids).size === ids.length) {
      return ids.map((id) => `${name} ${id}`);
    }
  }
  return list.map((node) => side.digest[node]);
}

function idOf(doc: Doc, node: number, name: string): string | undefined {
  if (doc.kind[node] !== Kind.Object) return undefined;
  for (const child of childrenOf(doc, node)) {
    const kind = doc.kind[child];
    if ((kind === Kind.String || kind === Kind.Number) && keyOf(doc, child) === name) {
      return lexeme(doc, child);
    }
  }
  return undefined;
}

function align(sides: Side[], slots: number[][], list: number[], i: number, width: number): number[][] {
  const head = (slot: number[]): [Side, number] => {
    const j = slot.findIndex((node) => node >= 0);
    return [sides[j], slot[j]];
  };
  const firstSide = slots.length > 0 ? head(slots[0])[0] : sides[0];
  const left = identities(
    firstSide,
    slots.map((slot) => head(slot)[1]),
  );
  const right = identities(sides[i], list);
  const pairs = matched(left, right);
  const out: number[][] = [];
  let a = 0;
  let b = 0;
  // Between two matches: what is on both sides is a changed element, in order, if it is alike.
  const gap = (untilA: number, untilB: number): void => {
    while (a < untilA && b < untilB && alike(head(slots[a]), [sides[i], list[b]])) {
      out.push(withNode(slots[a], i, list[b]));
      a += 1;
      b += 1;
    }
    for (; a < untilA; a += 1) out.push(slots[a]);
    for (; b < untilB; b += 1) out.push(withNode(new Array<number>(width).fill(-1), i, list[b]));
  };
  for (const [pa, pb] of pairs) {
    gap(pa, pb);
    out.push(withNode(slots[pa], i, list[pb]));
    a = pa + 1;
    b = pb + 1;
  }
  gap(slots.length, list.length);
  return out;
}

function withNode(slot: number[], i: number, node: number): number[] {
  const out = slot.slice();
  out[i] = node;
  return out;
}

function alike([a, x]: [Side, number], [b, y]: [Side, number]): boolean {
  return a.doc.kind[x] === b.doc.kind[y];
}

/** Equal elements in order: a longest common subsequence, or what comes near to it in long lists. */
function matched(left: (number | string)[], right: (number | string)[]): [number, number][] {
  const pairs: [number, number][] = [];
  let from = 0;
  while (from < left.length && from < right.length && left[from] === right[from]) {
    pairs.push([from, from]);
    from += 1;
  }
  let endA = left.length;
  let endB = right.length;
  const tail: [number, number][] = [];
  while (endA > from && endB > from && left[endA - 1] === right[endB - 1]) {
    endA -= 1;
    endB -= 1;
    tail.push([endA, endB]);
  }
  const a = left.slice(from, endA);
  const b = right.slice(from, endB);
  const middle = a.length * b.length <= STEPS ? common(a, b) : unique(a, b);
  for (const [x, y] of middle) pairs.push([x + from, y + from]);
  return [...pairs, ...tail.reverse()];
}

function common(a: (number | string)[], b: (number | string)[]): [number, number][] {
  const width = b.length + 1;
  const table = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      table[i * width + j] =
        a[i] === b[j]
          ? table[(i + 1) * width + j + 1] + 1
          : Math.max(table[(i + 1) * width + j], table[i * width + j + 1]);
    }
  }
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (table[(i + 1) * width + j] >= table[i * width + j + 1]) i += 1;
    else j += 1;
  }
  return pairs;
}

/** Elements that are there once on each side, as long as their order is kept (patience). */
function unique(a: (number | string)[], b: (number | string)[]): [number, number][] {
  const once = (list: (number | string)[]): Map<number | string, number> => {
    const seen = new Map<number | string, number>();
    list.forEach((value, at) => {
      seen.set(value, seen.has(value) ? -1 : at);
    });
    return seen;
  };
  const inB = once(b);
  const candidates: [number, number][] = [];
  for (const [value, at] of once(a)) {
    const there = inB.get(value) ?? -1;
    if (at >= 0 && there >= 0) candidates.push([at, there]);
  }
  // The longest run of candidates that grows on both sides.
  const ends: number[] = [];
  const before: number[] = [];
  candidates.forEach(([, y], at) => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (candidates[ends[mid]][1] < y) low = mid + 1;
      else high = mid;
    }
    before[at] = low > 0 ? ends[low - 1] : -1;
    ends[low] = at;
  });
  const pairs: [number, number][] = [];
  for (let at = ends.length > 0 ? ends[ends.length - 1] : -1; at >= 0; at = before[at]) {
    pairs.push(candidates[at]);
  }
  return pairs.reverse();
}
