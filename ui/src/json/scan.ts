// A JSON text to its index (RFC 8259). Strict: what it takes, the server's parser takes.

import { type Doc, type JsonFault, Kind, positionOf } from "./doc";

export type Scanned = { doc: Doc; fault?: undefined } | { doc?: undefined; fault: JsonFault };

/** Deeper than any document that people read; the server stops earlier. */
const DEEPEST = 20_000;

class Growing {
  kind = new Uint8Array(1024);
  start = new Int32Array(1024);
  end = new Int32Array(1024);
  key = new Int32Array(1024);
  keyEnd = new Int32Array(1024);
  parent = new Int32Array(1024);
  last = new Int32Array(1024);
  size = new Int32Array(1024);
  place = new Int32Array(1024);
  count = 0;

  add(kind: Kind, start: number, key: number, keyEnd: number, parent: number): number {
    const node = this.count;
    if (node === this.kind.length) this.grow();
    this.kind[node] = kind;
    this.start[node] = start;
    this.key[node] = key;
    this.keyEnd[node] = keyEnd;
    this.parent[node] = parent;
    this.last[node] = node;
    if (parent >= 0) this.place[node] = this.size[parent]++;
    this.count = node + 1;
    return node;
  }

  private grow(): void {
    const length = this.kind.length * 2;
    const kind = new Uint8Array(length);
    kind.set(this.kind);
    this.kind = kind;
    for (const name of ["start", "end", "key", "keyEnd", "parent", "last", "size", "place"] as const) {
      const larger = new Int32Array(length);
      larger.set(this[name]);
      this[name] = larger;
    }
  }

  done(text: string): Doc {
    const n = this.count;
    return {
      text,
      count: n,
      kind: this.kind.slice(0, n),
      start: this.start.slice(0, n),
      end: this.end.slice(0, n),
      key: this.key.slice(0, n),
      keyEnd: this.keyEnd.slice(0, n),
      parent: this.parent.slice(0, n),
      last: this.last.slice(0, n),
      size: this.size.slice(0, n),
      place: this.place.slice(0, n),
    };
  }
}

class Fault extends Error {
  constructor(
    readonly offset: number,
    message: string,
  ) {
    super(message);
  }
}

export function scan(text: string): Scanned {
  try {
    return { doc: scanned(text) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const { offset, message } = error;
    return { fault: { offset, message, ...positionOf(text, offset) } };
  }
}

function scanned(text: string): Doc {
  const out = new Growing();
  let at = space(text, 0);
  let parent = -1;
  let depth = 0;
  let key = -1;
  let keyEnd = -1;
  for (;;) {
    // A value begins here.
    const c = text.charCodeAt(at);
    let closed: number;
    if (c === 0x7b || c === 0x5b) {
      const isObject = c === 0x7b;
      const node = out.add(isObject ? Kind.Object : Kind.Array, at, key, keyEnd, parent);
      depth += 1;
      if (depth > DEEPEST) throw new Fault(at, `nested more than ${DEEPEST} levels deep`);
      at = space(text, at + 1);
      if (text.charCodeAt(at) !== (isObject ? 0x7d : 0x5d)) {
        parent = node;
        if (isObject) {
          [key, keyEnd, at] = name(text, at);
        } else {
          key = keyEnd = -1;
        }
        continue;
      }
      at += 1;
      out.end[node] = at;
      depth -= 1;
      closed = node;
    } else {
      const [kind, end] = scalar(text, at, c);
      const node = out.add(kind, at, key, keyEnd, parent);
      out.end[node] = end;
      at = end;
      closed = node;
    }
    // A value has ended; with it, perhaps, those that hold it.
    for (;;) {
      if (parent >= 0) out.last[parent] = out.last[closed];
      at = space(text, at);
      if (parent < 0) {
        if (at < text.length) throw new Fault(at, `${shown(text, at)} after the end of the document`);
        return out.done(text);
      }
      const isObject = out.kind[parent] === Kind.Object;
      const next = text.charCodeAt(at);
      if (next === 0x2c) {
        at = space(text, at + 1);
        if (isObject) {
          [key, keyEnd, at] = name(text, at);
        } else {
          key = keyEnd = -1;
        }
        break;
      }
      if (next !== (isObject ? 0x7d : 0x5d)) {
        throw new Fault(at, `expected "," or "${isObject ? "}" : "]"}", found ${shown(text, at)}`);
      }
      at += 1;
      out.end[parent] = at;
      depth -= 1;
      closed = parent;
      parent = out.parent[parent];
    }
  }
}

function space(text: string, from: number): number {
  let at = from;
  for (;;) {
    const c = text.charCodeAt(at);
    if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return at;
    at += 1;
  }
}

/** A member's name and its colon: where the name begins and ends, and where the value begins. */
function name(text: string, at: number): [number, number, number] {
  if (text.charCodeAt(at) !== 0x22) {
    throw new Fault(at, `expected a member's name in double quotes, found ${shown(text, at)}`);
  }
  const end = string(text, at);
  const colon = space(text, end);
  if (text.charCodeAt(colon) !== 0x3a) {
    throw new Fault(colon, `expected ":" after a member's name, found ${shown(text, colon)}`);
  }
  return [at, end, space(text, colon + 1)];
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

function scalar(text: string, at: number, c: number): [Kind, number] {
  if (c === 0x22) return [Kind.String, string(text, at)];
  if (c === 0x2d || (c >= 0x30 && c <= 0x39)) {
    NUMBER.lastIndex = at;
    if (!NUMBER.test(text)) throw new Fault(at, `not a JSON number: ${shown(text, at)}`);
    const end = NUMBER.lastIndex;
    if (/[0-9a-zA-Z.+-]/.test(text.charAt(end))) {
      throw new Fault(at, `not a JSON number: ${text.slice(at, end + 1)}`);
    }
    return [Kind.Number, end];
  }
  for (const [word, kind] of WORDS) {
    if (text.startsWith(word, at)) return [kind, at + word.length];
  }
  throw new Fault(at, `expected a value, found ${shown(text, at)}`);
}

const WORDS: [string, Kind][] = [
  ["true", Kind.True],
  ["false", Kind.False],
  ["null", Kind.Null],
];

function string(text: string, from: number): number {
  let at = from + 1;
  for (;;) {
    const c = text.charCodeAt(at);
    if (c === 0x22) return at + 1;
    if (c === 0x5c) {
      const e = text.charAt(at + 1);
      if (e === "u") {
        if (!/^[0-9a-fA-F]{4}$/.test(text.slice(at + 2, at + 6))) {
          throw new Fault(at, "\\u needs four hexadecimal digits");
        }
        at += 6;
      } else if (e !== "" && '"\\/bfnrt'.includes(e)) {
        at += 2;
      } else {
        throw new Fault(at, `no such escape: \\${e}`);
      }
    } else if (c >= 0x20) {
      at += 1;
    } else if (Number.isNaN(c)) {
      throw new Fault(from, "a string that does not end");
    } else {
      throw new Fault(at, "a control character in a string has to be escaped");
    }
  }
}

function shown(text: string, at: number): string {
  if (at >= text.length) return "the end of the text";
  return JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0));
}
