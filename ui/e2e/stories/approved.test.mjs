// A person is asked, and writes what they would rather have.

import assert from "node:assert/strict";
import { test } from "node:test";
import { chromium, stage } from "../stage.mjs";
import { APPROVED, APPROVED_GOAL } from "../tales.mjs";
import { until, visit } from "../visit.mjs";
import { runTo } from "../world.mjs";

const kept = chromium();

async function asked(t) {
  const { server, book } = await stage(t, APPROVED);
  return { server, book, run: await runTo(server, APPROVED_GOAL) };
}

const written = (book) =>
  book.book.filter((one) => one.method === "POST").map((one) => JSON.parse(one.body).text);

test("an approval is edited, and the edit is what is written, once", async (t) => {
  const { server, book, run } = await asked(t);
  await visit(kept.chrome, server, async (page) => {
    await page.getByRole("link", { name: "Approvals 1" }).waitFor();
    await page.getByRole("link", { name: /Approvals/ }).click();
    await page.getByRole("tree", { name: "The arguments of add_note" }).getByText("tomorow").waitFor();
    await page.getByRole("button", { name: "Edit arguments" }).click();
    const box = page.getByRole("textbox", { name: "arguments, judged again by the gates" });

    // No JSON is not sent; what the gates refuse is told, and nothing happens.
    await box.fill('{"ticketId": "T-1042", "text": ');
    await page.getByText(/line 1, column/).waitFor();
    assert.ok(await page.getByRole("button", { name: "Send the edit" }).isDisabled());

    await box.fill('{"ticketId": "T-1042", "text": "Your refund comes tomorrow."}');
    await page.getByRole("button", { name: "Send the edit" }).click();
    // The gates judged the edit; it is asked about again, as it is now.
    await page
      .getByRole("tree", { name: "The arguments of add_note" })
      .getByText("Your refund comes tomorrow.")
      .waitFor();
    assert.deepEqual(written(book), []);
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("Nothing waits for anybody.").waitFor();
    await until("the run ends", async () => (await server.get(`/api/runs/${run}`)).state === "answered");
    assert.deepEqual(written(book), ["Your refund comes tomorrow."]);

    // The run tells both texts, and who came in between.
    await page.goto(`${server.base}/#/runs/${run}`);
    await page.getByRole("option", { name: /^add_note/ }).click();
    const row = page.getByRole("row", { name: /\/text/ });
    await row.waitFor();
    const text = await row.innerText();
    assert.match(text, /edited by a person/);
    assert.match(text, /tomorow/);
    assert.match(text, /Your refund comes tomorrow/);
  });
});

test("a no with its reason reaches the model, and nothing is written", async (t) => {
  const { server, book, run } = await asked(t);
  await visit(
    kept.chrome,
    server,
    async (page) => {
      await page.getByRole("option", { name: /^add_note/ }).click();
      await page.getByLabel("why not").fill("Not yet decided.");
      await page.getByRole("button", { name: "Reject" }).click();
      await page.getByRole("option", { name: /^add_note.*rejected/ }).waitFor();
      await page.getByRole("tab", { name: "Result" }).click();
      await page
        .getByText(/Not yet decided\./)
        .first()
        .waitFor();
    },
    { hash: `#/runs/${run}` },
  );
  await until("the run ends", async () => (await server.get(`/api/runs/${run}`)).state === "answered");
  assert.deepEqual(written(book), []);
});
