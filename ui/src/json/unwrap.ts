// JSON within strings, taken out: what a tool wrapped once too often.

import { type Doc, Kind, childrenOf, isContainer, lexeme, stringOf } from "./doc";
import { scan } from "./scan";

/** The document inside a string, where it holds an object or a list. */
export function inner(doc: Doc, node: number): Doc | undefined {
  if (doc.kind[node] !== Kind.String) return undefined;
  // Quick refusals first: most strings are words.
  const head = /^"\s*(?:\\[nrt]\s*)*[[{]/.test(doc.text.slice(doc.start[node], doc.start[node] + 64));
  if (!head) return undefined;
  const found = scan(stringOf(doc, node)).doc;
  return found && isContainer(found, 0) ? found : undefined;
}

/** The document with every such string unwrapped, as often as it takes, and how many there were. */
export function unwrap(doc: Doc): { text: string; count: number } {
  const out: string[] = [];
  const count = write(doc, 0, out);
  return { text: out.join(""), count };
}

function write(doc: Doc, node: number, out: string[]): number {
  const within = inner(doc, node);
  if (within) return 1 + write(within, 0, out);
  if (!isContainer(doc, node)) {
    out.push(lexeme(doc, node));
    return 0;
  }
  // What stands between values is kept as it is.
  let at = doc.start[node];
  let count = 0;
  for (const child of childrenOf(doc, node)) {
    out.push(doc.text.slice(at, doc.start[child]));
    count += write(doc, child, out);
    at = doc.end[child];
  }
  out.push(doc.text.slice(at, doc.end[node]));
  return count;
}
