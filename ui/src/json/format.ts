// A document written anew: numbers and strings as they were.

import { childrenOf, type Doc, Kind, keyOf, lexeme } from "./doc";

export interface Format {
  /** Spaces a level; 0 for one line. */
  indent: number;
  /** Members by name. */
  sort: boolean;
}

export function format(doc: Doc, options: Format, root = 0): string {
  const parts: string[] = [];
  write(doc, root, options, "\n", parts);
  return parts.join("");
}

function write(doc: Doc, node: number, options: Format, line: string, out: string[]): void {
  const kind = doc.kind[node];
  if (kind > Kind.Array) {
    out.push(lexeme(doc, node));
    return;
  }
  const [open, close] = kind === Kind.Object ? "{}" : "[]";
  if (doc.size[node] === 0) {
    out.push(open, close);
    return;
  }
  const within = options.indent > 0 ? line + " ".repeat(options.indent) : "";
  let children = [...childrenOf(doc, node)];
  if (options.sort && kind === Kind.Object) {
    const names = new Map(children.map((child) => [child, keyOf(doc, child) ?? ""]));
    children = children.sort((a, b) => compare(names.get(a) ?? "", names.get(b) ?? ""));
  }
  out.push(open);
  let first = true;
  for (const child of children) {
    if (!first) out.push(",");
    first = false;
    out.push(within);
    if (kind === Kind.Object) {
      out.push(doc.text.slice(doc.key[child], doc.keyEnd[child]), options.indent > 0 ? ": " : ":");
    }
    write(doc, child, options, within, out);
  }
  out.push(options.indent > 0 ? line : "", close);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
