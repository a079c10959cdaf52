// A JSON Schema as people read it. Only for showing and for making forms: what an instance is worth
// the server's gate says.

export type Schema = Record<string, unknown> | boolean;

export interface Member {
  name: string;
  schema: Schema;
  isRequired: boolean;
}

/** Follows references within the document, and merges `allOf`, as far as that is plain. */
export function resolve(schema: Schema, root: Schema, depth = 0): Record<string, unknown> {
  if (typeof schema === "boolean" || depth > 20) return {};
  let out = schema;
  if (typeof schema.$ref === "string") {
    const found = target(schema.$ref, root);
    if (found !== undefined) {
      const { $ref: _, ...beside } = schema;
      out = { ...resolve(found, root, depth + 1), ...beside };
    }
  }
  if (Array.isArray(out.allOf)) {
    const { allOf, ...beside } = out;
    const parts = (allOf as Schema[]).map((part) => resolve(part, root, depth + 1));
    out = [...parts, beside].reduce((all, part) => join(all, part), {});
  }
  return out;
}

function join(a: Record<string, unknown>, b: Record<string, unknown>): Record<string, unknown> {
  const out = { ...a, ...b };
  if (a.properties && b.properties)
    out.properties = { ...(a.properties as object), ...(b.properties as object) };
  if (a.required && b.required)
    out.required = [...new Set([...(a.required as string[]), ...(b.required as string[])])];
  return out;
}

function target(reference: string, root: Schema): Schema | undefined {
  if (!reference.startsWith("#")) return undefined;
  let at: unknown = root;
  for (const step of reference.slice(1).split("/").slice(1)) {
    const name = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
    at = (at as Record<string, unknown> | undefined)?.[name];
  }
  return at as Schema | undefined;
}

export function members(schema: Record<string, unknown>): Member[] {
  const properties = (schema.properties ?? {}) as Record<string, Schema>;
  const required = new Set((schema.required ?? []) as string[]);
  return Object.entries(properties).map(([name, one]) => ({
    name,
    schema: one,
    isRequired: required.has(name),
  }));
}

export function variants(schema: Record<string, unknown>): Schema[] {
  const list = schema.oneOf ?? schema.anyOf;
  return Array.isArray(list) ? (list as Schema[]) : [];
}

export function typesOf(schema: Record<string, unknown>): string[] {
  if (typeof schema.type === "string") return [schema.type];
  if (Array.isArray(schema.type)) return schema.type as string[];
  if (Array.isArray(schema.enum)) return [...new Set(schema.enum.map(typeName))];
  if ("const" in schema) return [typeName(schema.const)];
  if (schema.properties) return ["object"];
  if (schema.items) return ["array"];
  return [];
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value;
}

/** The bounds of a schema in a few words. */
export function bounds(schema: Record<string, unknown>): string[] {
  const out: string[] = [];
  const say = (name: string, told: (value: unknown) => string): void => {
    if (schema[name] !== undefined) out.push(told(schema[name]));
  };
  say("const", (v) => `always ${JSON.stringify(v)}`);
  say("enum", (v) => `one of ${(v as unknown[]).map((one) => JSON.stringify(one)).join(", ")}`);
  say("format", (v) => String(v));
  say("pattern", (v) => `like ${v}`);
  say("minLength", (v) => `at least ${v} characters`);
  say("maxLength", (v) => `at most ${v} characters`);
  say("minimum", (v) => `≥ ${v}`);
  say("exclusiveMinimum", (v) => `> ${v}`);
  say("maximum", (v) => `≤ ${v}`);
  say("exclusiveMaximum", (v) => `< ${v}`);
  say("multipleOf", (v) => `a multiple of ${v}`);
  say("minItems", (v) => `at least ${v} elements`);
  say("maxItems", (v) => `at most ${v} elements`);
  say("uniqueItems", (v) => (v ? "no element twice" : ""));
  say("minProperties", (v) => `at least ${v} members`);
  say("maxProperties", (v) => `at most ${v} members`);
  say("default", (v) => `by default ${JSON.stringify(v)}`);
  if (schema.additionalProperties === false) out.push("no other members");
  return out.filter((text) => text !== "");
}
