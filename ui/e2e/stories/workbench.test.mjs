// Documents: mended, asked, compared, judged and given away by a link.

import assert from "node:assert/strict";
import { test } from "node:test";
import { chromium, stage } from "../stage.mjs";
import { REPAIRED } from "../tales.mjs";
import { visit } from "../visit.mjs";
import { browser } from "../world.mjs";

const kept = chromium();

const A =
  '{"id": 4611686018453380079, "price": 1.10, "items": [{"id": 1, "n": 1}, {"id": 2, "n": 2}], "inner": "{\\"a\\":[1,2]}"}';
const B =
  '{"price": 1.1, "id": 4611686018453380079, "items": [{"id": 2, "n": 3}], "inner": "{\\"a\\":[1,2]}"}';
const SCHEMA =
  '{"type": "object", "properties": {"price": {"type": "number", "maximum": 1}}, "required": ["id", "name"]}';

/** What is asked of the server, but for files and lists. */
function watched(page) {
  const asked = [];
  page.on("request", (request) => {
    const path = new URL(request.url()).pathname;
    if (path.startsWith("/api/") && request.method() !== "GET") asked.push(path);
  });
  return asked;
}

test("a document is formatted, searched, asked and judged, digits as they were", async (t) => {
  const { server } = await stage(t, REPAIRED);
  await visit(
    kept.chrome,
    server,
    async (page) => {
      const asked = watched(page);
      const box = page.getByRole("textbox", { name: "Document A" });
      await box.fill('{"a": 1,}');
      await page.getByText(/line 1, column 9/).waitFor();
      await box.fill(A);
      await page.getByRole("button", { name: "format", exact: true }).click();
      await page.waitForFunction(() => document.querySelector("textarea")?.value.includes("\n"));
      const text = await box.inputValue();
      assert.match(text, /^ {2}"id": 4611686018453380079,$/m);
      assert.match(text, /"price": 1\.10,/);
      await page.getByRole("searchbox", { name: "Search names and values" }).fill("3380079");
      await page.getByRole("button", { name: "search", exact: true }).click();
      await page
        .getByRole("status")
        .getByText(/^1 found/)
        .waitFor();
      assert.match(await page.locator(".json-row.hit").innerText(), /4611686018453380079/);
      await page.getByRole("textbox", { name: /JSONPath/ }).fill("$.items[?@.n>1].id");
      await page.getByRole("button", { name: "ask" }).click();
      await page.locator(".json-row.hit").getByText("2").waitFor();
      assert.deepEqual(asked, [], "nothing is sent anywhere until the gate is asked");

      // The server's gate, with path and keyword, in the document.
      await page.getByText("validate by a JSON Schema").click();
      await page.getByRole("textbox", { name: "schema" }).fill(SCHEMA);
      await page.getByRole("button", { name: "validate A" }).click();
      await page.getByRole("treeitem", { name: /price: 1\.10.*maximum: expected 1/ }).waitFor();
      await page.getByRole("treeitem", { name: /required: expected/ }).waitFor();
      assert.deepEqual(asked, ["/api/check"]);

      await page.getByRole("button", { name: "unwrap JSON in strings" }).click();
      await page.waitForFunction(() =>
        document.querySelector("textarea")?.value.includes('"inner": {"a":[1,2]}'),
      );
    },
    { hash: "#/workbench" },
  );
});

test("two documents are compared by what they are, and a link carries them to a fresh browser", async (t) => {
  const { server } = await stage(t, REPAIRED);
  const link = await visit(
    kept.chrome,
    server,
    async (page) => {
      const asked = watched(page);
      await page.getByRole("textbox", { name: "Document A" }).fill(A);
      await page.getByRole("button", { name: "+ document" }).click();
      await page.getByRole("textbox", { name: "Document B" }).fill(B);
      await page.getByRole("button", { name: "compare" }).click();
      // Members in another order and 1.10 for 1.1 are no changes; one element is gone, one number is another.
      await page.getByText("3 differences").waitFor();
      await page.getByLabel("only what differs").check();
      const rows = (await page.getByRole("row").allInnerTexts()).map((row) => row.replace(/\s+/g, " "));
      assert.ok(
        rows.some((row) => /price spelled otherwise 1\.10 1\.1/.test(row)),
        rows.join("\n"),
      );
      assert.ok(
        rows.some((row) => /0 not in all/.test(row)),
        rows.join("\n"),
      );
      assert.ok(
        rows.some((row) => /n differs 2 3/.test(row)),
        rows.join("\n"),
      );
      await page.getByRole("button", { name: "share link" }).click();
      await page.getByText(/the link is in the address bar/).waitFor();
      assert.deepEqual(asked, []);
      return page.url();
    },
    { hash: "#/workbench" },
  );
  assert.match(link, /#\/workbench\/v1\.d\./);
  // Another browser, another person: what follows the # is never sent to a server.
  const sent = [];
  const other = await browser();
  try {
    await visit(
      other,
      server,
      async (page) => {
        page.on("request", (request) => sent.push(request.url()));
        await page.reload();
        await page.getByRole("treeitem", { name: /4611686018453380079/ }).waitFor();
        await page.getByRole("button", { name: /^B / }).click();
        assert.equal(await page.getByRole("textbox", { name: "Document B" }).inputValue(), B);
        await page.getByRole("button", { name: "compare" }).click();
        await page.getByText("3 differences").waitFor();
      },
      { hash: new URL(link).hash },
    );
  } finally {
    await other.close();
  }
  assert.ok(
    sent.every((url) => !url.includes("v1.d.") || url.includes("#")),
    sent.join("\n"),
  );
  // A link that was cut says so.
  await visit(
    kept.chrome,
    server,
    async (page) => {
      await page
        .getByRole("alert")
        .getByText(/damaged|cut/)
        .waitFor();
    },
    { hash: `#/workbench/v1.d.${link.split("v1.d.")[1].slice(0, 60)}` },
  );
});
