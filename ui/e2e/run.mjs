// Runs the stories, or those whose names are given: `CALLGATE_BINARY=… node e2e/run.mjs [NAME…]`.
// What they measure is kept in .tmp/figures.jsonl.

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { browserPath } from "./world.mjs";

const here = new URL(".", import.meta.url).pathname;
const binary = process.env.CALLGATE_BINARY;
if (!binary || !existsSync(binary)) {
  console.error("CALLGATE_BINARY has to name the callgate binary");
  process.exit(2);
}
browserPath();
const names = process.argv.slice(2);
const all = readdirSync(`${here}stories`).filter((name) => name.endsWith(".test.mjs"));
const chosen = names.length === 0 ? all : all.filter((file) => names.some((name) => file.startsWith(name)));
if (chosen.length === 0) {
  console.error(`no story is called so; there are: ${all.map((file) => file.split(".")[0]).join(", ")}`);
  process.exit(2);
}
rmSync(`${here}../.tmp/figures.jsonl`, { force: true });
// One after the other: what is measured must not be measured beside another story.
const options = ["--test", "--test-concurrency=1", "--test-timeout=240000", "--test-reporter=spec"];
const files = chosen.map((file) => `${here}stories/${file}`);
const ended = spawnSync(process.execPath, [...options, ...files], { stdio: "inherit" });
process.exit(ended.status ?? 1);
