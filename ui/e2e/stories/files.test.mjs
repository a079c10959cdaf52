// Runs as files: one page of its own, dropped, kept, forked, replayed.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { chromium, stage } from "../stage.mjs";
import { REPAIRED, REPAIRED_GOAL } from "../tales.mjs";
import { tab, timeline, visit } from "../visit.mjs";
import { callgate, runTo } from "../world.mjs";

const kept = chromium();

async function exported(t) {
  const world = await stage(t, REPAIRED);
  const run = await runTo(world.server, REPAIRED_GOAL);
  const file = join(world.folder, "run.jsonl");
  const ended = callgate(world.folder, ["runs", "export", run, "-o", file], { SUPPORT_URL: world.book.url });
  assert.equal(ended.status, 0, ended.error);
  return { ...world, run, file };
}

/** A file dragged in from elsewhere, onto the page. */
async function drop(page, name, text) {
  const transfer = await page.evaluateHandle(
    ([name, text]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([text], name));
      return transfer;
    },
    [name, text],
  );
  await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
}

test("a run as one page: opened from the disk, offline, with everything in it", async (t) => {
  const { folder, run } = await exported(t);
  const file = join(folder, "run.html");
  const ended = callgate(folder, ["runs", "export", run, "--html", "-o", file]);
  assert.equal(ended.status, 0, ended.error);
  const asked = [];
  await visit(kept.chrome, `file://${file}`, async (page, context) => {
    await context.setOffline(true);
    page.on("request", (request) => asked.push(request.url()));
    await page.reload();
    await page.getByRole("heading", { name: REPAIRED_GOAL }).waitFor();
    assert.equal((await timeline(page)).length, 7);
    await page.getByRole("listbox", { name: "Timeline" }).focus();
    await page.keyboard.press("e");
    await page.getByRole("treeitem", { name: /ticketId.*pattern/ }).waitFor();
    await tab(page, "Values");
    await page.getByRole("row", { name: /\/ticketId.*the user/s }).waitFor();
    await tab(page, "Result");
    await page.getByRole("tree", { name: "What the model read" }).waitFor();
    // The workbench works there, too: its worker is within the file.
    await page.getByRole("link", { name: "Workbench" }).click();
    await page.getByRole("textbox", { name: "Document A" }).fill('{"a": 12345678901234567890}');
    await page.getByRole("treeitem", { name: /12345678901234567890/ }).waitFor();
    await page.getByRole("link", { name: "Catalog" }).click();
    await page.getByRole("link", { name: "get_ticket" }).click();
    await page.getByRole("heading", { name: /get_ticket/ }).waitFor();
  });
  const elsewhere = asked.filter((url) => !url.startsWith("blob:") && !url.startsWith("data:"));
  assert.deepEqual([...new Set(elsewhere.map((url) => url.split("#")[0]))], [`file://${file}`]);
});

test("a run file is dropped on a server's page, looked at, and kept there", async (t) => {
  const { file } = await exported(t);
  const other = await stage(t, REPAIRED);
  const text = readFileSync(file, "utf8");
  await visit(kept.chrome, other.server, async (page) => {
    await page.getByText(/^No runs/).waitFor();
    // A file that was changed on the way is refused.
    await drop(page, "run.jsonl", text.replace("Maria", "Mario"));
    await page
      .getByRole("alert")
      .getByText(/was changed/)
      .waitFor();
    await drop(page, "run.jsonl", text);
    await page.getByRole("heading", { name: REPAIRED_GOAL }).waitFor();
    assert.equal((await timeline(page)).length, 7);
    // It stands in the list, beside what the server has.
    await page.keyboard.press("1");
    const row = page.locator(".run-row");
    await row.getByText("opened from a file").waitFor();
    await row.click();
    await page.getByRole("button", { name: "keep it on this server" }).click();
    await page.getByText("it is kept on this server now").waitFor();
    await page.getByRole("button", { name: "replay" }).waitFor();
    const { runs } = await other.server.get("/api/runs");
    assert.equal(runs.length, 1);
    assert.equal(runs[0].goal, REPAIRED_GOAL);
  });
});

test("a run is replayed and forked from its page, and downloaded", async (t) => {
  const { server, run, file } = await exported(t);
  await visit(
    kept.chrome,
    server,
    async (page) => {
      await page.getByRole("button", { name: "replay" }).click();
      await page.getByText("replayed: every verdict and effect is the same").waitFor();
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "export" }).click(),
      ]);
      assert.equal(download.suggestedFilename(), `${run}.jsonl`);
      assert.equal(readFileSync(await download.path(), "utf8"), readFileSync(file, "utf8"));
      // From the second hop on, by the same model.
      await page.getByRole("option", { name: /^hop 2/ }).click();
      await page.getByText("fork at hop 2").click();
      await page.getByRole("button", { name: "fork", exact: true }).click();
      await page.getByText("forked from").waitFor();
      assert.ok(!page.url().includes(run), page.url());
      await page.getByRole("link", { name: run }).waitFor();
      await page.locator(".run-head").getByText("answered").waitFor();
    },
    { hash: `#/runs/${run}` },
  );
});
