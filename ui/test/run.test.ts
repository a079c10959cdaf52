// Runs: events to what is shown, and what became of each argument.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { contractPatch, curl, fixture } from "../src/run/copies";
import { flow } from "../src/run/flow";
import { fold, runState, stateOf } from "../src/run/fold";
import { axisOf, rowsOf } from "../src/run/rows";
import { ADJUSTMENTS } from "../src/run/words";
import { EventReader } from "../src/source/events";
import { FileSource, read } from "../src/source/file";
import { Digits, parse, written } from "../src/wire/lossless";
import type { RunRecord } from "../src/wire/types";

const RUN = readFileSync("test/run.jsonl", "utf8");

test("every adjustment of the gates is told in words", () => {
  const page = readFileSync("../docs/adjustments.md", "utf8");
  const names = [...page.matchAll(/^\| `([a-z_:]+)` \|/gm)].map((match) => match[1]);
  assert.ok(names.length > 20);
  assert.deepEqual(
    names.filter((name) => ADJUSTMENTS[name] === undefined),
    [],
  );
});

test("a real run, folded", async () => {
  const { lines, tools, summary } = await read(RUN);
  const view = fold(lines.map((line) => line.record));
  assert.equal(runState(view), "answered");
  assert.equal(view.hops.length, 4);
  const calls = [...view.calls.values()].map((call) => [call.tool, stateOf(call, view), call.hop]);
  assert.deepEqual(calls, [
    ["searchInvoices", "refused", 1],
    ["get_ticket", "done", 1],
    ["searchInvoices", "done", 2],
    ["add_note", "done", 3],
    ["get_ticket", "done", 3],
  ]);
  assert.equal(tools.length, 5);
  assert.equal(summary.state, "answered");
  const rows = rowsOf(view).map((row) => row.kind);
  assert.deepEqual(rows, ["said", "hop", "call", "call", "hop", "call", "hop", "call", "call", "hop", "end"]);
});

test("a changed or cut run file is refused", async () => {
  const rows: [string, RegExp][] = [
    [RUN.replace("T-1042", "T-1043"), /was changed/],
    [RUN.split("\n").slice(0, -2).join("\n"), /cut/],
    ['{"a": 1}\n', /no run file/],
    ["hello", /line 1/],
    [RUN.replace('"version":1', '"version":9'), /version 9/],
  ];
  for (const [text, why] of rows) await assert.rejects(read(text), why);
  const files = new FileSource();
  await assert.rejects(files.add("hello"));
  assert.ok(files.isEmpty);
});

test("a silence is folded, work is not", () => {
  const at = (seq: number, at: number, event: object): RunRecord =>
    ({ run: "r", seq, at, ...event }) as RunRecord;
  const day = 86_400_000;
  const view = fold([
    at(0, 0, { type: "runStarted", agent: {}, model: "m", goal: "g" }),
    at(1, 0, { type: "modelRequested", hop: 1, why: "turn", tools: [], toolChoice: "auto" }),
    at(2, 100, {
      type: "modelReplied",
      hop: 1,
      reply: { content: [], stop: "end", usage: { inputTokens: 1, outputTokens: 1 } },
    }),
    at(3, day, { type: "modelRequested", hop: 2, why: "turn", tools: [], toolChoice: "auto" }),
    at(4, day + 100, {
      type: "runFinished",
      status: "answered",
      hops: 2,
      calls: 0,
      usage: { inputTokens: 1, outputTokens: 1 },
    }),
  ]);
  const axis = axisOf(view, rowsOf(view));
  assert.equal(axis.folds.length, 1);
  assert.ok(axis.place(100) > 0.4 && axis.place(day) > axis.place(100) && axis.place(day + 100) === 1);
});

test("what became of each value", () => {
  const rows = flow({
    raw: '{"order_id": "T-1", "n": "5", "note": null, "q": "a b"}',
    admitted: '{"orderId": "T-1", "n": 5, "q": "a b"}',
    adjustments: [
      { name: "rename", path: "/order_id", to: "/orderId" },
      { name: "string_to_number", path: "/n" },
      { name: "drop_null_optional", path: "/note" },
    ],
    wire: '{"method": "POST", "url": "https://x/orders/T-1?q=a%20b", "body": {"count": 5}}',
    used: '{"n": 5.0, "unit": "pieces"}',
  });
  const told = Object.fromEntries(rows.map((row) => [row.path, row]));
  assert.deepEqual(told["/orderId"].wire, [{ where: "url", text: "T-1" }]);
  assert.deepEqual(told["/q"].wire, [{ where: "query q", text: "a%20b" }]);
  assert.deepEqual(told["/n"].wire, [{ where: "/body/count", text: "5" }]);
  assert.deepEqual([told["/n"].wrote, told["/n"].admitted, told["/n"].used], ['"5"', "5", "5.0"]);
  assert.ok(told["/n"].notes.some((note) => note.includes("number in quotes")));
  assert.equal(told["/note"].admitted, undefined);
  assert.deepEqual(told["/unit"].notes, ["defaulted by the server"]);
});

test("a call as other tools take it", async () => {
  const { lines } = await read(RUN);
  const view = fold(lines.map((line) => line.record));
  const note = view.calls.get("call_3");
  const refused = view.calls.get("call_0");
  assert.ok(note?.attempts[0].wire && refused);
  const command = curl(note.attempts[0].wire) ?? "";
  assert.match(command, /^curl -X POST "\$\{SUPPORT_URL\}"'\/tickets\/T-1042\/notes' /);
  assert.match(command, /--data-raw '\{"text":"The refund is under way."\}'$/);
  assert.equal(curl('{"method": "tools/call"}'), undefined);
  assert.equal(
    curl(`{"method":"GET","url":"https://x/'; rm -rf ~"}`),
    `curl -X GET 'https://x/'\\''; rm -rf ~'`,
  );
  const kept = JSON.parse(fixture(refused)) as { fixtures: { expect: unknown; instance: unknown }[] };
  assert.deepEqual(kept.fixtures[0].expect, { path: "/status", keyword: "enum" });
  assert.deepEqual((kept.fixtures[0].instance as { status: string }).status, "payed");
  const schema = { properties: { list: { items: { properties: { status: { enum: ["a"] } } } } } };
  const patch = contractPatch({ path: "/list/3/status", keyword: "enum", got: "b" }, schema);
  assert.equal(
    patch,
    '[{ "op": "add", "path": "/input/properties/list/items/properties/status/enum/-", "value": "b" }]',
  );
  assert.equal(contractPatch({ path: "/x/y", keyword: "enum", got: 1 }, schema), undefined);
});

test("events of a stream, cut anywhere", () => {
  const text =
    ': hi\n\nid: 4\nevent: record\ndata: {"a":\ndata: 1}\n\nevent: delta\r\ndata: x\r\n\r\ndata: last\n\n';
  const whole = new EventReader().push(text);
  assert.deepEqual(
    whole.map(({ event, data, id }) => [event, data, id]),
    [
      ["record", '{"a":\n1}', "4"],
      ["delta", "x", "4"],
      ["message", "last", "4"],
    ],
  );
  for (let i = 0; i <= text.length; i += 1) {
    const reader = new EventReader();
    assert.deepEqual([...reader.push(text.slice(0, i)), ...reader.push(text.slice(i))], whole, `cut at ${i}`);
  }
});

test("digits of events are kept where the engine allows it", () => {
  const text = '{"got": 12345678901234567890, "n": 5}';
  const value = parse(text) as { got: unknown; n: unknown };
  // Node 20 has no source text in its reviver; browsers of the last years do.
  const canKeep = value.got instanceof Digits;
  if (canKeep) assert.equal(written(value), text);
  assert.equal(value.n, 5);
});
