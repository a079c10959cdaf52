// A call that is refused, and what the model made of it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { chromium, stage } from "../stage.mjs";
import { REPAIRED, REPAIRED_GOAL, MENDED, MENDED_GOAL } from "../tales.mjs";
import { becomes, tab, timeline, visit } from "../visit.mjs";
import { runTo } from "../world.mjs";

const kept = chromium();

test("a refused call that the model repairs: from the list to what it read", async (t) => {
  const { server } = await stage(t, REPAIRED);
  await runTo(server, REPAIRED_GOAL);
  await visit(kept.chrome, server, async (page) => {
    await page.getByRole("option", { name: REPAIRED_GOAL }).click();
    const rows = await timeline(page);
    assert.equal(rows.length, 7, rows.join("\n"));
    assert.match(rows[2], /get_ticket #1 ✕ schema_mismatch/);
    assert.match(rows[4], /get_ticket #2 ✓ done/);

    // To the refusal by a key; the first place is the verdict itself.
    await page.getByRole("listbox", { name: "Timeline" }).focus();
    await page.keyboard.press("e");
    const detail = page.getByRole("region", { name: "What is selected" });
    await detail.getByRole("alert").getByText("schema_mismatch").waitFor();
    assert.match(await detail.getByRole("alert").innerText(), /The tool did not run/);
    // In the document: the value, and at it what is wrong.
    const bad = detail.getByRole("treeitem", {
      name: /ticketId.*"1042".*pattern: expected "\^T-\[0-9\]\+\$"/,
    });
    await bad.waitFor();

    // Where the value came from, and that nothing was sent.
    await tab(page, "Values");
    const row = detail.getByRole("row", { name: /\/ticketId/ });
    const cells = (await row.locator("th, td").allInnerTexts()).map((text) => text.trim());
    assert.match(cells[0], /pattern/);
    assert.equal(cells[1], '"1042"');
    assert.equal(cells[2], "—");
    assert.equal(cells[3], "—");
    assert.match(cells[4], /the user/);

    // What the model read of it: the refusal as it was sent.
    await tab(page, "Result");
    await detail.getByRole("tree", { name: "What the model read" }).waitFor();
    assert.match(
      await detail.getByRole("tree", { name: "What the model read" }).innerText(),
      /"?executed"?: false/,
    );

    // The second try: admitted, sent, answered.
    await page.getByRole("option", { name: /get_ticket #2/ }).click();
    const second = detail.getByRole("row", { name: /\/ticketId/ });
    const went = (await second.locator("th, td").allInnerTexts()).map((text) => text.trim());
    assert.equal(went[1], '"T-1042"');
    assert.equal(went[2], '"T-1042"');
    assert.match(went[3], /T-1042 url/);
    assert.match(went[4], /the user/);
    await tab(page, "Result");
    await detail
      .getByRole("tree", { name: "The structured value of the result" })
      .getByText("Maria Silva")
      .waitFor();
    await tab(page, "Definition");
    await detail.getByRole("tree", { name: "The definition as the model was shown it" }).waitFor();
    await page.getByRole("button", { name: "copy as curl" }).click();
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    await becomes(copied, /^curl -X GET .*\/tickets\/T-1042' -H 'accept: /);

    // The address names the call: whoever gets it sees the same.
    assert.match(page.url(), /#\/runs\/[^/]+\/call-/);
    await page.reload();
    await detail.getByRole("heading", { name: /get_ticket/ }).waitFor();
  });
});

test("what was mended is told of each value", async (t) => {
  const { server } = await stage(t, MENDED);
  const run = await runTo(server, MENDED_GOAL);
  await visit(
    kept.chrome,
    server,
    async (page) => {
      await page.getByRole("option", { name: /searchInvoices/ }).click();
      const detail = page.getByRole("region", { name: "What is selected" });
      await detail.getByRole("row", { name: /\/startDate/ }).waitFor();
      assert.match(await detail.getByRole("row", { name: /\/startDate/ }).innerText(), /spelled otherwise/);
      await tab(page, "Documents");
      await detail
        .getByRole("region", { name: "The arguments as the model wrote them" })
        .getByText("```json")
        .waitFor();
      await detail.getByRole("tree", { name: "The arguments: admitted" }).getByText("startDate").waitFor();
      await tab(page, "Gates");
      assert.match(await detail.getByRole("list").first().innerText(), /code fence.*comma/s);
      await tab(page, "Result");
      // 19 digits, every one of them.
      await detail.getByText("4611686018453380079").first().waitFor();
    },
    { hash: `#/runs/${run}` },
  );
});
