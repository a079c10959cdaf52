// Heavy work on documents, off the main thread. Documents stay here under a number.

import { childrenOf, type Doc, findAll, keyOf } from "./doc";
import { type Format, format } from "./format";
import { merge, type Merged } from "./merge";
import { type Scanned, scan } from "./scan";
import { type Found, search } from "./search";
import { unwrap } from "./unwrap";

export interface Operations {
  open: (input: { text: string }) => Opened;
  close: (input: { handle: number }) => void;
  format: (input: { handle: number; options: Format }) => string;
  search: (input: { handle: number; text: string }) => Found;
  unwrap: (input: { handle: number }) => { text: string; count: number };
  merge: (input: { handles: number[] }) => Merged;
  query: (input: { handle: number; path: string }) => Promise<Queried>;
  /** An object's text without one of its members. */
  without: (input: { text: string; name: string }) => string;
}

export type Opened = { handle: number; scanned: Scanned };
/** Values of the document, in the order of RFC 9535; or why the path is none. */
export type Queried = { nodes: Int32Array; fault?: undefined } | { nodes?: undefined; fault: string };

export interface Question {
  id: number;
  operation: keyof Operations;
  input: unknown;
}
export type Answer = { id: number; value: unknown } | { id: number; error: string };

const docs = new Map<number, Doc>();
let next = 1;

function doc(handle: number): Doc {
  const found = docs.get(handle);
  if (!found) throw new Error("this document was closed");
  return found;
}

const operations: Operations = {
  open({ text }) {
    const scanned = scan(text);
    const handle = next++;
    if (scanned.doc) docs.set(handle, scanned.doc);
    return { handle, scanned };
  },
  close({ handle }) {
    docs.delete(handle);
  },
  format: ({ handle, options }) => format(doc(handle), options),
  search: ({ handle, text }) => search(doc(handle), text),
  unwrap: ({ handle }) => unwrap(doc(handle)),
  merge: ({ handles }) => merge(handles.map(doc)),
  async query({ handle, path }) {
    const { query } = await import("./query");
    const asked = doc(handle);
    const { pointers, fault } = query(asked.text, path);
    return pointers === undefined ? { fault } : { nodes: findAll(asked, pointers) };
  },
  without({ text, name }) {
    const whole = scan(text).doc;
    if (!whole) return text;
    const members = [...childrenOf(whole, 0)].filter((child) => keyOf(whole, child) !== name);
    return `{${members.map((child) => text.slice(whole.key[child], whole.end[child])).join(",")}}`;
  },
};

export async function perform(question: Question): Promise<Answer> {
  const { id, operation, input } = question;
  try {
    const value = await (operations[operation] as (input: unknown) => unknown)(input);
    return { id, value };
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) };
  }
}

// In a page this module is also loaded without a worker (a page that may start none).
if (typeof document === "undefined" && typeof self !== "undefined") {
  self.onmessage = async (event: MessageEvent<Question>) => {
    self.postMessage(await perform(event.data));
  };
}
