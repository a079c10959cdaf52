// Bundles the unit tests and runs them with Node's own runner.

import { spawnSync } from "node:child_process";
import { readdir, rm } from "node:fs/promises";
import { build } from "esbuild";

const here = new URL(".", import.meta.url).pathname;
const out = `${here}.tmp/test`;
await rm(out, { recursive: true, force: true });
const tests = (await readdir(`${here}test`)).filter((name) => name.endsWith(".test.ts"));
await build({
  entryPoints: tests.map((name) => `${here}test/${name}`),
  bundle: true,
  platform: "node",
  format: "esm",
  outdir: out,
  outExtension: { ".js": ".mjs" },
  sourcemap: "inline",
  logLevel: "warning",
});
const files = tests.map((name) => `${out}/${name.replace(/\.ts$/, ".mjs")}`);
const ended = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...files], {
  cwd: here,
  stdio: "inherit",
});
process.exit(ended.status ?? 1);
