// Pictures of the main views, of real runs: `CALLGATE_BINARY=… node e2e/shots.mjs FOLDER`.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { withDrift } from "./drift.mjs";
import { APPROVED, APPROVED_GOAL, MENDED, MENDED_GOAL, REPAIRED, REPAIRED_GOAL } from "./tales.mjs";
import { tab } from "./visit.mjs";
import { browser, page as open, project, runTo, serve, service } from "./world.mjs";

const folder = process.argv[2];
if (!folder) throw new Error("say where: node e2e/shots.mjs FOLDER");
mkdirSync(folder, { recursive: true });

const book = await service();
const chrome = await browser();
const ends = [() => chrome.close(), () => book.close()];

/** A server whose model tells one tale after the other, in a journal that they share. */
async function tell(tales, options = {}) {
  const made = project(tales[0][0], options.extra);
  await options.prepare?.(made);
  ends.push(() => made.remove());
  const runs = [];
  let server;
  for (const [replies, goal] of tales) {
    await server?.stop();
    made.says(replies);
    server = await serve(made.folder, { SUPPORT_URL: book.url });
    runs.push(await runTo(server, goal));
  }
  const last = server;
  ends.unshift(() => last.stop());
  return { server, runs };
}

async function shot(server, name, hash, look, options = {}) {
  const { page, context } = await open(chrome, {
    base: server.base,
    viewport: { width: 1180, height: 700 },
    ...options,
  });
  await page.goto(`${server.base}/${hash}`);
  await look(page);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await context.close();
}

try {
  const { server, runs } = await tell(
    [
      [REPAIRED, "Who is assigned to ticket T-7, and is it open?"],
      [MENDED, MENDED_GOAL],
      [REPAIRED, REPAIRED_GOAL],
      [APPROVED, APPROVED_GOAL],
    ],
    withDrift(),
  );
  const [, mended, repaired] = runs;
  await shot(server, "runs", "#/runs", (page) => page.locator(".run-row").nth(3).waitFor());
  await shot(server, "call", `#/runs/${repaired}/call-call_0`, async (page) => {
    await tab(page, "Gates");
    await page.getByRole("treeitem", { name: /pattern/ }).waitFor();
  });
  await shot(
    server,
    "values-dark",
    `#/runs/${mended}/call-call_0`,
    async (page) => {
      await page
        .getByText(/spelled otherwise/)
        .first()
        .waitFor();
      await page
        .getByText(/the user/)
        .first()
        .waitFor();
    },
    { colorScheme: "dark" },
  );
  await shot(server, "approvals", "#/approvals", async (page) => {
    await page.getByText(/made it up/).waitFor();
  });
  await shot(server, "drift", "#/catalog/notes__store", (page) =>
    page.getByText("admitted now only").waitFor(),
  );
  await shot(server, "workbench", "#/workbench", async (page) => {
    const a = '{"id": 4611686018453380079, "price": 1.10, "items": [{"id": 1, "n": 1}, {"id": 2, "n": 2}]}';
    const b = '{"id": 4611686018453380079, "items": [{"id": 2, "n": 3}], "price": 1.1, "note": "new"}';
    await page.getByRole("textbox", { name: "Document A" }).fill(a);
    await page.getByRole("button", { name: "+ document" }).click();
    await page.getByRole("textbox", { name: "Document B" }).fill(b);
    await page.getByRole("button", { name: "compare" }).click();
    await page.getByText("4 differences").waitFor();
  });
} finally {
  for (const end of ends) await end();
}
