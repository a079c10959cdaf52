// Forms: each change of a field is a small edit of the text.

import assert from "node:assert/strict";
import { test } from "node:test";
import { edited, valueAt } from "../src/schema/form";
import { bounds, members, resolve, variants } from "../src/schema/read";

test("edits touch what they edit", () => {
  const text = '{ "a": 1.10,  "b": {"c": [1]} , "big": 12345678901234567890 }';
  const rows: [string, string | undefined, string][] = [
    ["/a", "2", '{ "a": 2,  "b": {"c": [1]} , "big": 12345678901234567890 }'],
    ["/b/c/0", '"x"', '{ "a": 1.10,  "b": {"c": ["x"]} , "big": 12345678901234567890 }'],
    ["/a", undefined, '{ "b": {"c": [1]} , "big": 12345678901234567890 }'],
    ["/big", undefined, '{ "a": 1.10,  "b": {"c": [1]} }'],
    ["/new", "true", '{ "a": 1.10,  "b": {"c": [1]} , "big": 12345678901234567890, "new": true }'],
    ["/b/d", "null", '{ "a": 1.10,  "b": {"c": [1], "d": null} , "big": 12345678901234567890 }'],
    ["/none", undefined, text],
  ];
  for (const [pointer, value, expected] of rows) {
    const now = edited(text, pointer, value);
    assert.deepEqual(JSON.parse(now), JSON.parse(expected), pointer);
    assert.ok(now.includes("12345678901234567890") || pointer === "/big", pointer);
  }
  assert.equal(edited("{}", "/x/y/0", "5"), '{"x": {"y": [5]}}');
  assert.equal(valueAt(text, "/a"), "1.10");
});

test("schemas as people read them", () => {
  const root = {
    $defs: { id: { type: "string", pattern: "^T-" } },
    allOf: [
      { properties: { id: { $ref: "#/$defs/id" } }, required: ["id"] },
      { properties: { n: { type: "integer", minimum: 1 } } },
    ],
  };
  const whole = resolve(root, root);
  assert.deepEqual(
    members(whole).map(({ name, isRequired }) => [name, isRequired]),
    [
      ["id", true],
      ["n", false],
    ],
  );
  assert.deepEqual(bounds(resolve(members(whole)[0].schema, root)), ["like ^T-"]);
  assert.equal(variants(resolve({ anyOf: [{}, {}] }, {})).length, 2);
  const loop = { $defs: { a: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" };
  assert.deepEqual(members(resolve(loop, loop)), []);
});
