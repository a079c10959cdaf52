// Links: what goes in comes out, and nothing else gets in.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fromLink, toLink } from "../src/share";

test("a link carries the state", async () => {
  const state = {
    documents: ['{"n": 12345678901234567890, "t": "Łódź 🌊"}', "[1, 2"],
    schema: "{}",
    path: "$..n",
  };
  const link = await toLink(state);
  assert.match(link, /^v1\.d\.[A-Za-z0-9_-]+$/);
  assert.deepEqual(await fromLink(link), state);
  const large = {
    documents: [JSON.stringify(Array.from({ length: 3000 }, (_, i) => ({ id: i, name: `row ${i}` })))],
  };
  assert.ok((await toLink(large)).length < large.documents[0].length / 3);
});

test("other links are refused with words", async () => {
  const bomb = await toLink({ documents: ["0".repeat(9_000_000)] });
  const rows: [string, RegExp][] = [
    ["v2.d.abc", /another version/],
    ["", /another version/],
    ["v1.d.!!!", /damaged/],
    [(await toLink({ documents: ["{}"] })).slice(0, -6), /damaged|cut/],
    [bomb, /too large/],
    [await toLink({ documents: [1] } as unknown as { documents: string[] }), /no documents/],
    [await toLink({ documents: ["", "", "", ""] }), /no documents/],
  ];
  for (const [link, why] of rows) await assert.rejects(fromLink(link), why, link.slice(0, 20));
});
