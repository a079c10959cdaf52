// A JSON text with an index of its values, in document order. The text is the truth: numbers and
// strings are shown as they were written, so no digit is ever lost. One entry a value, in typed
// arrays, because a document of 10 MB has half a million of them and has to cross to a worker.

export enum Kind {
  Object = 0,
  Array = 1,
  String = 2,
  Number = 3,
  True = 4,
  False = 5,
  Null = 6,
}

export interface Doc {
  text: string;
  count: number;
  kind: Uint8Array;
  /** Where the value begins and ends in the text. */
  start: Int32Array;
  end: Int32Array;
  /** Where its member's name begins, at the quote; -1 where it has none. */
  key: Int32Array;
  keyEnd: Int32Array;
  /** The value that holds it; -1 for the root. */
  parent: Int32Array;
  /** The last value within it, itself where it holds none: the next sibling is one further. */
  last: Int32Array;
  /** How many values it holds. */
  size: Int32Array;
  /** Its place among those of its parent, from 0. */
  place: Int32Array;
}

export interface JsonFault {
  offset: number;
  line: number;
  column: number;
  message: string;
}

export function isContainer(doc: Doc, node: number): boolean {
  return doc.kind[node] <= Kind.Array;
}

/** The value as it is written. */
export function lexeme(doc: Doc, node: number): string {
  return doc.text.slice(doc.start[node], doc.end[node]);
}

/** A string's characters. */
export function stringOf(doc: Doc, node: number): string {
  return JSON.parse(lexeme(doc, node)) as string;
}

/** The name of its member, decoded; nothing for elements and the root. */
export function keyOf(doc: Doc, node: number): string | undefined {
  const at = doc.key[node];
  if (at < 0) return undefined;
  return JSON.parse(doc.text.slice(at, doc.keyEnd[node])) as string;
}

/** The values that one holds, in order. */
export function* childrenOf(doc: Doc, node: number): Generator<number> {
  if (!isContainer(doc, node)) return;
  for (let child = node + 1; child <= doc.last[node]; child = doc.last[child] + 1) yield child;
}

/** A step of a JSON Pointer (RFC 6901). */
export function escapeStep(step: string): string {
  return step.replaceAll("~", "~0").replaceAll("/", "~1");
}

export function unescapeStep(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** Where a value is, as a JSON Pointer. */
export function pointerOf(doc: Doc, node: number): string {
  const steps: string[] = [];
  for (let at = node; doc.parent[at] >= 0; at = doc.parent[at]) {
    steps.push(escapeStep(keyOf(doc, at) ?? String(doc.place[at])));
  }
  return steps
    .reverse()
    .map((step) => `/${step}`)
    .join("");
}

/** The value at a JSON Pointer; the nearest one above it where `nearest`. */
export function find(doc: Doc, pointer: string, nearest = false): number | undefined {
  let at = 0;
  if (pointer === "") return at;
  for (const step of pointer.split("/").slice(1).map(unescapeStep)) {
    let next: number | undefined;
    for (const child of childrenOf(doc, at)) {
      if ((keyOf(doc, child) ?? String(doc.place[child])) === step) next = child;
    }
    if (next === undefined) return nearest ? at : undefined;
    at = next;
  }
  return at;
}

/** The values at many pointers: what holds a step is looked through once. */
export function findAll(doc: Doc, pointers: string[]): Int32Array {
  const known = new Map<number, Map<string, number>>();
  const within = (node: number): Map<string, number> => {
    let children = known.get(node);
    if (!children) {
      children = new Map();
      for (const child of childrenOf(doc, node))
        children.set(keyOf(doc, child) ?? String(doc.place[child]), child);
      known.set(node, children);
    }
    return children;
  };
  const nodes: number[] = [];
  for (const pointer of pointers) {
    let at: number | undefined = 0;
    for (const step of pointer.split("/").slice(1)) {
      if (at !== undefined) at = within(at).get(unescapeStep(step));
    }
    if (at !== undefined) nodes.push(at);
  }
  return Int32Array.from(nodes);
}

export function positionOf(text: string, offset: number): { line: number; column: number } {
  let line = 1;
  let from = 0;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) {
    line += 1;
    from = at + 1;
  }
  return { line, column: offset - from + 1 };
}
