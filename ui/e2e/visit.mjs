// A page that is looked at: it fails its story for whatever it complains about.

import assert from "node:assert/strict";
import { page as open } from "./world.mjs";

/** Opens `hash` of a server's page (or a file), lets `look` look, and closes it. */
export async function visit(chrome, where, look, options = {}) {
  const { hash = "", ...rest } = options;
  const base = typeof where === "string" ? undefined : where.base;
  const { page, context, complaints } = await open(chrome, { ...(base ? { base } : {}), ...rest });
  try {
    await page.goto(base ? `${base}/${hash}` : `${where}${hash}`);
    const seen = await look(page, context);
    assert.deepEqual(complaints, [], "the page complains, or asks elsewhere");
    return seen;
  } finally {
    await context.close();
  }
}

/** Rows of the timeline, as they are read. */
export async function timeline(page) {
  await page.locator(".timeline-row").first().waitFor();
  return page
    .locator(".timeline-row")
    .evaluateAll((rows) => rows.map((row) => row.innerText.replace(/\s+/g, " ")));
}

/** A tab of what is selected. */
export async function tab(page, name) {
  await page.getByRole("tab", { name, exact: true }).click();
}

/** Until `holds` is true; what it waits for is told where it is not. */
export async function until(what, holds, patience = 60_000) {
  const end = Date.now() + patience;
  for (;;) {
    if (await holds()) return;
    assert.ok(Date.now() < end, `in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Waits until what `look` sees matches: a page draws a moment after a key was pressed. */
export async function becomes(look, wanted, patience = 60_000) {
  const end = Date.now() + patience;
  for (;;) {
    const seen = String((await look()) ?? "");
    if (wanted.test(seen)) return;
    if (Date.now() > end) assert.match(seen, wanted);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The page itself never scrolls sideways. */
export async function assertFits(page, what) {
  const over = await page.evaluate(() => {
    const wide = document.documentElement.clientWidth;
    const main = document.getElementById("main");
    const page = main?.querySelector(".page");
    const scrolls = [document.documentElement, document.body, main, page].filter(
      (one) => one && one.scrollWidth > one.clientWidth + 1,
    );
    if (scrolls.length === 0) return [];
    return [...document.querySelectorAll("body *")]
      .filter((one) => one.getBoundingClientRect().right > wide + 1)
      .slice(0, 5)
      .map((one) => `${one.tagName}.${one.className}`)
      .concat(scrolls.map((one) => `${one.tagName} is ${one.scrollWidth} of ${one.clientWidth}`));
  });
  assert.deepEqual(over, [], `${what} is wider than its window`);
}
