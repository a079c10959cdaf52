// Documents: every digit kept, every mistake placed, and the public parsing suite where it is there.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { childrenOf, find, findAll, keyOf, lexeme, pointerOf } from "../src/json/doc";
import { format } from "../src/json/format";
import { canonicalNumber, isBeyondFloat } from "../src/json/number";
import { query } from "../src/json/query";
import { rowOf, visible } from "../src/json/rows";
import { scan } from "../src/json/scan";
import { search } from "../src/json/search";
import { unwrap } from "../src/json/unwrap";
import { perform } from "../src/json/worker";

function doc(text: string) {
  const { doc, fault } = scan(text);
  assert.ok(doc, fault?.message);
  return doc;
}

test("values know where they are and what they hold", () => {
  const d = doc('{"a": [1, {"b/c": "x"}], "d": {}, "": null}');
  assert.equal(d.count, 7);
  const pointers = Array.from({ length: d.count }, (_, node) => pointerOf(d, node));
  assert.deepEqual(pointers, ["", "/a", "/a/0", "/a/1", "/a/1/b~1c", "/d", "/"]);
  pointers.forEach((pointer, node) => {
    assert.equal(find(d, pointer), node);
  });
  assert.deepEqual([...findAll(d, [...pointers, "/a/9", "/d/x", "/a/00"])], [0, 1, 2, 3, 4, 5, 6]);
  assert.equal(find(d, "/a/9"), undefined);
  assert.equal(find(d, "/a/9", true), 1);
  assert.deepEqual([...childrenOf(d, 1)], [2, 3]);
  assert.equal(keyOf(d, 4), "b/c");
  assert.deepEqual([...d.last], [6, 4, 2, 4, 4, 5, 6]);
});

test("numbers are what is written", () => {
  const text = "[123456789012345678901234567890, 1.10, -0, 1E+2, 4611686018453380079]";
  const d = doc(text);
  assert.equal(format(d, { indent: 0, sort: false }), text.replaceAll(" ", ""));
  assert.equal(lexeme(d, 5), "4611686018453380079");
});

test("what is no JSON is refused where it breaks", () => {
  const rows: [string, number][] = [
    ["", 0],
    ["{", 1],
    ['{"a": 1,}', 8],
    ["[1, 2", 5],
    ["[1 2]", 3],
    ["{'a': 1}", 1],
    ["[01]", 1],
    ["[1.]", 1],
    ["[+1]", 1],
    ["nul", 0],
    ['"abc', 0],
    ['"\\x"', 1],
    ['"\\u12g4"', 1],
    ['"a\nb"', 2],
    ["1 2", 2],
    ["[NaN]", 1],
    ['{"a" 1}', 5],
  ];
  for (const [text, offset] of rows) assert.equal(scan(text).fault?.offset, offset, text);
  assert.deepEqual([scan("{\n  x").fault?.line, scan("{\n  x").fault?.column], [2, 3]);
});

test("the public parsing suite", (t) => {
  const folder = "../../shared/suites/json-parsing";
  const from = existsSync(folder) ? folder : undefined;
  if (!from) {
    assert.notEqual(process.env.CI, "true", "the public parsing suite has to be there in CI");
    t.skip("the public parsing suite is not beside the project");
    return;
  }
  let judged = 0;
  const walk = (path: string): void => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      if (entry.isDirectory()) walk(`${path}/${entry.name}`);
      else if (/^[ynYN]_.*\.json$/.test(entry.name)) {
        const bytes = readFileSync(`${path}/${entry.name}`);
        let text: string;
        try {
          text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
        } catch {
          continue;
        }
        const isGood = scan(text).doc !== undefined;
        // Deeper than people read: the scanner says so.
        if (text.startsWith("[".repeat(1000))) continue;
        assert.equal(isGood, entry.name.toLowerCase().startsWith("y_"), entry.name);
        judged += 1;
      }
    }
  };
  walk(from);
  assert.ok(judged > 200, `only ${judged} files were judged`);
});

test("formatting changes white space alone", () => {
  const text = '{"b": [1, {}], "a": "\\u00e9 \\n", "c": []}';
  const pretty = format(doc(text), { indent: 2, sort: false });
  assert.equal(pretty, '{\n  "b": [\n    1,\n    {}\n  ],\n  "a": "\\u00e9 \\n",\n  "c": []\n}');
  assert.equal(format(doc(pretty), { indent: 0, sort: false }), '{"b":[1,{}],"a":"\\u00e9 \\n","c":[]}');
  assert.equal(format(doc(text), { indent: 0, sort: true }), '{"a":"\\u00e9 \\n","b":[1,{}],"c":[]}');
});

test("numbers by their worth", () => {
  for (const [a, b] of [
    ["1.0", "1"],
    ["1e2", "100"],
    ["-0", "0"],
    ["0.10", "1e-1"],
    ["123456789012345678901234567890", "1.2345678901234567890123456789e29"],
  ]) {
    assert.equal(canonicalNumber(a), canonicalNumber(b), `${a} ${b}`);
  }
  assert.notEqual(canonicalNumber("9007199254740993"), canonicalNumber("9007199254740992"));
  assert.ok(
    isBeyondFloat("9007199254740993") && isBeyondFloat("1e999") && isBeyondFloat("0.12345678901234567890"),
  );
  assert.ok(!isBeyondFloat("1.10") && !isBeyondFloat("1e300"));
});

test("search finds names and values, escaped or not", () => {
  const d = doc('{"Städte": ["Łódź", "Osl\\u006f"], "n": 4711, "x": {"oslo": null}}');
  const found = (text: string) => [...search(d, text).nodes].map((node) => pointerOf(d, node));
  assert.deepEqual(found("OSLO"), ["/Städte/1", "/x/oslo"]);
  assert.deepEqual(found("471"), ["/n"]);
  assert.deepEqual(found("städte"), ["/Städte"]);
  assert.equal(search(d, "o", 1).more, true);
});

test("JSON in strings is unwrapped as often as it takes", () => {
  const wrapped = JSON.stringify({ a: JSON.stringify([1, JSON.stringify({ b: 2 })]), c: "[no", d: "5" });
  const { text, count } = unwrap(doc(wrapped));
  assert.equal(count, 2);
  assert.deepEqual(JSON.parse(text), { a: [1, { b: 2 }], c: "[no", d: "5" });
  assert.equal(
    unwrap(doc('{"a": "{\\"n\\": 12345678901234567890}"}')).text,
    '{"a": {"n": 12345678901234567890}}',
  );
});

test("JSONPath answers with places", () => {
  const text = `{"it's": [{"p": 1}, {"p": 5}], "a\\\\b": {"p": 7}}`;
  assert.deepEqual(query(text, "$..p").pointers?.sort(), ["/a\\b/p", "/it's/0/p", "/it's/1/p"]);
  assert.deepEqual(query(text, '$["it\'s"][?@.p > 2]').pointers, ["/it's/1"]);
  assert.ok(query(text, "$[").fault);
});

test("only what is open is visible", () => {
  const d = doc('{"a": {"b": [1, 2]}, "c": 3}');
  assert.deepEqual([...visible(d, () => true)], [0, 1, 2, 3, 4, 5]);
  assert.deepEqual([...visible(d, (node) => node !== 1)], [0, 1, 5]);
  assert.deepEqual([...visible(d, () => false)], [0]);
  assert.equal(
    rowOf(
      visible(d, (node) => node !== 1),
      5,
    ),
    2,
  );
  assert.equal(
    rowOf(
      visible(d, (node) => node !== 1),
      3,
    ),
    -1,
  );
});

test("an answer is read without its largest member, to the digit", async () => {
  const text = '{"admitted": true, "text": "{\\"text\\": 1}", "got": 12345678901234567890.10}';
  const answer = await perform({ id: 1, operation: "without", input: { text, name: "text" } });
  assert.deepEqual(answer, { id: 1, value: '{"admitted": true,"got": 12345678901234567890.10}' });
  const none = await perform({ id: 2, operation: "without", input: { text: "no", name: "text" } });
  assert.deepEqual(none, { id: 2, value: "no" });
});
