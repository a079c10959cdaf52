// The page: where one is, what is told to everybody, files that are dropped anywhere.

import { effect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { render } from "preact";
import { lazy, Suspense } from "preact/compat";
import { useEffect, useRef, useState } from "preact/hooks";
import {
  files,
  followWaiting,
  keep,
  keys,
  news,
  opened,
  server,
  source,
  tell,
  theme,
  waitingCount,
} from "./app";
import { Failed } from "./parts/Loading";
import { Key } from "./parts/small";
import { go, href, listen, route } from "./router";
import { needsToken, ServerSource, setToken } from "./source/server";
import { Runs } from "./views/Runs";
import { parse } from "./wire/lossless";
import type { Inspection } from "./wire/types";

const Run = lazy(() => import("./views/Run").then((module) => ({ default: module.Run })));
const Approvals = lazy(() => import("./views/Approvals").then((module) => ({ default: module.Approvals })));
const Catalog = lazy(() => import("./views/Catalog").then((module) => ({ default: module.Catalog })));
const Workbench = lazy(() => import("./views/Workbench").then((module) => ({ default: module.Workbench })));

function View() {
  const [where, first, second] = route.value;
  switch (where) {
    case "runs":
      return first ? <Run key={first} id={first} wanted={second} /> : <Runs />;
    case "approvals":
      return <Approvals />;
    case "catalog":
      return <Catalog name={first} />;
    case "workbench":
      return <Workbench link={first} />;
    default:
      return <Runs />;
  }
}

function App() {
  const [error, setError] = useState<unknown>(undefined);
  const [isHelp, setHelp] = useState(false);
  const where = route.value[0] ?? "runs";
  const main = useRef<HTMLElement>(null);

  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const on = event.target as HTMLElement;
      const isTyping = on.matches("input, textarea, select, [contenteditable]");
      if (event.key === "Escape") setHelp(false);
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey || !keys.value) return;
      if (event.key === "/") document.getElementById("search")?.focus();
      else if (event.key === "?") setHelp((now) => !now);
      else if (event.key === "1") go("runs");
      else if (event.key === "2") go("approvals");
      else if (event.key === "3") go("catalog");
      else if (event.key === "4") go("workbench");
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);

  useEffect(followWaiting, [source.value, opened.value]);

  const drop = async (list: FileList | undefined): Promise<void> => {
    setError(undefined);
    for (const file of list ?? []) {
      try {
        const run = await files.add(await file.text());
        opened.value += 1;
        go("runs", run);
      } catch (problem) {
        setError(problem);
      }
    }
  };

  useEffect(() => {
    const over = (event: DragEvent): void => event.preventDefault();
    const dropped = (event: DragEvent): void => {
      if (event.defaultPrevented) return;
      event.preventDefault();
      void drop(event.dataTransfer?.files);
    };
    addEventListener("dragover", over);
    addEventListener("drop", dropped);
    return () => {
      removeEventListener("dragover", over);
      removeEventListener("drop", dropped);
    };
  }, []);

  const link = (to: string, label: ComponentChildren) => (
    <a href={href(to)} aria-current={where === to ? "page" : undefined}>
      {label}
    </a>
  );
  return (
    <div class="app">
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        to the content
      </button>
      <header class="top">
        <a class="name" href={href("runs")}>
          Callgate
        </a>
        <nav aria-label="Views">
          {link("runs", "Runs")}
          {link(
            "approvals",
            <>
              Approvals
              {waitingCount.value > 0 && (
                <>
                  {" "}
                  <span class="badge">{waitingCount.value}</span>
                </>
              )}
            </>,
          )}
          {link("catalog", "Catalog")}
          {link("workbench", "Workbench")}
        </nav>
        <span class="right">
          <label class="button">
            open run file
            <input
              type="file"
              class="sr"
              accept=".jsonl,.json"
              multiple
              onChange={(event) => void drop(event.currentTarget.files ?? undefined)}
            />
          </label>
          <select
            aria-label="Theme"
            value={theme.value}
            onChange={(event) => {
              theme.value = event.currentTarget.value as typeof theme.value;
            }}
          >
            <option value="auto">auto</option>
            <option value="light">light</option>
            <option value="dark">dark</option>
          </select>
          <button type="button" aria-expanded={isHelp} onClick={() => setHelp(!isHelp)}>
            keys
          </button>
        </span>
      </header>
      {isHelp && <Help onClose={() => setHelp(false)} />}
      {needsToken.value && <TokenForm />}
      {error !== undefined && <Failed error={error} />}
      <main ref={main} id="main" tabIndex={-1}>
        <Suspense fallback={<p class="empty">loading…</p>}>
          <View />
        </Suspense>
      </main>
      <p class="news" role="status" aria-live="polite">
        {news.value}
      </p>
    </div>
  );
}

function TokenForm() {
  const [text, setText] = useState("");
  return (
    <form
      class="notice wait"
      onSubmit={(event) => {
        event.preventDefault();
        setToken(text);
        location.reload();
      }}
    >
      <label>
        This server asks for its token{" "}
        <input
          type="password"
          autocomplete="off"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <button type="submit">use it</button> <small>It is kept for this tab only.</small>
    </form>
  );
}

function Help({ onClose }: { onClose: () => void }) {
  const row = (key: string, what: string) => (
    <>
      <dt>
        <Key>{key}</Key>
      </dt>
      <dd>{what}</dd>
    </>
  );
  return (
    <section class="help" aria-label="Keys">
      <dl>
        {row("1 2 3 4", "runs, approvals, catalog, workbench")}
        {row("/", "search")}
        {row("↑ ↓ j k", "move in a list or timeline")}
        {row("e E", "next and previous refusal or failure of a run")}
        {row("Enter", "open; in a timeline, go to what is selected")}
        {row("← → *", "close, open, open all in a document")}
        {row("n p", "next and previous difference")}
        {row("?", "this")}
      </dl>
      <label class="check">
        <input
          type="checkbox"
          checked={keys.value}
          onChange={(event) => {
            keys.value = event.currentTarget.checked;
            keep("callgate.keys", keys.value ? "on" : "off");
          }}
        />{" "}
        single keys do something
      </label>
      <button type="button" onClick={onClose}>
        close
      </button>
    </section>
  );
}

/** A text within the page, as Base64, so that nothing in it can end its element. */
function written(id: string): string | undefined {
  const text = document.getElementById(id)?.textContent?.trim();
  if (!text) return undefined;
  return new TextDecoder().decode(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));
}

async function begin(): Promise<void> {
  effect(() => {
    keep("callgate.theme", theme.value);
    document.documentElement.dataset.theme = theme.value;
  });
  listen();
  // A page of its own carries its runs; any other one is a server's.
  const carried = written("run-file");
  if (carried) {
    try {
      const inspection = written("run-inspection");
      const run = await files.add(carried, inspection === undefined ? {} : (parse(inspection) as Inspection));
      if (route.value.length === 0) location.hash = href("runs", run);
    } catch (error) {
      tell(error instanceof Error ? error.message : String(error));
    }
  } else {
    server.value = new ServerSource();
  }
  const root = document.getElementById("app");
  if (root) render(<App />, root);
}

void begin();
