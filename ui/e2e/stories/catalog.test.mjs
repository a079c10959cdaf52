// The tools: read, tried, and one of them told otherwise than it was accepted.

import assert from "node:assert/strict";
import { test } from "node:test";
import { DRIFTED, LIST, STORE, withDrift } from "../drift.mjs";
import { chromium, stage } from "../stage.mjs";
import { REPAIRED } from "../tales.mjs";
import { tab, visit } from "../visit.mjs";
import { callgate } from "../world.mjs";

const kept = chromium();

test("a tool that drifted from its lock is told with what proves it", async (t) => {
  const world = await stage(t, REPAIRED, withDrift(DRIFTED));
  await visit(
    kept.chrome,
    world.server,
    async (page) => {
      const notes = page.getByRole("region", { name: "MCP servers" });
      await notes.getByText("2 definitions not as accepted").waitFor();
      const store = notes.getByRole("article").filter({ hasText: "store" });
      const text = await store.innerText();
      assert.match(text, /changed store/);
      assert.match(text, /note and posts it\./);
      assert.match(text, /readOnlyHint:\s*true\s*false/);
      // The counterexample: a value that only the new definition takes, one that only the old one took.
      const takes = store.getByRole("region", { name: "what it takes" });
      const facts = await takes.locator("dl").innerText();
      assert.match(facts, /admitted now only\s+\{"to": ?-?\d+\}/);
      assert.match(facts, /admitted before only\s+\{"to": ?"[^"]*"\}/);
      assert.match(facts, /\/properties\/to\/type\s+"string"\s+"integer"/);
      const purge = notes.getByRole("article").filter({ hasText: "purge" });
      assert.match(await purge.innerText(), /new purge\s+Deletes everything\./);
      assert.match(await notes.innerText(), /notes-server 1\.2\.3 · MCP 2025-06-18/);
    },
    { hash: "#/catalog" },
  );
  // Accepted: nothing differs any more.
  await world.server.stop();
  assert.equal(callgate(world.folder, ["lock", "--accept"]).status, 0);
  await world.start();
  await visit(kept.chrome, world.server, (page) => page.getByText("3 tools as accepted").waitFor(), {
    hash: "#/catalog",
  });
});

test("a tool is read, asked about and called by a form", async (t) => {
  const { server, book } = await stage(t, REPAIRED, withDrift([STORE, LIST]));
  await visit(
    kept.chrome,
    server,
    async (page) => {
      await page.getByRole("searchbox", { name: "Search tools" }).fill("ticket");
      await page.getByRole("link", { name: "get_ticket" }).click();
      await page.getByText("like ^T-[0-9]+$").first().waitFor();
      await tab(page, "Try a call");
      const field = page.getByRole("textbox", { name: /^ticketId/ });
      await field.fill("1042");
      await page.getByRole("button", { name: "Ask the gates" }).click();
      assert.match(await page.getByRole("alert").innerText(), /schema_mismatch/);
      await field.fill("T-1042");
      assert.equal(
        await page.getByRole("textbox", { name: "as JSON" }).inputValue(),
        '{"ticketId": "T-1042"}',
      );
      await page.getByRole("button", { name: "Ask the gates" }).click();
      await page.getByText(/^✓ admitted$/).waitFor();
      const before = book.book.length;
      await page.getByRole("button", { name: "Call the tool" }).click();
      await page.getByRole("tree", { name: "What came of the call" }).getByText("Maria Silva").waitFor();
      assert.equal(book.book.length, before + 1);
      await tab(page, "Findings");
      await page
        .getByRole("tabpanel")
        .getByText(/Nothing to say|·|\//)
        .first()
        .waitFor();
      await tab(page, "Contract");
      await page.getByRole("tree", { name: "The contract of get_ticket" }).waitFor();
      // A tool of the MCP server, too.
      await page.getByRole("searchbox", { name: "Search tools" }).fill("notes__");
      await page.getByRole("link", { name: "notes__store" }).click();
      await tab(page, "Try a call");
      await page.getByRole("textbox", { name: /^to/ }).fill("Ana");
      await page.getByRole("button", { name: "Call the tool" }).click();
      await page
        .getByText(/stored for Ana/)
        .first()
        .waitFor();
    },
    { hash: "#/catalog" },
  );
});
