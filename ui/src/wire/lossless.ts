// JSON values of events, numbers that a float would change kept as they were written.

import { isBeyondFloat } from "../json/number";

/** A number by its digits. */
export class Digits {
  constructor(readonly text: string) {}
  toString(): string {
    return this.text;
  }
}

type Context = { source?: string };
type Revive = (this: unknown, key: string, value: unknown, context?: Context) => unknown;

const revive: Revive = (_key, value, context) => {
  if (typeof value !== "number" || context?.source === undefined) return value;
  return isBeyondFloat(context.source) ? new Digits(context.source) : value;
};

export function parse(text: string): unknown {
  return (JSON.parse as (text: string, revive: Revive) => unknown)(text, revive);
}

/** A value as JSON again. */
export function written(value: unknown): string {
  if (value instanceof Digits) return value.text;
  if (Array.isArray(value)) return `[${value.map(written).join(", ")}]`;
  if (value !== null && typeof value === "object") {
    const members = Object.entries(value).map(([k, v]) => `${JSON.stringify(k)}: ${written(v)}`);
    return `{${members.join(", ")}}`;
  }
  return JSON.stringify(value) ?? "";
}
