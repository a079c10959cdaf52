// What became of each argument value on its way: as the model wrote it, as the gates admitted it,
// where it went on the wire, and what the server says it used.

import { type Doc, find, isContainer, Kind, lexeme, pointerOf, stringOf } from "../json/doc";
import { canonicalNumber } from "../json/number";
import { scan } from "../json/scan";
import type { Adjustment } from "../wire/types";
import { adjustment } from "./words";

export interface Sight {
  /** A JSON Pointer, or a place in the URL. */
  where: string;
  text: string;
}

export interface FlowRow {
  path: string;
  wrote?: string;
  admitted?: string;
  wire: Sight[];
  used?: string;
  notes: string[];
}

export interface Papers {
  raw: string;
  admitted?: string;
  adjustments: Adjustment[];
  edited?: string;
  wire?: string;
  used?: string;
}

export function flow(papers: Papers): FlowRow[] {
  const raw = scan(papers.raw).doc;
  const admitted = papers.admitted === undefined ? undefined : scan(papers.admitted).doc;
  const wire = papers.wire === undefined ? undefined : scan(papers.wire).doc;
  const used = papers.used === undefined ? undefined : scan(papers.used).doc;
  const rows = new Map<string, FlowRow>();
  const row = (path: string): FlowRow => {
    let one = rows.get(path);
    if (!one) {
      one = { path, wire: [], notes: [] };
      rows.set(path, one);
    }
    return one;
  };
  const renamed = new Map(
    papers.adjustments.filter((one) => one.to !== undefined).map((one) => [one.path ?? "", one.to ?? ""]),
  );
  for (const [path, node, doc] of leaves(raw)) {
    const one = row(moved(path, renamed));
    one.wrote = lexeme(doc, node);
  }
  for (const [path, node, doc] of leaves(admitted)) row(path).admitted = lexeme(doc, node);
  for (const one of papers.adjustments) {
    const path = one.to ?? one.path;
    if (path === undefined) continue;
    // On a value that holds others the word stands at the first of them.
    const near =
      rows.get(path) ?? [...rows.values()].find((other) => other.path.startsWith(`${path}/`)) ?? row(path);
    near.notes.push(adjustment(one.name));
  }
  for (const one of rows.values()) {
    if (one.wrote !== undefined && one.admitted === undefined && admitted && one.notes.length === 0)
      one.notes.push("left out");
    if (one.wrote === undefined && one.admitted !== undefined && raw && one.notes.length === 0) {
      one.notes.push(papers.edited === undefined ? "put in" : "put in by the edit");
    }
    if (
      papers.edited !== undefined &&
      one.wrote !== undefined &&
      one.admitted !== undefined &&
      !same(one.wrote, one.admitted)
    ) {
      one.notes.push("edited by a person");
    }
  }
  if (wire) {
    const taken = new Set<number>();
    for (const one of rows.values()) {
      const value = one.admitted ?? one.wrote;
      if (value === undefined) continue;
      one.wire = sightings(wire, value, one.path, taken);
      if (one.wire.length > 0 && one.wire.every((sight) => !sight.where.endsWith(one.path)))
        one.notes.push("templated");
    }
  }
  if (used) {
    for (const [path, node, doc] of leaves(used)) {
      const text = lexeme(doc, node);
      const one = rows.get(path);
      if (one) {
        one.used = text;
        if (!same(text, one.admitted ?? "")) one.notes.push("the server used another value");
      } else {
        const fresh = row(path);
        fresh.used = text;
        fresh.notes.push("defaulted by the server");
      }
    }
  }
  return [...rows.values()];
}

function moved(path: string, renamed: Map<string, string>): string {
  for (const [from, to] of renamed) {
    if (path === from || path.startsWith(`${from}/`)) return to + path.slice(from.length);
  }
  return path;
}

function* leaves(doc: Doc | undefined): Generator<[string, number, Doc]> {
  if (!doc) return;
  for (let node = 0; node < doc.count; node += 1) {
    if (isContainer(doc, node) && doc.size[node] > 0) continue;
    if (node === 0 && isContainer(doc, node)) continue;
    yield [pointerOf(doc, node), node, doc];
  }
}

function same(a: string, b: string): boolean {
  if (a === b) return true;
  const [x, y] = [scan(a).doc, scan(b).doc];
  if (!x || !y || x.kind[0] !== y.kind[0]) return false;
  if (x.kind[0] === Kind.String) return stringOf(x, 0) === stringOf(y, 0);
  if (x.kind[0] === Kind.Number) return canonicalNumber(a) === canonicalNumber(b);
  return false;
}

/** Where a value stands in what was sent: as a value, best under its own name, or within the URL. */
function sightings(wire: Doc, value: string, path: string, taken: Set<number>): Sight[] {
  const found: { node: number; score: number }[] = [];
  const name = path.slice(path.lastIndexOf("/"));
  for (let node = 0; node < wire.count; node += 1) {
    if (isContainer(wire, node) || taken.has(node)) continue;
    const where = pointerOf(wire, node);
    if (where.startsWith("/headers/") && !where.includes(name)) continue;
    if (same(lexeme(wire, node), value)) {
      found.push({ node, score: where.endsWith(path) ? 2 : where.endsWith(name) ? 1 : 0 });
    }
  }
  found.sort((a, b) => b.score - a.score);
  const url = find(wire, "/url");
  const plain = plainText(value);
  const out: Sight[] = [];
  if (found.length > 0) {
    const best = found[0];
    taken.add(best.node);
    out.push({ where: pointerOf(wire, best.node), text: lexeme(wire, best.node) });
  } else if (url !== undefined && plain !== undefined && plain !== "") {
    const text = stringOf(wire, url);
    const coded = encodeURIComponent(plain);
    const form = coded.replaceAll("%20", "+");
    const key = `${encodeURIComponent(name.slice(1))}=`;
    for (const piece of [coded, form, plain]) {
      const at = text.indexOf(piece);
      if (at < 0) continue;
      out.push({ where: text.includes(`${key}${piece}`) ? `query ${name.slice(1)}` : "url", text: piece });
      break;
    }
  }
  return out;
}

function plainText(value: string): string | undefined {
  const doc = scan(value).doc;
  if (!doc) return undefined;
  if (doc.kind[0] === Kind.String) return stringOf(doc, 0);
  return isContainer(doc, 0) ? undefined : value;
}
