// JSONPath (RFC 9535) over a document; a chunk of its own, loaded when somebody asks.

import { exec } from "jsonpath-rfc9535";
import { escapeStep } from "./doc";

/** Pointers into the document, or why the path is none. */
export type Pointers = { pointers: string[]; fault?: undefined } | { pointers?: undefined; fault: string };

const MOST = 50_000;

class Enough extends Error {}

/** Filters compare numbers as floats; what is shown is the document's own text. */
export function query(text: string, path: string): Pointers {
  const pointers: string[] = [];
  try {
    exec(JSON.parse(text), path, (_value, at) => {
      const steps = at.map((step) => (typeof step === "number" ? String(step) : plain(step)));
      pointers.push(steps.map((step) => `/${escapeStep(step)}`).join(""));
      if (pointers.length === MOST) throw new Enough();
    });
  } catch (error) {
    if (error instanceof Enough) return { pointers };
    return { fault: error instanceof Error ? error.message : String(error) };
  }
  return { pointers };
}

/** A name out of a normalized path: without its escapes (RFC 9535, 2.7). */
function plain(name: string): string {
  if (!name.includes("\\")) return name;
  return JSON.parse(`"${name.replaceAll("\\'", "'").replaceAll('"', '\\"')}"`) as string;
}
