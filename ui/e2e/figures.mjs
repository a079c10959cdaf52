// What the stories measure, kept for whoever writes it down (docs/inspector.md).

import { appendFileSync, mkdirSync } from "node:fs";
import { cpus } from "node:os";

const folder = new URL("../.tmp/", import.meta.url);
const file = new URL("figures.jsonl", folder);

/** A figure, told at once and kept. */
export function figure(test, name, value, unit, limit) {
  const told = { name, value: Math.round(value), unit, ...(limit === undefined ? {} : { limit }) };
  test.diagnostic(`${name}: ${told.value} ${unit}${limit === undefined ? "" : ` (limit ${limit})`}`);
  mkdirSync(folder, { recursive: true });
  appendFileSync(file, `${JSON.stringify({ ...told, cpus: cpus().length })}\n`);
}

/** From now on the page keeps how long its main thread was busy at a time. */
export async function watchTasks(page) {
  await page.addInitScript(() => {
    window.longTasks = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) window.longTasks.push(entry.duration);
    }).observe({ type: "longtask", buffered: true });
  });
}

/** The longest task since the last look; 0 where none was over 50 ms. */
export async function longestTask(page) {
  // The observer is told when the thread is idle.
  await page.waitForTimeout(150);
  return page.evaluate(() => Math.max(0, ...window.longTasks.splice(0)));
}
