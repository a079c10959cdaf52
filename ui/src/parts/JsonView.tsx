// A document as a tree: one thing to focus, arrows to move, every value as it is written.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Doc, find, Kind, isContainer, keyOf, lexeme, pointerOf, stringOf } from "../json/doc";
import { isBeyondFloat } from "../json/number";
import { depths, rowOf, visible } from "../json/rows";
import { scan } from "../json/scan";
import { inner } from "../json/unwrap";
import { Copy } from "./small";
import { VirtualList } from "./VirtualList";

const ROW = 22;
const LONGEST = 300;
/** What is opened at once; larger documents show their first level. */
const WHOLE = 1_500;

/** A word on a value: shown at its row, and read out with it. */
export interface Mark {
  tone: "bad" | "wait" | "good" | "dim";
  text: string;
}

export interface Props {
  doc: Doc;
  label: string;
  marks?: Map<number, Mark[]>;
  /** Values to walk through: found ones, refused ones. */
  found?: Int32Array;
  at?: number;
  onSelect?: (node: number) => void;
  tall?: boolean;
}

/** A small text at once; a large one is better opened in the worker. */
export function JsonText({
  text,
  label,
  marks,
  tall,
}: {
  text: string;
  label: string;
  marks?: (doc: Doc) => Map<number, Mark[]>;
  tall?: boolean;
}) {
  const scanned = useMemo(() => scan(text), [text]);
  const found = useMemo(() => (scanned.doc && marks ? marks(scanned.doc) : undefined), [scanned, marks]);
  if (!scanned.doc) {
    const { line, column, message } = scanned.fault;
    return (
      <div class="raw-text">
        <p class="fault">
          No JSON: line {line}, column {column}: {message}
        </p>
        <Pre text={text} offset={scanned.fault.offset} label={label} />
      </div>
    );
  }
  return (
    <JsonView
      doc={scanned.doc}
      label={label}
      {...(found ? { marks: found } : {})}
      {...(tall ? { tall } : {})}
    />
  );
}

/** A text as it is, the character at `offset` marked. */
export function Pre({ text, offset, label }: { text: string; offset?: number; label: string }) {
  const [all, setAll] = useState(false);
  const cut = !all && text.length > 10_000;
  const shown = cut ? text.slice(0, 10_000) : text;
  const parts: ComponentChildren =
    offset === undefined || offset > shown.length ? (
      shown
    ) : (
      <>
        {shown.slice(0, offset)}
        <mark>{shown.slice(offset, offset + 1) || "⌷"}</mark>
        {shown.slice(offset + 1)}
      </>
    );
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keys */}
      <section class="text" tabIndex={0} aria-label={label}>
        <pre>{parts}</pre>
      </section>
      {cut && (
        <button type="button" class="quiet" onClick={() => setAll(true)}>
          show all {text.length.toLocaleString("en")} characters
        </button>
      )}
    </>
  );
}

export function JsonView(props: Props) {
  const { doc } = props;
  const shape = useMemo(() => ({ count: doc.count, last: doc.last, parent: doc.parent }), [doc]);
  const depth = useMemo(() => depths(shape), [shape]);
  // Those that stand otherwise than the default.
  const [turned, setTurned] = useState<Set<number>>(new Set());
  const [allOpen, setAllOpen] = useState(doc.count <= WHOLE);
  const isOpen = (node: number): boolean => (allOpen || depth[node] < 1) !== turned.has(node);
  const rows = useMemo(() => visible(shape, isOpen), [shape, turned, allOpen]);
  const [node, setNode] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const [jump, setJump] = useState("");

  // Before it is painted: a key that is pressed on what is seen must not be undone by this.
  useLayoutEffect(() => {
    setTurned(new Set());
    setAllOpen(doc.count <= WHOLE);
    setNode(0);
  }, [doc]);

  const reveal = (wanted: number): void => {
    const next = new Set(turned);
    for (let at = doc.parent[wanted]; at >= 0; at = doc.parent[at]) {
      if (!isOpen(at)) {
        if (next.has(at)) next.delete(at);
        else next.add(at);
      }
    }
    setTurned(next);
    setNode(wanted);
  };
  useLayoutEffect(() => {
    if (props.at !== undefined && props.at >= 0 && props.at < doc.count) reveal(props.at);
  }, [props.at, doc]);

  const select = (to: number): void => {
    setNode(to);
    props.onSelect?.(to);
  };
  const turn = (which: number): void => {
    const next = new Set(turned);
    if (next.has(which)) next.delete(which);
    else next.add(which);
    setTurned(next);
  };
  const row = rowOf(rows, node);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const holds = isContainer(doc, node) && doc.size[node] > 0;
    const moves: Record<string, () => void> = {
      ArrowDown: () => row + 1 < rows.length && select(rows[row + 1]),
      ArrowUp: () => row > 0 && select(rows[row - 1]),
      Home: () => select(rows[0]),
      End: () => select(rows[rows.length - 1]),
      PageDown: () => select(rows[Math.min(rows.length - 1, row + 20)]),
      PageUp: () => select(rows[Math.max(0, row - 20)]),
      ArrowRight: () => {
        if (!holds) return;
        if (isOpen(node)) select(node + 1);
        else turn(node);
      },
      ArrowLeft: () => {
        if (holds && isOpen(node)) turn(node);
        else if (doc.parent[node] >= 0) select(doc.parent[node]);
      },
      Enter: () => holds && turn(node),
      "*": () => {
        setAllOpen(true);
        setTurned(new Set());
      },
    };
    const move = moves[event.key];
    if (!move) return;
    move();
    event.preventDefault();
    event.stopPropagation();
  };

  const hits = useMemo(() => new Set(props.found ?? []), [props.found]);
  const id = useMemo(() => `tree-${Math.floor(performance.now() * 1000)}-${doc.count}`, [doc]);
  return (
    <div class={`json ${props.tall ? "tall" : ""}`} style={{ "--rows": String(rows.length) }}>
      <VirtualList
        count={rows.length}
        height={ROW}
        active={row}
        boxRef={box}
        class="json-rows"
        inner={{
          role: "tree",
          tabIndex: 0,
          "aria-label": props.label,
          "aria-activedescendant": row >= 0 ? `${id}-${node}` : undefined,
          onKeyDown,
        }}
        row={(i) => (
          <Row
            key={rows[i]}
            id={`${id}-${rows[i]}`}
            doc={doc}
            node={rows[i]}
            depth={depth[rows[i]]}
            isOpen={isOpen(rows[i])}
            isActive={rows[i] === node}
            isHit={hits.has(rows[i])}
            marks={props.marks?.get(rows[i])}
            onTurn={() => turn(rows[i])}
            onSelect={() => select(rows[i])}
          />
        )}
      />
      <Foot doc={doc} node={node} jump={jump} setJump={setJump} reveal={reveal} />
    </div>
  );
}

interface RowProps {
  id: string;
  doc: Doc;
  node: number;
  depth: number;
  isOpen: boolean;
  isActive: boolean;
  isHit: boolean;
  marks: Mark[] | undefined;
  onTurn: () => void;
  onSelect: () => void;
}

function Row({ id, doc, node, depth, isOpen, isActive, isHit, marks, onTurn, onSelect }: RowProps) {
  const kind = doc.kind[node];
  const holds = kind <= Kind.Array && doc.size[node] > 0;
  const key = keyOf(doc, node);
  const tone = marks?.some((mark) => mark.tone === "bad") ? "bad" : marks?.[0]?.tone;
  const parent = doc.parent[node];
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree takes the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the tree is focused, and names the active row
    <div
      id={id}
      role="treeitem"
      aria-level={depth + 1}
      aria-expanded={holds ? isOpen : undefined}
      aria-selected={isActive}
      aria-posinset={doc.place[node] + 1}
      aria-setsize={parent >= 0 ? doc.size[parent] : 1}
      class={`json-row ${isActive ? "active" : ""} ${isHit ? "hit" : ""} ${tone ?? ""}`}
      style={{ paddingLeft: `${Math.min(depth, 40) * 14 + 4}px` }}
      onClick={() => {
        onSelect();
        if (holds) onTurn();
      }}
    >
      <span class="turn" aria-hidden="true">
        {holds ? (isOpen ? "▾" : "▸") : ""}
      </span>
      {key !== undefined && <span class="key">{key}</span>}
      {key === undefined && parent >= 0 && <span class="index">{doc.place[node]}</span>}
      {parent >= 0 && <span class="colon">: </span>}
      <Value doc={doc} node={node} isOpen={isOpen} />
      {marks?.map((mark) => (
        <span key={mark.text} class={`mark ${mark.tone}`}>
          {mark.text}
        </span>
      ))}
    </div>
  );
}

const CLASSES = ["", "", "string", "number", "word", "word", "word"];

export function Value({ doc, node, isOpen }: { doc: Doc; node: number; isOpen: boolean }) {
  const kind = doc.kind[node];
  if (kind <= Kind.Array) {
    const [open, close] = kind === Kind.Object ? "{}" : "[]";
    const n = doc.size[node];
    if (n === 0) return <span class="count">{`${open}${close}`}</span>;
    const unit = kind === Kind.Object ? "member" : "element";
    return (
      <span class="count">
        {isOpen ? open : `${open}…${close}`} {n.toLocaleString("en")} {n === 1 ? unit : `${unit}s`}
      </span>
    );
  }
  const text = lexeme(doc, node);
  const shown = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  return (
    <>
      <span class={CLASSES[kind]}>{shown}</span>
      {text.length > LONGEST && <span class="count"> {text.length.toLocaleString("en")} characters</span>}
      {kind === Kind.Number && text.length > 15 && isBeyondFloat(text) && (
        <span class="count" title="A float would change this number; here it is as it was written.">
          {" "}
          exact
        </span>
      )}
    </>
  );
}

/** Where the selection is, and its value whole. */
function Foot({
  doc,
  node,
  jump,
  setJump,
  reveal,
}: {
  doc: Doc;
  node: number;
  jump: string;
  setJump: (text: string) => void;
  reveal: (node: number) => void;
}) {
  const at = Math.min(node, doc.count - 1);
  const pointer = pointerOf(doc, at);
  const within = inner(doc, at);
  const isLong = doc.kind[at] === Kind.String && doc.end[at] - doc.start[at] > LONGEST;
  return (
    <div class="json-foot">
      <code class="pointer" title="JSON Pointer">
        {pointer === "" ? "(root)" : pointer}
      </code>
      <Copy label="copy value" what="Copy the selected value" text={() => lexeme(doc, at)} />
      <Copy label="copy pointer" what="Copy the JSON Pointer" text={() => pointer} />
      <details class="more">
        <summary>go to</summary>
        <label>
          JSON Pointer{" "}
          <input
            value={jump}
            placeholder="/items/0/id"
            onInput={(event) => setJump(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter") return;
              const found = find(doc, jump.trim());
              if (found !== undefined) reveal(found);
            }}
          />
        </label>
      </details>
      {isLong && (
        <details class="whole">
          <summary>the whole text</summary>
          <Pre text={stringOf(doc, at)} label="The selected text, whole" />
        </details>
      )}
      {within && (
        <details class="whole" open>
          <summary>JSON in this string</summary>
          <JsonView doc={within} label="JSON within the string" />
        </details>
      )}
    </div>
  );
}
