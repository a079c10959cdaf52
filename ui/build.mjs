// Builds the inspector into dist/: a page for the server, and one file for `runs export --html`.
// Prints what the page weighs, and fails where it weighs more than it may.

import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/** Bytes after gzip: what the first view needs, and everything. */
const FIRST = 60_000;
const ALL = 200_000;

const out = new URL("dist/", import.meta.url);
await mkdir(out, { recursive: true });
// The folder itself is kept in git, so that a binary can be built before the page is.
const kept = new Set([".gitignore"]);

const common = {
  bundle: true,
  minify: true,
  target: ["chrome123", "firefox121", "safari17.5"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  write: false,
  logLevel: "warning",
  absWorkingDir: new URL(".", import.meta.url).pathname,
};

// The worker first: its name goes into the page's program.
const worker = await build({ ...common, entryPoints: ["src/json/worker.ts"], format: "iife" });
const workerText = worker.outputFiles[0].text;
const workerName = `worker-${hash(workerText)}.js`;
await put(workerName, workerText);

const page = await build({
  ...common,
  entryPoints: { app: "src/main.tsx" },
  format: "esm",
  splitting: true,
  outdir: "dist",
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  metafile: true,
  define: { WORKER_NAME: JSON.stringify(workerName) },
});
let entry = "";
for (const file of page.outputFiles) {
  const name = file.path.split("/").at(-1);
  if (name.startsWith("app-")) entry = name;
  await put(name, file.text);
}

const css = await build({ ...common, entryPoints: ["src/style.css"] });
const style = css.outputFiles[0].text;
const styleName = `style-${hash(style)}.css`;
await put(styleName, style);
const icon = await readFile(new URL("src/icon.svg", import.meta.url), "utf8");
const iconName = `icon-${hash(icon)}.svg`;
await put(iconName, icon);

const template = await readFile(new URL("index.html", import.meta.url), "utf8");
await put(
  "index.html",
  template.replace("STYLE", styleName).replace("SCRIPT", entry).replace("ICON", iconName),
);

// One file: no module, no second request; the policy names the hashes of what is within.
const single = await build({
  ...common,
  entryPoints: ["src/main.tsx"],
  format: "iife",
  define: { WORKER_NAME: '""', "import.meta.url": '""' },
});
const program = single.outputFiles[0].text.replaceAll("</script", "<\\/script");
const inWorker = workerText.replaceAll("</script", "<\\/script");
const policy = [
  "default-src 'none'",
  `script-src '${sha(program)}' blob:`,
  "worker-src blob:",
  `style-src '${sha(style)}'`,
  "img-src data:",
].join("; ");
await put(
  "single.html",
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>%TITLE%</title>
<style>${style}</style>
</head>
<body><div id="app"></div>
<script type="text/plain" id="run-file">%RUN-FILE%</script>
<script type="text/plain" id="run-inspection">%RUN-INSPECTION%</script>
<script type="text/plain" id="worker-text">${inWorker}</script>
<script>${program}</script>
</body>
</html>
`,
);

for (const name of await readdir(out)) {
  if (!kept.has(name)) await rm(new URL(name, out), { recursive: true });
}

// What the first view loads: the page's program and what it imports at once.
const weights = new Map();
for (const [path, chunk] of Object.entries(page.metafile.outputs)) weights.set(path.split("/").at(-1), chunk);
const first = new Set([entry]);
for (const name of first) {
  for (const one of weights.get(name)?.imports ?? []) {
    if (one.kind === "import-statement") first.add(one.path.split("/").at(-1));
  }
}
const texts = new Map(page.outputFiles.map((file) => [file.path.split("/").at(-1), file.text]));
const zipped = (text) => gzipSync(text, { level: 9 }).length;
const firstBytes = [...first].reduce(
  (sum, name) => sum + zipped(texts.get(name)),
  zipped(style) + zipped(template),
);
const allBytes = [...texts.values()].reduce(
  (sum, text) => sum + zipped(text),
  zipped(style) + zipped(template) + zipped(workerText),
);
console.log(
  JSON.stringify({ firstBytes, allBytes, firstLimit: FIRST, allLimit: ALL, files: texts.size + 4 }),
);
if (firstBytes > FIRST || allBytes > ALL) {
  console.error(`too heavy: the first view ${firstBytes} of ${FIRST} bytes, all ${allBytes} of ${ALL}`);
  process.exit(1);
}

function hash(text) {
  return createHash("sha256").update(text).digest("hex").slice(0, 10);
}

function sha(text) {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

/** Beside each file what a browser would rather have of it. */
async function put(name, text) {
  await write(name, Buffer.from(text));
  if (name !== "single.html") await write(`${name}.gz`, gzipSync(text, { level: 9 }));
}

/** Only what is another: the same page does not make a binary be built again. */
async function write(name, bytes) {
  kept.add(name);
  const file = new URL(name, out);
  const now = await readFile(file).catch(() => undefined);
  if (!now?.equals(bytes)) await writeFile(file, bytes);
}
