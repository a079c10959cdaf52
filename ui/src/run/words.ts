// What the closed words of a run mean, for people.

import type { Origin } from "../wire/types";

const WORDS: Record<string, string> = {
  // Why the model is asked.
  turn: "its turn",
  answer_refused: "its answer did not fit the schema",
  call_expected: "a call was expected and text came",
  go_on: "to go on",
  reply_lost: "its last reply was lost",
  wrap_up: "the step limit: a last word without tools",
  // States.
  in_doubt: "in doubt",
  answer: "the answer",
  judging: "being judged",
  // Ends.
  max_steps: "the step limit",
  user_cancel: "a person",
  schema_fail: "arguments that failed their schema too often",
  loop_detected: "the same failing call again and again",
  token_budget: "the token budget",
  money_budget: "the money budget",
  time_budget: "the time budget",
  too_many_tools: "more tools than the provider takes",
  provider_error: "the provider",
};

export function word(name: string): string {
  return WORDS[name] ?? name.replaceAll("_", " ");
}

/** What was mended, by the names of docs/adjustments.md. */
export const ADJUSTMENTS: Record<string, string> = {
  empty_to_object: "nothing was taken as no arguments",
  null_to_object: "null was taken as no arguments",
  unwrap_json_string: "JSON in a string was unwrapped",
  strip_bom: "a byte order mark was taken off",
  strip_code_fence: "a code fence was taken off",
  drop_trailing_text: "words after the end were left out",
  collapse_identical_values: "the same value came more than once",
  trailing_comma: "a comma before a closing bracket was left out",
  single_quotes: "single quotes became double ones",
  quote_keys: "a bare name was put in quotes",
  python_literals: "True, False or None became JSON",
  drop_comments: "comments were left out",
  escape_control_characters: "a raw control character was escaped",
  replace_lone_surrogate: "half a character was replaced",
  string_to_number: "a number in quotes was taken as a number",
  number_to_string: "a number was taken as text, digits as written",
  string_to_boolean: "a truth value in quotes was taken as one",
  parse_json_string: "JSON in a string was taken as the value asked for",
  wrap_in_array: "one value was taken as a list of one",
  drop_null_optional: "null of an optional member was left out",
  drop_empty_optional: "an empty optional text was left out",
  rename: "a member's name was spelled otherwise",
  drop_alias: "a second name of the same member was left out",
  "restored:optional_null": "restored: the provider's null stands for absence",
  "restored:enum": "restored: a text that stands for another value",
  "restored:map": "restored: pairs became a map again",
  "restored:json_text": "restored: JSON in a text became the value",
  "restored:root": "restored: the wrapper that the provider wanted",
  "restored:integer": "restored: an integer written with a fraction",
  strip_namespace: "a prefix of the tool's name was left out",
  structured_from_text: "the text block is the structured value",
  ignore_non_object_structured: "a structured value that is no object was ignored",
  accept_non_object_structured: "a structured value that is no object was accepted",
};

export function adjustment(name: string): string {
  return ADJUSTMENTS[name] ?? word(name);
}

export const FROM: Record<Origin["from"], string> = {
  user: "the user",
  instructions: "the instructions",
  result: "the result of",
  tool: "the tool's definition",
  model: "nowhere: the model made it up",
};

/** Where a value came from, in a few words. */
export function origin({ from, call }: Origin): string {
  return call === undefined ? FROM[from] : `${FROM[from]} ${call}`;
}

export function milliseconds(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.round((ms % 60_000) / 1000)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export function count(n: number, one: string): string {
  return `${n.toLocaleString("en")} ${n === 1 ? one : `${one}s`}`;
}

export function stamp(at: number): string {
  const date = new Date(at);
  const two = (n: number): string => String(n).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

export function bytes(n: number): string {
  if (n < 1000) return `${n} B`;
  if (n < 1_000_000) return `${(n / 1000).toFixed(1)} kB`;
  return `${(n / 1_000_000).toFixed(1)} MB`;
}
