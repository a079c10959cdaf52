// Large things: a document of 10 MB, a journal of 100,000 runs.

import { spawnSync } from "node:child_process";

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
