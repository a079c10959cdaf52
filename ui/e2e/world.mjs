// The world of the stories: a project in a folder of its own, a service that keeps books, the real
// binary serving it, and a browser.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const here = new URL(".", import.meta.url).pathname;
export const root = join(here, "../..");

/** What a story may take on a machine that is busy. */
export const PATIENCE = 30_000;

function binary() {
  const named = process.env.CALLGATE_BINARY;
  if (!named || !existsSync(named)) throw new Error("CALLGATE_BINARY has to name the callgate binary");
  return named;
}

export function browserPath() {
  const known = [
    process.env.CALLGATE_CHROMIUM,
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
  ];
  const found = known.find((path) => path && existsSync(path));
  if (!found) throw new Error("no Chromium: install it, or name one in CALLGATE_CHROMIUM");
  return found;
}

/** Tickets and notes, and a book of every request. A request for `T-4000` waits until it is let go. */
export async function service() {
  const book = [];
  const held = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => {
      body += piece;
    });
    request.on("end", () => {
      book.push({ method: request.method, url: request.url, body });
      const answer = (status, value) => {
        response.writeHead(status, { "content-type": "application/json" });
        response.end(value);
      };
      const ticket = /^\/tickets\/(T-\d+)(\/notes)?$/.exec(request.url ?? "");
      if (ticket?.[2]) {
        const { text } = JSON.parse(body);
        const note = { id: "N-1", ticket: ticket[1], author: "agent", text, at: "2026-11-30T09:00:00Z" };
        answer(201, JSON.stringify(note));
        return;
      }
      if (ticket) {
        const reply = () =>
          answer(
            200,
            `{"id":"${ticket[1]}","subject":"Charged twice","status":"pending","priority":"high","assignee":"Maria Silva","customer":"C-003","createdAt":"2026-11-24T09:12:00Z","updates":[]}`,
          );
        if (ticket[1] === "T-4000") held.push(reply);
        else reply();
        return;
      }
      if (request.url?.startsWith("/invoices")) {
        answer(
          200,
          '{"items":[{"id":"INV-2026-0013","customer":"C-008","date":"2026-03-03","status":"paid","currency":"EUR","total":1478.60,"ledgerId":4611686018453380079}],"count":1}',
        );
        return;
      }
      answer(404, '{"error":"no such thing"}');
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    book,
    release: () => {
      for (const reply of held.splice(0)) reply();
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A project whose model says what is written, turn by turn. */
export function project(replies, extra = {}) {
  const folder = mkdtempSync(join(tmpdir(), "callgate-ui-"));
  mkdirSync(join(folder, "tools"));
  for (const name of ["add_note", "get_ticket", "search_invoices"]) {
    cpSync(join(root, `examples/support/tools/${name}.json`), join(folder, `tools/${name}.json`));
  }
  const says = (replies) =>
    writeFileSync(join(folder, "replies.json"), JSON.stringify({ byTurn: true, replies }));
  says(replies);
  const agent = {
    name: "support",
    model: "script:replies.json",
    instructions: "You help the support desk. Dates are written as 2026-03-01.",
    tools: ["tools/*.json"],
    budget: { tokens: 60_000 },
    ...extra,
  };
  writeFileSync(join(folder, "agent.json"), JSON.stringify(agent));
  return {
    folder,
    says,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A verb of the binary, to its end. */
export function callgate(folder, args, env = {}) {
  const ended = spawnSync(binary(), [...args, "-C", folder], {
    encoding: "utf8",
    cwd: folder,
    env: { ...process.env, ...env },
    timeout: PATIENCE,
  });
  return { status: ended.status, out: ended.stdout ?? "", error: ended.stderr ?? "" };
}

/** `callgate serve`, until it is stopped. */
export async function serve(folder, env = {}, port = 0) {
  const child = spawn(binary(), ["serve", "-C", folder, "--listen", `127.0.0.1:${port}`, "--json"], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let told = "";
  child.stderr.on("data", (piece) => {
    told += piece;
  });
  const lines = createInterface({ input: child.stdout });
  const first = await Promise.race([
    once(lines, "line").then(([line]) => JSON.parse(line)),
    once(child, "exit").then(() => {
      throw new Error(`the server did not start: ${told}`);
    }),
  ]);
  const base = first.base;
  return {
    base,
    pid: child.pid,
    stop: async () => {
      if (child.exitCode !== null) return;
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), 15_000);
      await once(child, "exit");
      clearTimeout(timer);
    },
    post: async (path, body) => {
      const response = await fetch(`${base}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
      return JSON.parse(text);
    },
    get: async (path) => (await fetch(`${base}${path}`)).json(),
  };
}

/** A run, begun and waited for until it ends or waits. */
export async function runTo(server, goal, states = ["answered", "waiting", "failed"]) {
  const { run } = await server.post("/api/runs", { goal });
  const until = Date.now() + PATIENCE;
  for (;;) {
    const { state } = await server.get(`/api/runs/${run}`);
    if (states.includes(state)) return run;
    if (Date.now() > until) throw new Error(`the run is still ${state}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export async function browser() {
  return chromium.launch({
    executablePath: browserPath(),
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
}

/** A page that fails its story for anything it complains about or asks of elsewhere. */
export async function page(chrome, options = {}) {
  const { base, ...rest } = options;
  const context = await chrome.newContext({ viewport: { width: 1360, height: 860 }, ...rest });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]).catch(() => {});
  const made = await context.newPage();
  made.setDefaultTimeout(PATIENCE);
  const complaints = [];
  made.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  made.on("pageerror", (error) => complaints.push(String(error)));
  made.on("request", (request) => {
    const url = request.url();
    const isOwn = (base && url.startsWith(base)) || /^(?:blob|data|file):/.test(url);
    if (!isOwn) complaints.push(`asks elsewhere: ${url}`);
  });
  return { page: made, context, complaints };
}

export function text(path) {
  return readFileSync(path, "utf8");
}
