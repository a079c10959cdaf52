// Two or three documents laid side by side, value by value.

import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import { type Doc, isContainer, keyOf } from "../json/doc";
import { Mark, type Merged } from "../json/merge";
import { depths, rowOf, visible } from "../json/rows";
import { Value } from "./JsonView";
import { VirtualList } from "./VirtualList";

const ROW = 24;
const WHOLE = 1_500;

const WORDS: Record<number, string> = {
  [Mark.Same]: "",
  [Mark.Within]: "",
  [Mark.Changed]: "differs",
  [Mark.Missing]: "not in all",
  [Mark.Spelled]: "spelled otherwise",
};
const TONES: Record<number, string> = {
  [Mark.Same]: "",
  [Mark.Within]: "within",
  [Mark.Changed]: "changed",
  [Mark.Missing]: "missing",
  [Mark.Spelled]: "spelled",
};

export interface Column {
  label: string;
  doc: Doc;
}

/** A word on a place in the merged tree, by JSON Pointer. */
export type Explain = (pointer: string) => string | undefined;

export function CompareView({
  columns,
  merged,
  label,
  explain,
}: {
  columns: Column[];
  merged: Merged;
  label: string;
  explain?: Explain;
}) {
  const depth = useMemo(() => depths(merged), [merged]);
  const [onlyDifferent, setOnlyDifferent] = useState(false);
  const [turned, setTurned] = useState<Set<number>>(new Set());
  const isOpen = (node: number): boolean => {
    const byItself = merged.count <= WHOLE || merged.mark[node] === Mark.Within || depth[node] < 1;
    return byItself !== turned.has(node);
  };
  const rows = useMemo(() => {
    const all = visible(merged, isOpen);
    return onlyDifferent ? all.filter((node) => merged.mark[node] !== Mark.Same) : all;
  }, [merged, turned, onlyDifferent]);
  const [node, setNode] = useState(0);
  const [which, setWhich] = useState(-1);
  const row = rowOf(rows, node);

  // Before it is painted: a key that is pressed on what is seen must not be undone by this.
  useLayoutEffect(() => {
    setTurned(new Set());
    setNode(0);
    setWhich(-1);
  }, [merged]);

  const names = useMemo(() => {
    const cache = new Map<number, string>();
    return (id: number): string => {
      const known = cache.get(id);
      if (known !== undefined) return known;
      const i = columns.findIndex((_, at) => merged.nodes[at][id] >= 0);
      const { doc } = columns[i];
      const at = merged.nodes[i][id];
      const parent = merged.parent[id];
      const name = parent < 0 ? "(root)" : (keyOf(doc, at) ?? String(doc.place[at]));
      cache.set(id, name);
      return name;
    };
  }, [merged, columns]);
  const pointer = (id: number): string => {
    const steps: string[] = [];
    for (let at = id; merged.parent[at] >= 0; at = merged.parent[at]) {
      steps.push(names(at).replaceAll("~", "~0").replaceAll("/", "~1"));
    }
    return steps
      .reverse()
      .map((step) => `/${step}`)
      .join("");
  };
  const holds = (id: number): boolean => merged.last[id] > id;
  const turn = (id: number): void => {
    const next = new Set(turned);
    if (next.has(id)) next.delete(id);
    else next.add(id);
    setTurned(next);
  };
  const step = (by: number): void => {
    const n = merged.differences.length;
    if (n === 0) return;
    const next = (which + by + n) % n;
    const wanted = merged.differences[next];
    const opened = new Set(turned);
    for (let at = merged.parent[wanted]; at >= 0; at = merged.parent[at]) {
      if (!isOpen(at)) {
        if (opened.has(at)) opened.delete(at);
        else opened.add(at);
      }
    }
    setTurned(opened);
    setWhich(next);
    setNode(wanted);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const moves: Record<string, () => void> = {
      ArrowDown: () => row + 1 < rows.length && setNode(rows[row + 1]),
      ArrowUp: () => row > 0 && setNode(rows[row - 1]),
      Home: () => setNode(rows[0]),
      End: () => setNode(rows[rows.length - 1]),
      ArrowRight: () => holds(node) && !isOpen(node) && turn(node),
      ArrowLeft: () =>
        holds(node) && isOpen(node) ? turn(node) : merged.parent[node] >= 0 && setNode(merged.parent[node]),
      Enter: () => holds(node) && turn(node),
      n: () => step(1),
      p: () => step(-1),
    };
    const move = moves[event.key];
    if (!move) return;
    move();
    event.preventDefault();
    event.stopPropagation();
  };
  const n = merged.differences.length;
  const id = useMemo(() => `compare-${Math.floor(performance.now() * 1000)}`, [merged]);
  const grid = { gridTemplateColumns: `minmax(8rem, 1.2fr) repeat(${columns.length}, minmax(6rem, 1.4fr))` };
  return (
    <div class="compare">
      <div class="bar">
        <span role="status">
          {n === 0 ? "no differences" : `${n.toLocaleString("en")} ${n === 1 ? "difference" : "differences"}`}
        </span>
        <button type="button" class="quiet" disabled={n === 0} onClick={() => step(-1)}>
          previous
        </button>
        <button type="button" class="quiet" disabled={n === 0} onClick={() => step(1)}>
          next
        </button>
        <label class="check">
          <input
            type="checkbox"
            checked={onlyDifferent}
            onChange={(event) => setOnlyDifferent(event.currentTarget.checked)}
          />{" "}
          only what differs
        </label>
      </div>
      <div
        class="compare-grid"
        role="treegrid"
        aria-label={label}
        aria-rowcount={rows.length + 1}
        tabIndex={0}
        aria-activedescendant={row >= 0 ? `${id}-${node}` : undefined}
        onKeyDown={onKeyDown}
      >
        {/* biome-ignore lint/a11y/useSemanticElements: as above */}
        {/* biome-ignore lint/a11y/useFocusableInteractive: as above */}
        <div class="compare-row head" role="row" style={grid}>
          {/* biome-ignore lint/a11y/useSemanticElements: as above */}
          {/* biome-ignore lint/a11y/useFocusableInteractive: as above */}
          <span role="columnheader">where</span>
          {columns.map((column) => (
            // biome-ignore lint/a11y/useSemanticElements: as above
            // biome-ignore lint/a11y/useFocusableInteractive: as above
            <span role="columnheader" key={column.label}>
              {column.label}
            </span>
          ))}
        </div>
        <VirtualList
          count={rows.length}
          height={ROW}
          active={row}
          class="compare-rows"
          box={{ role: "presentation" }}
          inner={{ role: "rowgroup" }}
          row={(i) => {
            const one = rows[i];
            const mark = merged.mark[one];
            const why = mark === Mark.Same || mark === Mark.Within ? undefined : explain?.(pointer(one));
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the grid takes the keys
              // biome-ignore lint/a11y/useFocusableInteractive: the grid names the active row
              // biome-ignore lint/a11y/useSemanticElements: as above
              <div
                key={one}
                id={`${id}-${one}`}
                role="row"
                aria-level={depth[one] + 1}
                aria-rowindex={i + 2}
                aria-expanded={holds(one) ? isOpen(one) : undefined}
                aria-selected={one === node}
                class={`compare-row ${TONES[mark]} ${one === node ? "active" : ""}`}
                style={grid}
                onClick={() => {
                  setNode(one);
                  if (holds(one)) turn(one);
                }}
              >
                {/* biome-ignore lint/a11y/useSemanticElements: as above */}
                {/* biome-ignore lint/a11y/useFocusableInteractive: as above */}
                <span
                  role="rowheader"
                  class="where"
                  style={{ paddingLeft: `${Math.min(depth[one], 30) * 12}px` }}
                >
                  <span class="turn" aria-hidden="true">
                    {holds(one) ? (isOpen(one) ? "▾" : "▸") : ""}
                  </span>
                  {names(one)} {(why || WORDS[mark]) && <em class="why">{why ?? WORDS[mark]}</em>}
                </span>
                {columns.map((column, at) => {
                  const there = merged.nodes[at][one];
                  return (
                    // biome-ignore lint/a11y/useSemanticElements: as above
                    // biome-ignore lint/a11y/useFocusableInteractive: as above
                    <span role="gridcell" key={column.label} class={there < 0 ? "absent" : ""}>
                      {there < 0 ? (
                        "—"
                      ) : (
                        <Value
                          doc={column.doc}
                          node={there}
                          isOpen={isContainer(column.doc, there) && isOpen(one)}
                        />
                      )}
                    </span>
                  );
                })}
              </div>
            );
          }}
        />
      </div>
    </div>
  );
}
