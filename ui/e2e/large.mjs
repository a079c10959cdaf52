// Large things: a document of 10 MB, a run of 500 hops, a journal of 100,000 runs.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";

/** JSON text of about so many bytes, the same each time; `edit` takes one element out and changes one. */
export function document(bytes, edit = false) {
  const rows = [];
  let length = 0;
  for (let i = 0; length < bytes; i += 1) {
    if (edit && i === 1000) continue;
    const name = edit && i === 2000 ? "changed" : `span ${i % 97}`;
    const row = `{"id":"s-${i}","name":"${name}","start":${1_700_000_000_000 + i}.250,"ledger":46116860184533${String(i).padStart(5, "0")},"attributes":{"tool":"get_ticket","ok":${i % 3 === 0},"path":["a","b",null],"note":"row ${i} of many, with some text to make it long enough"}}`;
    rows.push(row);
    length += row.length + 1;
  }
  return `{"spans":[${rows.join(",")}],"needle":"found it"}`;
}

/** A run file of so many hops, each with a call. */
export function runOfHops(hops) {
  const run = "run-of-many-hops";
  const lines = [];
  let seq = 0;
  let at = 1_790_000_000_000;
  const event = (value) => {
    at += 40;
    lines.push(JSON.stringify({ run, seq, at, ...value }));
    seq += 1;
  };
  event({
    type: "runStarted",
    agent: { name: "support" },
    model: "script:x",
    goal: "Go through all tickets",
  });
  for (let hop = 1; hop <= hops; hop += 1) {
    const call = `call_${hop}`;
    const raw = JSON.stringify({ ticketId: `T-${hop}` });
    event({ type: "modelRequested", hop, why: "turn", tools: ["get_ticket"], toolChoice: "auto" });
    event({
      type: "modelReplied",
      hop,
      reply: {
        content: [{ type: "call", id: call, name: "get_ticket", arguments: raw }],
        stop: "end",
        usage: { inputTokens: 900, outputTokens: 20 },
      },
    });
    event({
      type: "callGated",
      call,
      name: "get_ticket",
      tool: "get_ticket",
      raw,
      verdict: { verdict: "admitted", arguments: raw, tier: "auto" },
    });
    event({ type: "callStarted", call, attempt: 1, idempotencyKey: `${run}/${call}` });
    event({
      type: "callFinished",
      call,
      attempt: 1,
      output: { structured: `{"id":"T-${hop}"}` },
      wire: `{"method":"GET","url":"https://x.example/tickets/T-${hop}"}`,
    });
  }
  event({
    type: "runFinished",
    status: "answered",
    text: "All of them.",
    hops,
    calls: hops,
    usage: { inputTokens: 1, outputTokens: 1 },
  });
  const header = JSON.stringify({
    callgate: "run",
    version: 1,
    run,
    agent: "support",
    exporter: "0.1.0",
    catalog: [],
  });
  const body = `${[header, ...lines].join("\n")}\n`;
  const sha256 = createHash("sha256").update(body).digest("hex");
  return `${body}{"callgate":"end","records":${lines.length},"sha256":"${sha256}"}\n`;
}

/** Puts so many finished runs into a journal that is there. */
export function fill(journal, count) {
  const script = `
import sqlite3, sys
db = sqlite3.connect(sys.argv[1]); n = int(sys.argv[2])
rows = (("run-%08d" % i, "agent%d" % (i % 50), "m", "goal number %d" % i, "waiting" if i % 5000 == 0 else "answered",
  1700000000000 + i, 1700000000500 + i, 12, 2, 1, 900, "note", '["tool%d"]' % (i % 20), '["schema_mismatch"]' if i % 100 == 0 else None) for i in range(n))
with db:
    db.executemany("INSERT INTO run(run, agent, model, goal, state, paused, started_at, updated_at, events, hops, calls, tokens, note, tools, faults) VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
`;
  const ended = spawnSync("python3", ["-c", script, journal, String(count)], { encoding: "utf8" });
  if (ended.status !== 0) throw new Error(`the journal could not be filled: ${ended.stderr}`);
}
