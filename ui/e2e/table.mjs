// What the stories measured last, as a table for docs/inspector.md: `node e2e/table.mjs`.

import { readFileSync } from "node:fs";

const lines = readFileSync(new URL("../.tmp/figures.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n");
const rows = new Map();
for (const { name, value, unit } of lines.map((line) => JSON.parse(line))) {
  const [what, task] = name.split(": longest task");
  const row = rows.get(what) ?? {};
  row[task === undefined ? "took" : "task"] = `${value.toLocaleString("en")} ${unit}`;
  rows.set(what, row);
}
console.log("| what | took | longest task of the page's thread (limit 200 ms) |");
console.log("|---|---|---|");
for (const [what, { took = "", task = "" }] of rows) {
  console.log(`| ${what} | ${took} | ${task === "0 ms" ? "under 50 ms" : task} |`);
}
