// Every view in both themes, narrow and wide: nothing that axe finds, nothing wider than its window.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { chromium, stage } from "../stage.mjs";
import { withDrift } from "../drift.mjs";
import { APPROVED, APPROVED_GOAL, REPAIRED, REPAIRED_GOAL } from "../tales.mjs";
import { VIEWS } from "../views.mjs";
import { assertFits, until } from "../visit.mjs";
import { page as open, runTo } from "../world.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
const kept = chromium();

async function audited(page) {
  // The page's own policy forbids scripts of others: axe comes through the debugger.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  const { violations } = await page.evaluate(
    (tags) => window.axe.run(document, { runOnly: tags, resultTypes: ["violations"] }),
    TAGS,
  );
  return violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .slice(0, 3)
        .map((node) => `${node.target} ${node.failureSummary}`)
        .join(" | ")}`,
  );
}

const LOOKS = ["light", "dark"].flatMap((theme) => [360, 1360].map((width) => ({ theme, width })));

test("every view, light and dark, 360 and 1360 px", async (t) => {
  const { server } = await stage(t, APPROVED, withDrift());
  const waiting = await runTo(server, APPROVED_GOAL);
  const other = await stage(t, REPAIRED);
  const repaired = await runTo(other.server, REPAIRED_GOAL);
  const found = [];
  let looks = 0;
  for (const [name, go] of VIEWS) {
    const { base } = /waiting|approvals|catalog$/.test(name) ? server : other.server;
    const { page, context, complaints } = await open(kept.chrome, { base });
    page.base = base;
    try {
      await go(page, { repaired, waiting });
      for (const { theme, width } of LOOKS) {
        await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
        await page.setViewportSize({ width, height: 800 });
        const what = `${name}, ${theme}, ${width} px`;
        for (const violation of await audited(page)) found.push(`${what}: ${violation}`);
        await assertFits(page, what).catch((error) => found.push(error.message));
        looks += 1;
      }
    } catch (error) {
      found.push(`${name} cannot be come to: ${error.message}`);
    } finally {
      for (const complaint of complaints) found.push(`${name} complains: ${complaint}`);
      await context.close();
    }
  }
  t.diagnostic(`axe looked ${looks} times, at ${VIEWS.length} views`);
  assert.equal(found.length, 0, found.slice(0, 20).join("\n"));
});

test("4k: the page uses its room, and nothing is cut", async (t) => {
  const { server } = await stage(t, REPAIRED);
  const run = await runTo(server, REPAIRED_GOAL);
  const { page, context, complaints } = await open(kept.chrome, {
    base: server.base,
    viewport: { width: 3840, height: 2160 },
  });
  t.after(() => context.close());
  await page.goto(`${server.base}/#/runs/${run}`);
  await page.locator(".timeline-row").first().waitFor();
  await assertFits(page, "a run");
  const { right, bottom } = await page
    .locator(".split")
    .evaluate((one) => one.getBoundingClientRect().toJSON());
  assert.ok(right > 3700 && bottom > 2000, `${right} × ${bottom}`);
  const cut = await page
    .locator(".timeline-row .label")
    .evaluateAll((labels) => labels.filter((one) => one.scrollWidth > one.clientWidth).length);
  assert.equal(cut, 0);
  assert.deepEqual(complaints, []);
});

test("a theme that was chosen stays", async (t) => {
  const { server } = await stage(t, REPAIRED);
  const { page, context } = await open(kept.chrome, { base: server.base, colorScheme: "light" });
  t.after(() => context.close());
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.goto(`${server.base}/`);
  const light = await ground();
  await page.getByRole("combobox", { name: "Theme" }).selectOption("dark");
  await until("it is dark", async () => (await ground()) !== light);
  const dark = await ground();
  await page.reload();
  await until("it is dark again", async () => (await ground()) === dark);
});
