// A run that is looked at while it goes on, also over a restart of its server.

import { test } from "node:test";
import { chromium, stage } from "../stage.mjs";
import { APPROVED, APPROVED_GOAL, HELD, HELD_GOAL } from "../tales.mjs";
import { becomes, until, visit } from "../visit.mjs";
import { page as open, runTo } from "../world.mjs";

const kept = chromium();

test("a page follows its run", async (t) => {
  const { server, book } = await stage(t, HELD);
  t.after(() => book.release());
  const { run } = await server.post("/api/runs", { goal: HELD_GOAL });
  await visit(
    kept.chrome,
    server,
    async (page) => {
      await page.getByText("live", { exact: true }).waitFor();
      await page.getByRole("option", { name: /searchInvoices.*done/ }).waitFor();
      await page.getByRole("option", { name: /get_ticket.*running/ }).waitFor();
      await becomes(() => page.locator(".timeline-row").count(), /^4$/);
      await until("the service holds it", () => book.book.some((one) => one.url === "/tickets/T-4000"));
      book.release();
      await page.getByRole("option", { name: /get_ticket.*done/ }).waitFor();
      await page
        .getByRole("option", { name: /1478\.60 EUR/ })
        .first()
        .waitFor();
      await page.locator(".run-head").getByText("answered").waitFor();
      await page.getByText("the run is over").waitFor();
      await becomes(() => page.getByText("live", { exact: true }).count(), /^0$/);
    },
    { hash: `#/runs/${run}` },
  );
});

test("a server that comes back is found again, and nothing is shown twice", async (t) => {
  const world = await stage(t, APPROVED);
  const { base } = world.server;
  const run = await runTo(world.server, APPROVED_GOAL);
  // It does complain here: the server is gone for a while.
  const { page, context } = await open(kept.chrome, { base });
  t.after(() => context.close());
  await page.goto(`${base}/#/runs/${run}`);
  await page.getByRole("option", { name: /^add_note.*waiting/ }).waitFor();
  await world.server.stop();
  await page.getByText("connection lost, trying again").waitFor();
  await world.start(new URL(base).port);
  await page.getByText("live", { exact: true }).waitFor();
  const rows = await page.locator(".timeline-row").count();
  await page.getByRole("option", { name: /^add_note/ }).click();
  await page.getByRole("button", { name: "Approve" }).click();
  await page.locator(".run-head").getByText("answered").waitFor();
  // Of the hop that was to come and the end there is one each.
  await becomes(() => page.locator(".timeline-row").count(), new RegExp(`^${rows + 2}$`));
});
