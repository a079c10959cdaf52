// A number for what each value says, so that equal parts are found without comparing them.
// Members count in any order, numbers by their worth, strings by their characters.

import { canonicalNumber } from "./number";
import { childrenOf, type Doc, Kind, lexeme, stringOf } from "./doc";

export function digests(doc: Doc): Float64Array {
  const out = new Float64Array(doc.count);
  // From the last to the first: a value's parts stand behind it.
  for (let node = doc.count - 1; node >= 0; node -= 1) {
    out[node] = digest(doc, node, out);
  }
  return out;
}

function digest(doc: Doc, node: number, known: Float64Array): number {
  switch (doc.kind[node]) {
    case Kind.Object: {
      let low = 17;
      let high = 31;
      for (const child of childrenOf(doc, node)) {
        const one = mix(hash(keyText(doc, child), 7), known[child]);
        low = (low + (one >>> 0)) >>> 0;
        high = (high + Math.floor(one / 0x1_0000_0000)) & 0x1f_ffff;
      }
      return join(low ^ 0x51ed27, high ^ doc.size[node]);
    }
    case Kind.Array: {
      let all = hash("[", 11);
      for (const child of childrenOf(doc, node)) all = mix(all, known[child]);
      return all;
    }
    case Kind.String: {
      const raw = lexeme(doc, node);
      return hash(raw.includes("\\") ? stringOf(doc, node) : raw.slice(1, -1), 3);
    }
    case Kind.Number:
      return hash(canonicalNumber(lexeme(doc, node)), 5);
    default:
      return hash(lexeme(doc, node), 9);
  }
}

function keyText(doc: Doc, child: number): string {
  const raw = doc.text.slice(doc.key[child] + 1, doc.keyEnd[child] - 1);
  return raw.includes("\\") ? (JSON.parse(`"${raw}"`) as string) : raw;
}

/** 53 bits (cyrb53). */
function hash(text: string, seed: number): number {
  let a = 0xdeadbeef ^ seed;
  let b = 0x41c6ce57 ^ seed;
  for (let i = 0; i < text.length; i += 1) {
    const c = text.charCodeAt(i);
    a = Math.imul(a ^ c, 2654435761);
    b = Math.imul(b ^ c, 1597334677);
  }
  return spread(a, b);
}

function mix(one: number, other: number): number {
  let a = (one >>> 0) ^ Math.imul(other >>> 0, 2654435761);
  let b = Math.floor(one / 0x1_0000_0000) ^ Math.imul(Math.floor(other / 0x1_0000_0000) + 1, 1597334677);
  a = Math.imul(a ^ (a >>> 15), 2246822519);
  b = Math.imul(b ^ (b >>> 13), 3266489917);
  return spread(a, b);
}

function spread(a: number, b: number): number {
  let low = Math.imul(a ^ (a >>> 16), 2246822507);
  low ^= Math.imul(b ^ (b >>> 13), 3266489909);
  let high = Math.imul(b ^ (b >>> 16), 2246822507);
  high ^= Math.imul(a ^ (a >>> 13), 3266489909);
  return join(low >>> 0, high & 0x1f_ffff);
}

function join(low: number, high: number): number {
  return (high & 0x1f_ffff) * 0x1_0000_0000 + (low >>> 0);
}
