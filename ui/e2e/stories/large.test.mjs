// Large things: how long they take, and how long the page's thread is busy at a time.
//
// The limit of 200 ms holds for a machine that has nothing else to do, and what else it does can only
// add: a journey with a step over the limit is done again, up to four times, and the least counts.

import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { figure, longestTask, watchTasks } from "../figures.mjs";
import { document, fill } from "../large.mjs";
import { chromium, stage } from "../stage.mjs";
import { many, REPAIRED, REPAIRED_GOAL } from "../tales.mjs";
import { until, visit } from "../visit.mjs";
import { runTo } from "../world.mjs";

const LONGEST_TASK = 200;
const BYTES = 10_000_000;
const RUNS = 100_000;
const HOPS = 500;

const kept = chromium();

/** Does a journey, and again while a step kept the thread too long each time; the least of each step. */
async function measured(journey) {
  const least = await journey();
  for (let again = 0; again < 4 && [...least.values()].some((task) => task > LONGEST_TASK); again += 1)
    for (const [step, task] of await journey()) least.set(step, Math.min(least.get(step) ?? task, task));
  return least;
}

/** Tells the longest task of each step; none may be over the limit. */
function told(t, what, tasks) {
  for (const [name, ms] of tasks) figure(t, `${what}, ${name}: longest task`, ms, "ms", LONGEST_TASK);
  const over = [...tasks].filter(([, ms]) => ms > LONGEST_TASK);
  assert.deepEqual(over, []);
}

test("a document of 10 MB is formatted, searched, asked, judged and compared", async (t) => {
  const { server, folder } = await stage(t, REPAIRED);
  const [a, b] = [join(folder, "a.json"), join(folder, "b.json")];
  writeFileSync(a, document(BYTES));
  writeFileSync(b, document(BYTES, true));
  const took = [];
  const journey = () =>
    visit(kept.chrome, server, async (page) => {
      await watchTasks(page);
      await page.goto(`${server.base}/#/workbench`);
      await page.reload();
      await page.getByRole("heading", { name: "Workbench" }).waitFor();
      const steps = new Map();
      const step = async (name, work) => {
        await longestTask(page);
        const from = Date.now();
        await work();
        took.push([name, Date.now() - from]);
        steps.set(name, await longestTask(page));
      };
      const tree = (name) => page.getByRole("tree", { name: `Document ${name}` });
      await step("open", async () => {
        await page.getByLabel("open a file").setInputFiles(a);
        await tree("A").getByText("spans").waitFor();
      });
      await step("scroll", async () => {
        await tree("A").focus();
        await page.keyboard.press("ArrowDown");
        await page.keyboard.press("ArrowRight");
        for (let i = 0; i < 10; i += 1) await page.keyboard.press("PageDown");
        await page.keyboard.press("End");
        await tree("A").getByText("found it").waitFor();
      });
      await step("search", async () => {
        await page.getByRole("searchbox").fill("found it");
        await page.getByRole("button", { name: "search", exact: true }).click();
        await page.getByText(/^1 found/).waitFor();
      });
      await step("search, many", async () => {
        await page.getByRole("searchbox").fill("get_ticket");
        await page.getByRole("button", { name: "search", exact: true }).click();
        await page.getByText(/^10,000\+ found/).waitFor();
      });
      await step("JSONPath", async () => {
        await page.getByRole("textbox", { name: /JSONPath/ }).fill("$.spans[?@.name=='span 5'].id");
        await page.getByRole("button", { name: "ask" }).click();
        await page.getByText(/^[1-9][0-9]{2} found/).waitFor();
      });
      await step("format", async () => {
        const before = await page.getByRole("button", { name: /^A / }).innerText();
        await page.getByRole("button", { name: "format", exact: true }).click();
        await until(
          "it is longer",
          async () => (await page.getByRole("button", { name: /^A / }).innerText()) !== before,
        );
        await tree("A").getByText("spans").waitFor();
      });
      await step("validate", async () => {
        await page.getByText("validate by a JSON Schema").click();
        await page
          .getByRole("textbox", { name: "schema" })
          .fill('{"properties": {"spans": {"items": {"required": ["id"]}}, "needle": {"const": "lost"}}}');
        await page.getByRole("button", { name: "validate A" }).click();
        await page
          .getByRole("alert")
          .getByText(/schema_mismatch/)
          .waitFor({ timeout: 120_000 });
        await page.getByRole("treeitem", { name: /needle.*const/ }).waitFor();
      });
      await step("validate, admitted", async () => {
        await page.getByRole("textbox", { name: "schema" }).fill('{"type": "object"}');
        await page.getByRole("button", { name: "validate A" }).click();
        await page.getByText(/^✓ admitted$/).waitFor({ timeout: 120_000 });
      });
      await step("open another", async () => {
        await page.getByRole("button", { name: "+ document" }).click();
        await page.getByLabel("open a file").setInputFiles(b);
        await tree("B").getByText("spans").waitFor();
      });
      await step("compare", async () => {
        await page.getByRole("button", { name: "compare" }).click();
        await page.getByText("3 differences").waitFor({ timeout: 120_000 });
      });
      await step("next difference", async () => {
        await page.getByRole("button", { name: "next" }).click();
        await page.getByText(/not in all/).waitFor();
        await page.getByRole("button", { name: "next" }).click();
        await page
          .getByText(/differs/)
          .first()
          .waitFor();
      });
      const rows = await page.locator("*").count();
      assert.ok(rows < 1_500, `${rows} elements`);
      return steps;
    });
  const tasks = await measured(journey);
  for (const [name, ms] of took.slice(0, tasks.size)) figure(t, `10 MB, ${name}`, ms, "ms");
  told(t, "10 MB", tasks);
});

test("100,000 runs are listed, filtered and scrolled", async (t) => {
  const world = await stage(t, REPAIRED);
  await runTo(world.server, REPAIRED_GOAL);
  await world.server.stop();
  const journal = readdirSync(join(world.folder, ".callgate")).find((name) =>
    /\.(?:db|sqlite3?)$/.test(name),
  );
  fill(join(world.folder, ".callgate", journal), RUNS);
  const server = await world.start();
  const tasks = await measured(() =>
    visit(kept.chrome, server, async (page) => {
      await watchTasks(page);
      await page.reload();
      const steps = new Map();
      const first = page.locator(".run-row").first();
      await first.waitFor();
      const since = await page.evaluate(() => performance.now());
      figure(t, "100,000 runs, first rows after navigation", since, "ms");
      const timed = async (name, work) => {
        await longestTask(page);
        const from = Date.now();
        await work();
        figure(t, `100,000 runs, ${name}`, Date.now() - from, "ms");
        steps.set(name, await longestTask(page));
      };
      const goal = (text) => page.locator(".run-row").filter({ hasText: text }).first().waitFor();
      await timed("search", async () => {
        await page.getByRole("searchbox").fill("number 4242");
        await goal("goal number 4242");
      });
      await page.getByRole("searchbox").fill("");
      await timed("filter by state", async () => {
        await page.getByLabel("waiting").check();
        await page.getByText("20 runs", { exact: true }).waitFor();
      });
      await page.getByLabel("waiting").uncheck();
      await timed("filter by verdict", async () => {
        await page.getByLabel(/^Kind of refusal/).fill("schema_mismatch");
        await page.keyboard.press("Enter");
        await goal("goal number 99900");
      });
      await page.getByLabel(/^Kind of refusal/).fill("");
      await page.keyboard.press("Enter");
      await goal("goal number 99999");
      await timed("scroll through 1,000", async () => {
        await page.getByRole("listbox", { name: "Runs, newest first" }).focus();
        for (let pages = 0; pages < 10; pages += 1) {
          await page.keyboard.press("End");
          await page.waitForFunction(
            (least) =>
              Number(
                /[\d,]+/.exec(document.querySelector(".foot")?.textContent ?? "")?.[0].replace(",", ""),
              ) > least,
            (pages + 1) * 100,
          );
        }
      });
      assert.ok((await page.locator(".run-row").count()) < 60, "only rows on the screen exist");
      return steps;
    }),
  );
  told(t, "100,000 runs", tasks);
});

test("a run of 500 hops is there quickly, and moves quickly", async (t) => {
  const { replies, extra } = many(HOPS);
  const { server } = await stage(t, replies, { extra });
  const run = await runTo(server, "Go through all tickets");
  await visit(
    kept.chrome,
    server,
    async (page) => {
      await watchTasks(page);
      await page.reload();
      await page.getByRole("option", { name: /^get_ticket #1 / }).waitFor();
      figure(t, "500 hops, first rows after navigation", await page.evaluate(() => performance.now()), "ms");
      await page.locator(".run-head").getByText("500 hops").waitFor();
      figure(t, "500 hops, all after navigation", await page.evaluate(() => performance.now()), "ms");
      figure(t, "500 hops, opening: longest task", await longestTask(page), "ms", LONGEST_TASK);
      const list = page.getByRole("listbox", { name: "Timeline" });
      await list.focus();
      const from = Date.now();
      for (let i = 0; i < 20; i += 1) await page.keyboard.press("j");
      figure(t, "500 hops, a step by key", (Date.now() - from) / 20, "ms");
      await page.keyboard.press("End");
      await page.getByRole("heading", { name: /^The end/ }).waitFor();
      const task = await longestTask(page);
      figure(t, "500 hops, moving: longest task", task, "ms", LONGEST_TASK);
      assert.ok(task <= LONGEST_TASK, `moving keeps the thread ${task} ms`);
    },
    { hash: `#/runs/${run}` },
  );
});
