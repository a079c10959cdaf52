// A server that asks who comes: its page may be had by anybody, what it shows may not.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { chromium, stage } from "../stage.mjs";
import { REPAIRED } from "../tales.mjs";
import { page as open } from "../world.mjs";

const kept = chromium();
const TOKEN = "a-token-for-the-story-of-this-page-0123456789";

test("a server's token is asked for, kept for the tab, and sent", async (t) => {
  const { server } = await stage(t, REPAIRED, {
    prepare: ({ folder }) => writeFileSync(join(folder, "serve.json"), '{"tokenEnv": "STORY_TOKEN"}'),
    env: { STORY_TOKEN: TOKEN },
  });
  assert.equal((await fetch(`${server.base}/api/runs`)).status, 401);
  const { page, context, complaints } = await open(kept.chrome, { base: server.base });
  t.after(() => context.close());
  await page.goto(`${server.base}/`);
  await page.getByLabel("This server asks for its token").fill(TOKEN);
  await page.getByRole("button", { name: "use it" }).click();
  await page.getByText(/^No runs/).waitFor();
  await page.keyboard.press("3");
  await page.getByRole("link", { name: "get_ticket" }).waitFor();
  assert.ok(!page.url().includes(TOKEN));
  // What the browser says of the answers before the token came is right.
  assert.deepEqual(
    complaints.filter((one) => !/status of 401/.test(one)),
    [],
  );
});
