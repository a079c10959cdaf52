// A form is another view of a JSON text: every change of a field is an edit of the text, so what
// the form does not know stays as it is, and digits stay as they were typed.

import { childrenOf, type Doc, find, Kind, lexeme } from "../json/doc";
import { scan } from "../json/scan";

/** The text with the value at a pointer replaced, added, or (without a value) taken out. */
export function edited(text: string, pointer: string, value: string | undefined): string {
  const doc = scan(text).doc;
  if (!doc) return value === undefined ? text : build("{}", pointer, value);
  const node = find(doc, pointer);
  if (node !== undefined) {
    return value === undefined
      ? without(doc, node)
      : doc.text.slice(0, doc.start[node]) + value + doc.text.slice(doc.end[node]);
  }
  return value === undefined ? text : build(text, pointer, value);
}

function build(text: string, pointer: string, value: string): string {
  if (pointer === "") return value;
  const doc = scan(text).doc;
  if (!doc) return text;
  const at = pointer.lastIndexOf("/");
  const above = pointer.slice(0, at);
  const name = pointer
    .slice(at + 1)
    .replaceAll("~1", "/")
    .replaceAll("~0", "~");
  const parent = find(doc, above);
  if (parent === undefined)
    return build(text, above, /^\d+$/.test(name) ? `[${value}]` : `{${JSON.stringify(name)}: ${value}}`);
  const isArray = doc.kind[parent] === Kind.Array;
  const piece = isArray ? value : `${JSON.stringify(name)}: ${value}`;
  const end = doc.end[parent] - 1;
  const comma = doc.size[parent] > 0 ? ", " : "";
  const head = doc.text.slice(0, end).trimEnd();
  return head + comma + piece + doc.text.slice(end);
}

function without(doc: Doc, node: number): string {
  const parent = doc.parent[node];
  if (parent < 0) return "null";
  const children = [...childrenOf(doc, parent)];
  const at = children.indexOf(node);
  const from = (child: number): number => (doc.key[child] >= 0 ? doc.key[child] : doc.start[child]);
  if (at + 1 < children.length) return doc.text.slice(0, from(node)) + doc.text.slice(from(children[at + 1]));
  if (at > 0) return doc.text.slice(0, doc.end[children[at - 1]]) + doc.text.slice(doc.end[node]);
  return doc.text.slice(0, from(node)).trimEnd() + doc.text.slice(doc.end[node]).trimStart();
}

/** What stands at a pointer, as it is written. */
export function valueAt(text: string, pointer: string): string | undefined {
  const doc = scan(text).doc;
  const node = doc ? find(doc, pointer) : undefined;
  return doc && node !== undefined ? lexeme(doc, node) : undefined;
}
