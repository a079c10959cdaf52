// Everything without a mouse.

import assert from "node:assert/strict";
import { test } from "node:test";
import { chromium, stage } from "../stage.mjs";
import { REPAIRED, REPAIRED_GOAL } from "../tales.mjs";
import { becomes, visit } from "../visit.mjs";
import { runTo } from "../world.mjs";

const kept = chromium();

async function twoRuns(t) {
  const { server } = await stage(t, REPAIRED);
  await runTo(server, "Another goal");
  await runTo(server, REPAIRED_GOAL);
  return server;
}

const focused = (page) =>
  page.evaluate(
    () => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent,
  );

/** The text of the row that a tree in focus says is the current one. */
const spoken = (page) =>
  page.evaluate(() => {
    const id = document.activeElement?.getAttribute("aria-activedescendant");
    return id ? document.getElementById(id)?.innerText : undefined;
  });

/** Tab, until what has the focus is called so. */
async function tabTo(page, name) {
  for (let i = 0; i < 60; i += 1) {
    await page.keyboard.press("Tab");
    const now = await focused(page);
    if (now && name.test(now)) return;
  }
  assert.fail(`Tab never comes to ${name}`);
}

test("from the list to the refused value and back, by keys alone", async (t) => {
  const server = await twoRuns(t);
  await visit(kept.chrome, server, async (page) => {
    await page.locator(".run-row").first().waitFor();
    // The first stop leads past the bar.
    await page.keyboard.press("Tab");
    await becomes(() => focused(page), /^to the content$/);
    await page.keyboard.press("Enter");
    await page.keyboard.press("/");
    await becomes(() => focused(page), /^Search runs/);
    await page.keyboard.type("Who is");
    await page.getByText("1 run", { exact: true }).waitFor();
    await tabTo(page, /^Runs, newest first/);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: REPAIRED_GOAL }).waitFor();
    await tabTo(page, /^Timeline/);
    await page.keyboard.press("j");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Home");
    await page.keyboard.press("e");
    await page.getByRole("heading", { name: /get_ticket/, level: 2 }).waitFor();
    await page.keyboard.press("Enter");
    await becomes(() => focused(page), /^What is selected$/);
    // Tabs: one stop, arrows move.
    await tabTo(page, /^Gates$/);
    await page.keyboard.press("ArrowLeft");
    await becomes(() => focused(page), /^Documents$/);
    await page.keyboard.press("ArrowRight");
    // Into the document: the row that is spoken is the one that is drawn.
    await tabTo(page, /^The arguments that were judged/);
    await page.keyboard.press("ArrowDown");
    await becomes(() => spoken(page), /ticketId.*pattern/);
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await becomes(async () => String(await page.getByRole("treeitem", { expanded: false }).count()), /^1$/);
    // Help, and the other views.
    await page.keyboard.press("?");
    await page.getByRole("region", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("3");
    await page.getByRole("heading", { name: "Catalog" }).waitFor();
    await page.keyboard.press("4");
    await page.getByRole("heading", { name: "Workbench" }).waitFor();
    await page.keyboard.press("2");
    await page.getByRole("heading", { name: "Approvals" }).waitFor();
    await page.keyboard.press("1");
    await page.getByRole("heading", { name: "Runs", exact: true }).waitFor();
  });
});

test("single keys can be switched off, and stay so", async (t) => {
  const server = await twoRuns(t);
  await visit(kept.chrome, server, async (page) => {
    await page.locator(".run-row").first().waitFor();
    await page.keyboard.press("?");
    await page.getByLabel("single keys do something").uncheck();
    await page.getByRole("button", { name: "close" }).click();
    await page.reload();
    await page.locator(".run-row").first().waitFor();
    await page.keyboard.press("4");
    await page.keyboard.press("?");
    assert.equal(await page.getByRole("region", { name: "Keys" }).count(), 0);
    assert.equal(await page.getByRole("heading", { name: "Workbench" }).count(), 0);
  });
});
