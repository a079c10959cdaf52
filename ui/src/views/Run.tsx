// One run: a timeline on the left, what is selected on the right, live while it goes on.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { keys, sourceOf, tell } from "../app";
import { Failed, useAwaited } from "../parts/Loading";
import { Chip, Empty, Notice, save } from "../parts/small";
import { VirtualList } from "../parts/VirtualList";
import { type Call, fold, faultOf, type RunView, runState, stateOf, take } from "../run/fold";
import { axisOf, type Axis, type Row, rowsOf } from "../run/rows";
import { count, milliseconds, stamp, word } from "../run/words";
import { href, replace } from "../router";
import type { Line } from "../source/source";
import type { Inspection } from "../wire/types";
import { CallDetail } from "./Call";
import { EndDetail, HopDetail, SaidDetail } from "./Hop";
import { RunActions } from "./RunActions";

const ROW = 30;

export function Run({ id, wanted }: { id: string; wanted: string | undefined }) {
  const from = sourceOf(id);
  const [, setVersion] = useState(0);
  const state = useRef<{ view: RunView; lines: Line[]; delta: string; hop: number }>({
    view: fold([]),
    lines: [],
    delta: "",
    hop: 0,
  });
  const [link, setLink] = useState<"live" | "lost" | "over" | "opening">("opening");
  const [error, setError] = useState<unknown>(undefined);

  useEffect(() => {
    state.current = { view: fold([]), lines: [], delta: "", hop: 0 };
    setLink("opening");
    setError(undefined);
    let frame = 0;
    let wasLive = false;
    const draw = (): void => {
      // Many events, one drawing.
      if (frame === 0) {
        frame = requestAnimationFrame(() => {
          frame = 0;
          wasLive ||= from.isServer && state.current.lines.length > 0 && !state.current.view.finish;
          setVersion((n) => n + 1);
        });
      }
    };
    let stop = (): void => {};
    try {
      stop = from.watch(id, {
        onLines: (lines) => {
          const now = state.current;
          for (const line of lines) {
            now.lines.push(line);
            take(now.view, line.record);
            if (line.record.type === "modelReplied") now.delta = "";
          }
          draw();
        },
        onDelta: (hop, text) => {
          state.current.hop = hop;
          state.current.delta += text;
          draw();
        },
        onState: (next) => {
          setLink(next);
          if (next === "over" && wasLive) tell("the run is over");
          draw();
        },
      });
    } catch (problem) {
      setError(problem);
    }
    return () => {
      stop();
      cancelAnimationFrame(frame);
    };
  }, [id, from]);

  const { view, lines, delta } = state.current;
  const inspected = useAwaited<Inspection>(
    () => (view.hops.length > 0 ? from.inspection(id) : Promise.resolve({})),
    [id, from, view.finish !== undefined, view.hops.length],
  );
  const inspection = inspected.state === "here" ? inspected.value : {};
  const rows = rowsOf(view);
  const axis = useMemo(() => axisOf(view, rows), [view, lines.length]);
  const [at, setAt] = useState(0);

  // An address may name a row; else the first refusal is what people come for.
  // Before it is painted: a key that is pressed on what is seen must not be undone by this.
  useLayoutEffect(() => {
    const found = wanted === undefined ? -1 : rows.findIndex((row) => row.key === wanted);
    if (found >= 0) setAt(found);
  }, [wanted, rows.length]);

  if (error !== undefined) return <Failed error={error} />;
  if (lines.length === 0) {
    return link === "lost" ? (
      <Notice tone="bad">The server cannot be reached; trying again…</Notice>
    ) : (
      <Empty>loading…</Empty>
    );
  }

  const select = (to: number): void => {
    const next = Math.max(0, Math.min(rows.length - 1, to));
    setAt(next);
    replace("runs", id, rows[next].key);
  };
  const isFaulty = (row: Row): boolean =>
    (row.kind === "call" && faultOf(row.call) !== undefined) ||
    (row.kind === "hop" && row.hop.error !== undefined);
  const jump = (by: number): void => {
    for (let i = 1; i <= rows.length; i += 1) {
      const to = (at + by * i + rows.length * 2) % rows.length;
      if (isFaulty(rows[to])) {
        select(to);
        return;
      }
    }
    tell("nothing in this run was refused or failed");
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const moves: Record<string, () => void> = {
      ArrowDown: () => select(at + 1),
      ArrowUp: () => select(at - 1),
      Home: () => select(0),
      End: () => select(rows.length - 1),
      PageDown: () => select(at + 15),
      PageUp: () => select(at - 15),
      Enter: () => document.getElementById("detail")?.focus(),
      ...(keys.value
        ? { j: () => select(at + 1), k: () => select(at - 1), e: () => jump(1), E: () => jump(-1) }
        : {}),
    };
    const move = moves[event.key];
    if (!move) return;
    move();
    event.preventDefault();
  };
  const now = runState(view);
  const faults = rows.filter(isFaulty).length;
  const row = rows[at];
  return (
    <section class="page run" aria-labelledby="run-title">
      <header class="run-head">
        <h1 id="run-title">{view.goal || id}</h1>
        <p class="figures">
          <Chip state={now} /> {view.agent && <b>{view.agent}</b>} {view.model} ·{" "}
          {count(view.hops.length, "hop")} · {count(view.made, "call")} made ·{" "}
          {count(view.usage.inputTokens + view.usage.outputTokens, "token")} ·{" "}
          {milliseconds(view.lastAt - view.startedAt)} · {stamp(view.startedAt)}{" "}
          {link === "live" && <span class="live">live</span>}{" "}
          {link === "lost" && <span class="lost">connection lost, trying again</span>}
        </p>
        <p class="figures">
          <code>{id}</code>
          {view.parent && (
            <>
              {" "}
              delegated by{" "}
              <a href={href("runs", view.parent.run, `call-${view.parent.call}`)}>{view.parent.run}</a>
            </>
          )}
          {view.forked.map((fork) => (
            <span key={fork.run}>
              {" "}
              forked from <a href={href("runs", fork.run)}>{fork.run}</a>
            </span>
          ))}
        </p>
        <Budget view={view} />
        <div class="bar">
          <button type="button" disabled={faults === 0} onClick={() => jump(1)}>
            {faults === 0 ? "nothing refused or failed" : `refused or failed: ${faults}, go to next`}{" "}
            {keys.value && faults > 0 && <kbd>e</kbd>}
          </button>
          <button
            type="button"
            onClick={() =>
              void from.exported(id).then((text) => save(`${id}.jsonl`, text, "application/jsonl"), setError)
            }
          >
            export
          </button>
          <RunActions
            id={id}
            view={view}
            from={from}
            hop={row?.kind === "hop" ? row.hop.hop : row?.kind === "call" ? row.call.hop : undefined}
          />
        </div>
        {inspected.state === "failed" && <Failed error={inspected.error} />}
        <Findings
          inspection={inspection}
          onHop={(hop) => select(rows.findIndex((one) => one.kind === "hop" && one.hop.hop === hop))}
        />
      </header>
      <div class="split">
        <div class="timeline">
          <Ruler axis={axis} />
          <VirtualList
            count={rows.length}
            height={ROW}
            active={at}
            class="timeline-rows"
            inner={{
              role: "listbox",
              tabIndex: 0,
              "aria-label": "Timeline",
              "aria-activedescendant": row ? `row-${row.key}` : undefined,
              onKeyDown,
            }}
            row={(i) => (
              <TimelineRow
                key={rows[i].key}
                row={rows[i]}
                view={view}
                axis={axis}
                place={i}
                of={rows.length}
                isActive={i === at}
                onSelect={() => select(i)}
              />
            )}
          />
          {delta && (
            <p class="delta" aria-live="off">
              {delta.slice(-400)}
            </p>
          )}
        </div>
        <section id="detail" class="detail" tabIndex={-1} aria-label="What is selected">
          {row && <Detail row={row} view={view} lines={lines} inspection={inspection} runId={id} />}
        </section>
      </div>
    </section>
  );
}

function Detail({
  row,
  view,
  lines,
  inspection,
  runId,
}: {
  row: Row;
  view: RunView;
  lines: Line[];
  inspection: Inspection;
  runId: string;
}) {
  switch (row.kind) {
    case "said":
      return <SaidDetail text={row.text} at={row.at} isGoal={row.key === "goal"} view={view} />;
    case "hop":
      return <HopDetail hop={row.hop} view={view} lines={lines} />;
    case "call":
      return (
        <CallDetail
          key={row.call.id}
          call={row.call}
          view={view}
          inspection={inspection}
          lines={lines}
          runId={runId}
        />
      );
    case "end":
      return <EndDetail view={view} lines={lines} />;
  }
}

function TimelineRow({
  row,
  view,
  axis,
  place,
  of,
  isActive,
  onSelect,
}: {
  row: Row;
  view: RunView;
  axis: Axis;
  place: number;
  of: number;
  isActive: boolean;
  onSelect: () => void;
}) {
  const left = axis.place(row.at) * 100;
  const width = Math.max(0.4, axis.place(row.until) * 100 - left);
  const { label, state, note } = told(row, view);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list takes the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the list is focused, and names the active row
    <div
      id={`row-${row.key}`}
      role="option"
      aria-selected={isActive}
      aria-posinset={place + 1}
      aria-setsize={of}
      class={`timeline-row ${row.kind} ${isActive ? "active" : ""}`}
      onClick={onSelect}
    >
      <span class="label">{label}</span>
      <span class="state">{state && <Chip state={state} {...(note ? { label: note } : {})} />}</span>
      <span class="track" aria-hidden="true">
        <span class={`span ${row.kind} ${state ?? ""}`} style={{ left: `${left}%`, width: `${width}%` }} />
        {row.kind === "call" &&
          row.call.attempts.map((one) => {
            const x = axis.place(one.startedAt) * 100;
            const end = axis.place(one.endedAt ?? row.until) * 100;
            return (
              <span
                key={one.attempt}
                class={`span attempt ${one.failure ? "failed" : ""}`}
                style={{ left: `${x}%`, width: `${Math.max(0.4, end - x)}%` }}
              />
            );
          })}
      </span>
      <span class="took">
        {row.kind === "said" || row.kind === "end" ? "" : milliseconds(row.until - row.at)}
      </span>
    </div>
  );
}

function told(row: Row, view: RunView): { label: string; state?: string; note?: string } {
  switch (row.kind) {
    case "said":
      return { label: `“${row.text}”` };
    case "hop": {
      const { hop } = row;
      const label = `hop ${hop.hop} · ${hop.text || (hop.calls.length > 0 ? count(hop.calls.length, "call") : word(hop.why))}`;
      if (hop.error) return { label, state: "failed", note: word(hop.error.kind) };
      return hop.repliedAt === undefined ? { label, state: view.finish ? "skipped" : "running" } : { label };
    }
    case "call": {
      const state = stateOf(row.call, view);
      const fault = faultOf(row.call);
      const prefix = row.call.lookupOf ? "asked by a rule: " : "";
      return {
        label: `${prefix}${row.call.tool}${numbered(row.call, view)}`,
        state,
        ...(fault ? { note: fault.kind } : {}),
      };
    }
    case "end":
      return { label: view.finish?.text?.split("\n")[0] ?? "the end", state: view.finish?.status ?? "" };
  }
}

/** The second call of a tool is told from the first. */
function numbered(call: Call, view: RunView): string {
  const alike = [...view.calls.values()].filter((one) => one.tool === call.tool && !one.lookupOf);
  return alike.length > 1 && !call.lookupOf ? ` #${alike.indexOf(call) + 1}` : "";
}

function Ruler({ axis }: { axis: Axis }) {
  return (
    <p class="ruler">
      <span class="folds">
        {axis.folds.length > 0 && (
          <>
            {count(axis.folds.length, "silence")} folded:{" "}
            {axis.folds.map((fold) => milliseconds(fold.until - fold.from)).join(", ")}
          </>
        )}
      </span>
      <span class="scale">
        <span>0</span>
        <span>{milliseconds(axis.length)}</span>
      </span>
    </p>
  );
}

function Budget({ view }: { view: RunView }) {
  const start = view.start?.type === "runStarted" ? view.start : undefined;
  const tokens = start?.agent.budget?.tokens;
  if (!tokens) return null;
  const used = view.usage.inputTokens + view.usage.outputTokens;
  return (
    <p class="budget">
      <label>
        tokens{" "}
        <meter min={0} max={tokens} value={Math.min(used, tokens)} high={tokens * 0.9}>
          {used} of {tokens}
        </meter>{" "}
        {used.toLocaleString("en")} of {tokens.toLocaleString("en")}
      </label>
    </p>
  );
}

function Findings({ inspection, onHop }: { inspection: Inspection; onHop: (hop: number) => void }) {
  const found = inspection.doctor ?? [];
  if (found.length === 0) return null;
  return (
    <details class="findings">
      <summary>{count(found.length, "finding")} of the doctor</summary>
      <ul>
        {found.map((one) => (
          <li key={`${one.symptom}-${one.seq}`}>
            <b>{one.symptom.replaceAll("-", " ")}</b>{" "}
            {one.hop !== undefined && (
              <button type="button" class="quiet" onClick={() => onHop(one.hop ?? 0)}>
                hop {one.hop}
              </button>
            )}{" "}
            {one.evidence} <em>{one.fix}</em>
          </li>
        ))}
      </ul>
    </details>
  );
}
