// Documents to be formatted, searched, asked, validated and compared. Everything happens here; only
// "validate" asks the server's gate, and only the server that this page is from.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { source, tell } from "../app";
import { ask } from "../json/client";
import { type Doc, find } from "../json/doc";
import type { Merged } from "../json/merge";
import { CompareView } from "../parts/CompareView";
import { JsonView, type Mark } from "../parts/JsonView";
import { Failed } from "../parts/Loading";
import { Chip, Copy, Empty, save } from "../parts/small";
import { bytes } from "../run/words";
import { replace } from "../router";
import { fromLink, LONGEST_LINK, type Shared, toLink } from "../share";
import { asServer, type Verdict } from "../source/server";
import { written } from "../wire/lossless";
import type { JsonFault } from "../json/doc";
import { FaultNotice } from "./Call";

/** Longer texts are not put into a text box: browsers lay those out as a whole. */
const EDITABLE = 200_000;
const NAMES = ["A", "B", "C"];

interface Pane {
  text: string;
  handle?: number;
  doc?: Doc;
  fault?: JsonFault;
  isBusy: boolean;
}

const EMPTY: Pane = { text: "", isBusy: false };

export function Workbench({ link }: { link: string | undefined }) {
  const [panes, setPanes] = useState<Pane[]>([EMPTY]);
  const [at, setAt] = useState(0);
  const [schema, setSchema] = useState("");
  const [path, setPath] = useState("");
  const [text, setText] = useState("");
  const [found, setFound] = useState<{ nodes: Int32Array; more: boolean; what: string } | undefined>(
    undefined,
  );
  const [hit, setHit] = useState(0);
  const [merged, setMerged] = useState<Merged | undefined>(undefined);
  const [verdict, setVerdict] = useState<Verdict | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const server = asServer(source.value);
  const latest = useRef(panes);
  latest.current = panes;
  const made = useRef<string | undefined>(undefined);

  const put = async (which: number, next: string): Promise<void> => {
    const old = latest.current[which];
    setPanes((now) => now.map((pane, i) => (i === which ? { text: next, isBusy: true } : pane)));
    setFound(undefined);
    setMerged(undefined);
    setVerdict(undefined);
    if (old?.handle !== undefined) void ask("close", { handle: old.handle });
    if (next.trim() === "") {
      setPanes((now) => now.map((pane, i) => (i === which ? EMPTY : pane)));
      return;
    }
    try {
      const opened = await ask("open", { text: next });
      // Somebody typed on: this answer is about what stood there before.
      setPanes((now) =>
        now.map((pane, i) => {
          if (i !== which || pane.text !== next) return pane;
          const { doc, fault } = opened.scanned;
          return {
            text: next,
            isBusy: false,
            ...(doc ? { doc, handle: opened.handle } : {}),
            ...(fault ? { fault } : {}),
          };
        }),
      );
    } catch (problem) {
      setError(problem);
    }
  };

  useEffect(() => {
    // A link that was made here says what is shown already.
    if (link === undefined || link === made.current) return;
    fromLink(link).then(
      (state) => {
        setMerged(undefined);
        setFound(undefined);
        setVerdict(undefined);
        setPanes(state.documents.map((document) => ({ text: document, isBusy: true })));
        setSchema(state.schema ?? "");
        setPath(state.path ?? "");
        setAt(0);
        setTimeout(() => state.documents.forEach((document, i) => void put(i, document)), 0);
        setError(undefined);
      },
      (problem: unknown) => setError(problem),
    );
  }, [link]);

  const pane = panes[Math.min(at, panes.length - 1)] ?? EMPTY;
  const run = async (work: () => Promise<void>): Promise<void> => {
    setError(undefined);
    try {
      await work();
    } catch (problem) {
      setError(problem);
    }
  };
  const reshape = (indent: number, sort: boolean): Promise<void> =>
    run(async () => {
      if (pane.handle === undefined) return;
      await put(at, await ask("format", { handle: pane.handle, options: { indent, sort } }));
    });
  const search = (): Promise<void> =>
    run(async () => {
      if (pane.handle === undefined) return;
      const { nodes, more } = await ask("search", { handle: pane.handle, text });
      setFound({ nodes, more, what: `“${text}”` });
      setHit(0);
    });
  const query = (): Promise<void> =>
    run(async () => {
      if (pane.handle === undefined) return;
      const answer = await ask("query", { handle: pane.handle, path });
      if (answer.fault !== undefined) throw new Error(`no JSONPath (RFC 9535): ${answer.fault}`);
      setFound({ nodes: answer.nodes, more: false, what: path });
      setHit(0);
    });
  const compare = (): Promise<void> =>
    run(async () => {
      const handles = panes.flatMap((one) => (one.handle === undefined ? [] : [one.handle]));
      setMerged(await ask("merge", { handles }));
    });
  const validate = (): Promise<void> =>
    run(async () => {
      if (!server) return;
      setVerdict(await server.check({ schema, instance: pane.text }));
    });
  const share = (): Promise<void> =>
    run(async () => {
      const state: Shared = {
        documents: panes.map((one) => one.text),
        ...(schema ? { schema } : {}),
        ...(path ? { path } : {}),
      };
      const text = await toLink(state);
      if (text.length > LONGEST_LINK)
        throw new Error(
          `the link would have ${text.length.toLocaleString("en")} characters, which chat programs cut; save the document and send the file`,
        );
      made.current = text;
      replace("workbench", text);
      await navigator.clipboard?.writeText(location.href).catch(() => {});
      tell(
        "the link is in the address bar, and copied where the browser allows it; nothing was sent anywhere",
      );
    });

  const marks = useMemo(() => {
    const out = new Map<number, Mark[]>();
    if (!pane.doc) return out;
    for (const violation of verdict?.fault?.violations ?? []) {
      const node = find(pane.doc, violation.path, true) ?? 0;
      out.set(node, [
        ...(out.get(node) ?? []),
        { tone: "bad", text: `${violation.keyword}: expected ${written(violation.expected)}` },
      ]);
    }
    return out;
  }, [verdict, pane.doc]);
  const shownAt = found && found.nodes.length > 0 ? found.nodes[hit] : firstOf(marks);
  const documents = panes.filter((one) => one.doc !== undefined);

  return (
    <section
      class="page workbench"
      aria-labelledby="workbench-title"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        const file = event.dataTransfer?.files[0];
        if (!file || file.name.endsWith(".jsonl")) return;
        event.preventDefault();
        event.stopPropagation();
        void file.text().then((content) => put(at, content));
      }}
    >
      <h1 id="workbench-title">Workbench</h1>
      <div class="bar" role="toolbar" aria-label="Documents">
        {panes.map((one, i) => (
          <button key={NAMES[i]} type="button" aria-pressed={i === at} onClick={() => setAt(i)}>
            {NAMES[i]} {one.text ? bytes(one.text.length) : "empty"}
          </button>
        ))}
        {panes.length < 3 && (
          <button
            type="button"
            onClick={() => {
              setPanes([...panes, EMPTY]);
              setAt(panes.length);
            }}
          >
            + document
          </button>
        )}
        <label class="button">
          open a file
          <input
            type="file"
            class="sr"
            accept=".json,application/json,text/plain"
            onChange={(event) => {
              const file = event.currentTarget.files?.[0];
              if (file) void file.text().then((content) => put(at, content));
            }}
          />
        </label>
        <button type="button" disabled={documents.length < 2} onClick={() => void compare()}>
          compare
        </button>
        <button type="button" disabled={panes.every((one) => one.text === "")} onClick={() => void share()}>
          share link
        </button>
      </div>
      {error !== undefined && <Failed error={error} />}
      <div class="bar" role="toolbar" aria-label="This document">
        <button type="button" disabled={!pane.doc} onClick={() => void reshape(2, false)}>
          format
        </button>
        <button type="button" disabled={!pane.doc} onClick={() => void reshape(0, false)}>
          compact
        </button>
        <button type="button" disabled={!pane.doc} onClick={() => void reshape(2, true)}>
          sort names
        </button>
        <button
          type="button"
          disabled={!pane.doc}
          onClick={() =>
            void run(async () => {
              if (pane.handle === undefined) return;
              const { text: plain, count } = await ask("unwrap", { handle: pane.handle });
              tell(count === 0 ? "no JSON in strings" : `${count} strings unwrapped`);
              if (count > 0) await put(at, plain);
            })
          }
        >
          unwrap JSON in strings
        </button>
        <Copy label="copy" what="Copy the document" text={() => pane.text} />
        <button
          type="button"
          class="quiet"
          disabled={pane.text === ""}
          onClick={() => save("document.json", pane.text)}
        >
          save
        </button>
        <button type="button" class="quiet" disabled={pane.text === ""} onClick={() => void put(at, "")}>
          clear
        </button>
      </div>
      {pane.text.length <= EDITABLE ? (
        <label class="wide">
          <span class="sr">Document {NAMES[at]}</span>
          <textarea
            rows={8}
            spellcheck={false}
            placeholder="Paste JSON, or drop a file"
            value={pane.text}
            onInput={(event) => void put(at, event.currentTarget.value)}
            onPaste={(event) => {
              const pasted = event.clipboardData?.getData("text/plain") ?? "";
              if (pasted.length <= EDITABLE) return;
              event.preventDefault();
              void put(at, pasted);
            }}
          />
        </label>
      ) : (
        <p class="figures" role="status">
          {bytes(pane.text.length)}, too large to be typed in; it can be searched, asked, validated and
          compared.
        </p>
      )}
      {pane.isBusy && <Empty>reading…</Empty>}
      {pane.fault && (
        <p class="fault" role="status">
          No JSON: line {pane.fault.line}, column {pane.fault.column}: {pane.fault.message}
        </p>
      )}
      <div class="bar">
        <form
          class="inline"
          onSubmit={(event) => {
            event.preventDefault();
            void search();
          }}
        >
          <input
            id="search"
            type="search"
            aria-label="Search names and values"
            placeholder="search"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <button type="submit" disabled={!pane.doc || text === ""}>
            search
          </button>
        </form>
        <form
          class="inline"
          onSubmit={(event) => {
            event.preventDefault();
            void query();
          }}
        >
          <input
            type="text"
            aria-label="JSONPath (RFC 9535)"
            placeholder="$..name"
            value={path}
            spellcheck={false}
            onInput={(event) => setPath(event.currentTarget.value)}
          />
          <button type="submit" disabled={!pane.doc || path === ""}>
            ask
          </button>
        </form>
        {found && (
          <span role="status">
            {found.nodes.length.toLocaleString("en")}
            {found.more ? "+" : ""} found
            {found.nodes.length > 0 && (
              <>
                {" "}
                <button
                  type="button"
                  class="quiet"
                  onClick={() => setHit((hit - 1 + found.nodes.length) % found.nodes.length)}
                >
                  previous
                </button>{" "}
                {hit + 1}{" "}
                <button type="button" class="quiet" onClick={() => setHit((hit + 1) % found.nodes.length)}>
                  next
                </button>
              </>
            )}
          </span>
        )}
      </div>
      {pane.doc && !merged && (
        <JsonView
          doc={pane.doc}
          label={`Document ${NAMES[at]}`}
          marks={marks}
          {...(found ? { found: found.nodes } : {})}
          {...(shownAt === undefined ? {} : { at: shownAt })}
          tall
        />
      )}
      {merged && (
        <>
          <button type="button" class="quiet" onClick={() => setMerged(undefined)}>
            back to document {NAMES[at]}
          </button>
          <CompareView
            columns={documents.map((one) => ({ label: NAMES[panes.indexOf(one)], doc: one.doc as Doc }))}
            merged={merged}
            label="The documents, side by side"
          />
        </>
      )}
      <details class="validate" open={schema !== ""}>
        <summary>validate by a JSON Schema</summary>
        <label class="wide">
          schema
          <textarea
            rows={6}
            spellcheck={false}
            placeholder='{"type": "object"}'
            value={schema}
            onInput={(event) => setSchema(event.currentTarget.value)}
          />
        </label>
        <div class="bar">
          <button
            type="button"
            disabled={!server || !pane.doc || schema === ""}
            onClick={() => void validate()}
          >
            validate {NAMES[at]}
          </button>
          {!server && (
            <span class="empty">A server's page asks its gate: the same verdict as at run time.</span>
          )}
          {verdict && <Chip state={verdict.admitted ? "admitted" : "refused"} />}
        </div>
        {verdict?.fault && <FaultNotice fault={verdict.fault} />}
        {verdict?.mistakes?.map((one) => (
          <p key={one.pointer + one.message} class="fault">
            <code>{one.pointer}</code> {one.message} {one.hint}
          </p>
        ))}
      </details>
    </section>
  );
}

function firstOf(marks: Map<number, Mark[]>): number | undefined {
  for (const node of marks.keys()) return node;
  return undefined;
}
