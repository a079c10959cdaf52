// Documents laid on one another: what differs is found, and nothing else.

import assert from "node:assert/strict";
import { test } from "node:test";
import { keyOf, pointerOf } from "../src/json/doc";
import { Mark, merge } from "../src/json/merge";
import { scan } from "../src/json/scan";

function differences(...texts: string[]): string[] {
  const docs = texts.map((text) => {
    const { doc } = scan(text);
    assert.ok(doc, text);
    return doc;
  });
  const merged = merge(docs);
  return [...merged.differences].map((id) => {
    const i = merged.nodes.findIndex((nodes) => nodes[id] >= 0);
    const where = pointerOf(docs[i], merged.nodes[i][id]);
    const absent = merged.nodes.flatMap((nodes, at) => (nodes[id] < 0 ? [at] : []));
    return `${where} ${["same", "within", "changed", "missing", "spelled"][merged.mark[id]]}${absent.length > 0 ? ` in ${absent}` : ""}`;
  });
}

test("what differs is told once, where it is", () => {
  const rows: [string, string, string[]][] = [
    ['{"a": 1}', '{"a": 1}', []],
    ['{"a": 1, "b": 2}', '{"b": 2, "a": 1}', []],
    ['{"a": 1.0}', '{"a": 1}', ["/a spelled"]],
    ['{"a": "\\u0041"}', '{"a": "A"}', ["/a spelled"]],
    ['{"a": 9007199254740993}', '{"a": 9007199254740992}', ["/a changed"]],
    ['{"a": 1}', '{"a": "1"}', ["/a changed"]],
    ['{"a": {"b": [1, 2]}}', "{}", ["/a missing in 1"]],
    ["[1, 2, 3]", "[1, 3]", ["/1 missing in 1"]],
    ["[1, 3]", "[1, 2, 3]", ["/1 missing in 0"]],
    ['[{"id": 1, "v": 1}, {"id": 2, "v": 2}]', '[{"id": 2, "v": 3}]', ["/0 missing in 1", "/1/v changed"]],
    ["[[1], [2]]", "[[1], [3]]", ["/1/0 changed"]],
    ['{"a": [1]}', '{"a": {"0": 1}}', ["/a changed"]],
    ["null", "false", [" changed"]],
  ];
  for (const [a, b, expected] of rows) assert.deepEqual(differences(a, b), expected, `${a} ${b}`);
});

test("three documents at once", () => {
  const found = differences('{"a": 1, "b": "x"}', '{"a": 1, "b": "y"}', '{"a": 1, "b": "y", "c": 0}');
  assert.deepEqual(found, ["/b changed", "/c missing in 0,1"]);
});

test("one element out of a long list is one difference", () => {
  const list = Array.from({ length: 20_000 }, (_, i) => ({ at: i * 7, text: `row ${i % 5000}` }));
  const cut = [...list.slice(0, 9_000), ...list.slice(9_001)];
  assert.deepEqual(differences(JSON.stringify(list), JSON.stringify(cut)), ["/9000 missing in 1"]);
});

test("the merged tree holds every value of every document", () => {
  const texts = ['{"a": [1, 2, {"x": 1}], "b": {}}', '{"a": [2, {"x": 2}, 3], "c": [[]]}'];
  const docs = texts.map((text) => scan(text).doc);
  assert.ok(docs[0] && docs[1]);
  const merged = merge([docs[0], docs[1]]);
  docs.forEach((doc, i) => {
    assert.ok(doc);
    const seen = [...merged.nodes[i]].filter((node) => node >= 0).sort((a, b) => a - b);
    assert.deepEqual(
      seen,
      Array.from({ length: doc.count }, (_, node) => node),
    );
  });
  assert.equal(merged.mark[0], Mark.Within);
  assert.equal(keyOf(docs[0], merged.nodes[0][1]), "a");
});
