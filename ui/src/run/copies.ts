// A call in forms that other tools take: a curl command, a fixture, a change of its contract.

import { find, lexeme } from "../json/doc";
import { scan } from "../json/scan";
import type { Violation } from "../wire/types";
import { written } from "../wire/lossless";
import { admittedOf, type Call } from "./fold";

/** What was sent over HTTP, as a command. References to the environment stay references. */
export function curl(wire: string): string | undefined {
  const doc = scan(wire).doc;
  if (!doc) return undefined;
  const text = (pointer: string): string | undefined => {
    const node = find(doc, pointer);
    if (node === undefined) return undefined;
    const value = lexeme(doc, node);
    return value.startsWith('"') ? (JSON.parse(value) as string) : value;
  };
  const method = text("/method");
  const url = text("/url");
  if (!method || !url || !/^(?:https?:\/\/|\$\{)/.test(url)) return undefined;
  const parts = ["curl", "-X", method, quoted(url)];
  const headers = find(doc, "/headers");
  if (headers !== undefined) {
    const all = JSON.parse(lexeme(doc, headers)) as Record<string, string>;
    for (const [name, value] of Object.entries(all)) parts.push("-H", quoted(`${name}: ${value}`));
  }
  const body = text("/body");
  if (body !== undefined) parts.push("--data-raw", quoted(body));
  return parts.join(" ");
}

/** For a shell: nothing is expanded but `${NAME}`, which is how secrets are written. */
function quoted(text: string): string {
  if (!text.includes("${")) return `'${text.replaceAll("'", "'\\''")}'`;
  const pieces = text.split(/(\$\{[A-Za-z_][A-Za-z0-9_]*\})/);
  return pieces
    .filter((piece) => piece !== "")
    .map((piece) => (/^\$\{\w+\}$/.test(piece) ? `"${piece}"` : `'${piece.replaceAll("'", "'\\''")}'`))
    .join("");
}

/** A file of fixtures with this call in it, as `callgate test` reads them (docs/fixtures.md). */
export function fixture(call: Call): string {
  const verdict = call.judged.at(-1)?.verdict;
  const fault = verdict?.verdict === "refused" ? verdict.fault : undefined;
  const text = fault ? call.raw : (admittedOf(call) ?? call.raw);
  const instance = scan(text).doc ? `"instance": ${text}` : `"text": ${JSON.stringify(text)}`;
  const first = fault?.violations?.[0];
  let expect = '"admitted"';
  if (first) expect = JSON.stringify({ path: first.path, keyword: first.keyword });
  else if (fault?.rule) expect = JSON.stringify({ rule: fault.rule });
  else if (fault) expect = JSON.stringify({ kind: fault.kind });
  const id = JSON.stringify(`out of a run: ${call.id}`);
  return `{\n  "tool": ${JSON.stringify(call.tool)},\n  "fixtures": [\n    {"id": ${id}, ${instance}, "expect": ${expect}}\n  ]\n}\n`;
}

/**
 * JSON Patch (RFC 6902) to the contract that would admit what was refused; whether that is right is
 * a person's to say. Only for keywords whose place follows from the violation's.
 */
export function contractPatch(violation: Violation, schema: unknown): string | undefined {
  const at = schemaPointer(schema, violation.path.split("/").slice(1));
  if (at === undefined) return undefined;
  const value = written(violation.got);
  switch (violation.keyword) {
    case "enum":
      return `[{ "op": "add", "path": "/input${at}/enum/-", "value": ${value} }]`;
    case "maximum":
    case "minimum":
      return `[{ "op": "replace", "path": "/input${at}/${violation.keyword}", "value": ${value} }]`;
    case "pattern":
    case "format":
    case "maxLength":
    case "minLength":
      return `[{ "op": "remove", "path": "/input${at}/${violation.keyword}" }]`;
    default:
      return undefined;
  }
}

/** Where a value's schema is, as long as only members and elements lead there. */
function schemaPointer(schema: unknown, steps: string[]): string | undefined {
  let at = "";
  let here = schema as Record<string, unknown> | undefined;
  for (const step of steps) {
    const properties = here?.properties as Record<string, unknown> | undefined;
    if (properties && step in properties) {
      at += `/properties/${step}`;
      here = properties[step] as Record<string, unknown>;
    } else if (here?.items && /^\d+$/.test(step)) {
      at += "/items";
      here = here.items as Record<string, unknown>;
    } else {
      return undefined;
    }
  }
  return at;
}
