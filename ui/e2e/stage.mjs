// What a story stands on, taken down with it, however it ends.

import { after, before } from "node:test";
import { browser, project, serve, service } from "./world.mjs";

/** A browser for the stories of a file. */
export function chromium() {
  const kept = {};
  before(async () => {
    kept.chrome = await browser();
  });
  after(async () => {
    await kept.chrome?.close();
  });
  return kept;
}

/** A service, a project whose model says `replies`, and a server of it. */
export async function stage(test, replies, options = {}) {
  const { extra, prepare, env = {} } = options;
  const book = await service();
  test.after(() => book.close());
  const made = project(replies, extra);
  test.after(() => made.remove());
  await prepare?.(made);
  const out = { book, folder: made.folder };
  const start = async (port = 0) => {
    out.server = await serve(made.folder, { SUPPORT_URL: book.url, ...env }, port);
    const { server } = out;
    test.after(() => server.stop());
    return server;
  };
  await start();
  return Object.assign(out, { start });
}
