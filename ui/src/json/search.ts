// Where a text occurs in a document: in names and in values.

import { type Doc, Kind, keyOf, lexeme, stringOf } from "./doc";

export interface Found {
  nodes: Int32Array;
  /** Whether there are more than were looked for. */
  more: boolean;
}

export function search(doc: Doc, wanted: string, limit = 10_000): Found {
  const nodes: number[] = [];
  if (wanted === "") return { nodes: new Int32Array(0), more: false };
  const needle = wanted.toLowerCase();
  // A text without a backslash or quote is looked for in what is written, without decoding.
  const isPlain = !/["\\]/.test(needle);
  let more = false;
  for (let node = 0; node < doc.count; node += 1) {
    if (inKey(doc, node, needle, isPlain) || inValue(doc, node, needle, isPlain)) {
      if (nodes.length === limit) {
        more = true;
        break;
      }
      nodes.push(node);
    }
  }
  return { nodes: Int32Array.from(nodes), more };
}

function inKey(doc: Doc, node: number, needle: string, isPlain: boolean): boolean {
  const at = doc.key[node];
  if (at < 0) return false;
  const raw = doc.text.slice(at + 1, doc.keyEnd[node] - 1);
  if (isPlain && !raw.includes("\\")) return raw.toLowerCase().includes(needle);
  return (keyOf(doc, node) ?? "").toLowerCase().includes(needle);
}

function inValue(doc: Doc, node: number, needle: string, isPlain: boolean): boolean {
  const kind = doc.kind[node];
  if (kind <= Kind.Array) return false;
  const raw = lexeme(doc, node);
  if (kind !== Kind.String) return raw.includes(needle);
  if (isPlain && !raw.includes("\\")) return raw.slice(1, -1).toLowerCase().includes(needle);
  return stringOf(doc, node).toLowerCase().includes(needle);
}
