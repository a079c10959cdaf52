// The list of runs: searched and filtered where they are kept, a page at a time.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { files, opened, source } from "../app";
import { Failed } from "../parts/Loading";
import { Chip, Empty } from "../parts/small";
import { VirtualList } from "../parts/VirtualList";
import { go } from "../router";
import { count, milliseconds, stamp } from "../run/words";
import type { Query } from "../source/source";
import type { Summary } from "../wire/types";

const ROW = 52;
const STATES = ["running", "waiting", "in_doubt", "paused", "answered", "stopped", "failed", "cancelled"];
/** The common kinds (docs/errors.md); others can be typed. */
const FAULTS = [
  "schema_mismatch",
  "json_syntax",
  "args_not_object",
  "rule_violation",
  "unknown_tool",
  "policy_denied",
  "approval_rejected",
  "definition_changed",
  "tool_error",
  "timeout",
  "transport_lost",
  "output_mismatch",
];
/** How often a list that is looked at is fetched again. */
const LIVE = 2_000;

export function Runs() {
  const [query, setQuery] = useState<Query>({});
  const [typed, setTyped] = useState("");
  const [runs, setRuns] = useState<Summary[]>([]);
  const [fromFiles, setFromFiles] = useState<Summary[]>([]);
  const [next, setNext] = useState<string | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const [isLoaded, setLoaded] = useState(false);
  const [at, setAt] = useState(0);
  const isLoading = useRef(false);
  const box = useRef<HTMLInputElement>(null);
  const from = source.value;
  const changes = opened.value;

  useEffect(() => {
    const timer = setTimeout(() => setQuery((now) => ({ ...now, text: typed })), 200);
    return () => clearTimeout(timer);
  }, [typed]);

  useEffect(() => {
    let isOurs = true;
    const load = async (): Promise<void> => {
      try {
        const page = await from.runs(query);
        if (!isOurs) return;
        if (from.isServer) setFromFiles((await files.runs(query)).runs);
        // What is further down stays; the head of the list is what changes.
        setRuns((now) => {
          const head = new Set(page.runs.map((run) => run.run));
          const oldest = page.runs.at(-1)?.startedAt ?? 0;
          return page.next
            ? [...page.runs, ...now.filter((run) => !head.has(run.run) && run.startedAt <= oldest)]
            : page.runs;
        });
        setNext((now) => (now === undefined || !page.next ? page.next : now));
        setError(undefined);
      } catch (problem) {
        if (isOurs) setError(problem);
      }
      if (isOurs) setLoaded(true);
    };
    setNext(undefined);
    setRuns([]);
    setLoaded(false);
    void load();
    if (!from.isServer) {
      return () => {
        isOurs = false;
      };
    }
    const timer = setInterval(() => document.visibilityState === "visible" && void load(), LIVE);
    return () => {
      isOurs = false;
      clearInterval(timer);
    };
  }, [query, from, changes]);

  const more = async (): Promise<void> => {
    if (!next || isLoading.current) return;
    isLoading.current = true;
    try {
      const page = await from.runs(query, next);
      setRuns((now) => {
        const known = new Set(now.map((run) => run.run));
        return [...now, ...page.runs.filter((run) => !known.has(run.run))];
      });
      setNext(page.next);
    } catch (problem) {
      setError(problem);
    }
    isLoading.current = false;
  };

  // Opened files stand above what the server has.
  const shown = useMemo(
    () => (fromFiles.length === 0 ? runs : [...fromFiles, ...runs.filter((run) => !files.has(run.run))]),
    [runs, fromFiles],
  );
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = shown.length - 1;
    const moves: Record<string, () => void> = {
      ArrowDown: () => setAt(Math.min(last, at + 1)),
      ArrowUp: () => setAt(Math.max(0, at - 1)),
      j: () => setAt(Math.min(last, at + 1)),
      k: () => setAt(Math.max(0, at - 1)),
      Home: () => setAt(0),
      End: () => setAt(last),
      PageDown: () => setAt(Math.min(last, at + 10)),
      PageUp: () => setAt(Math.max(0, at - 10)),
      Enter: () => shown[at] && go("runs", shown[at].run),
    };
    const move = moves[event.key];
    if (!move || shown.length === 0) return;
    move();
    event.preventDefault();
  };
  const toggle = (state: string): void => {
    const states = query.states ?? [];
    const next = states.includes(state) ? states.filter((one) => one !== state) : [...states, state];
    setQuery({ ...query, states: next });
  };

  return (
    <section class="page runs" aria-labelledby="runs-title">
      <h1 id="runs-title">Runs</h1>
      <search class="filters">
        <input
          ref={box}
          id="search"
          type="search"
          aria-label="Search runs by goal, id or agent"
          placeholder="search goal, id, agent"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <input
          type="text"
          aria-label="Agent"
          placeholder="agent"
          value={query.agent ?? ""}
          onChange={(event) => setQuery({ ...query, agent: event.currentTarget.value })}
        />
        <input
          type="text"
          aria-label="Tool that was called"
          placeholder="tool"
          value={query.tool ?? ""}
          onChange={(event) => setQuery({ ...query, tool: event.currentTarget.value })}
        />
        <input
          type="text"
          aria-label="Kind of refusal or failure, such as schema_mismatch"
          placeholder="refused as"
          list="faults"
          value={query.verdict ?? ""}
          onChange={(event) => setQuery({ ...query, verdict: event.currentTarget.value })}
        />
        <fieldset>
          <legend class="sr">States</legend>
          {STATES.map((state) => (
            <label key={state} class="check">
              <input
                type="checkbox"
                checked={query.states?.includes(state) ?? false}
                onChange={() => toggle(state)}
              />{" "}
              {state.replace("_", " ")}
            </label>
          ))}
        </fieldset>
        <datalist id="faults">
          {FAULTS.map((kind) => (
            <option key={kind} value={kind} />
          ))}
        </datalist>
      </search>
      {error !== undefined && <Failed error={error} />}
      {isLoaded && shown.length === 0 && error === undefined && (
        <Empty>
          No runs
          {query.text || query.states?.length || query.agent || query.tool || query.verdict
            ? " fit this filter"
            : ""}
          . <code>callgate run "…"</code> makes one; a run file can be dropped here.
        </Empty>
      )}
      <VirtualList
        count={shown.length}
        height={ROW}
        active={at}
        class="run-rows"
        onEnd={() => void more()}
        inner={{
          role: "listbox",
          tabIndex: 0,
          "aria-label": "Runs, newest first",
          "aria-activedescendant": shown[at] ? `run-${shown[at].run}` : undefined,
          onKeyDown,
        }}
        row={(i) => (
          <Row
            key={shown[i].run}
            run={shown[i]}
            place={i}
            of={next ? -1 : shown.length}
            isActive={i === at}
            onSelect={() => setAt(i)}
          />
        )}
      />
      <p class="foot" role="status">
        {isLoaded ? `${count(shown.length, "run")}${next ? " so far; scroll for more" : ""}` : "loading…"}
      </p>
    </section>
  );
}

function Row({
  run,
  place,
  of,
  isActive,
  onSelect,
}: {
  run: Summary;
  place: number;
  of: number;
  isActive: boolean;
  onSelect: () => void;
}) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list takes the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the list is focused, and names the active row
    <div
      id={`run-${run.run}`}
      role="option"
      aria-selected={isActive}
      aria-posinset={place + 1}
      aria-setsize={of}
      class={`run-row ${isActive ? "active" : ""}`}
      onClick={() => {
        onSelect();
        go("runs", run.run);
      }}
    >
      <Chip state={run.state} />
      <span class="goal">{run.goal || "(no goal)"}</span>
      <span class="figures">
        {run.agent && <b>{run.parent ? `${run.agent} ↳` : run.agent}</b>} {run.model} ·{" "}
        {count(run.hops, "hop")} · {count(run.calls, "call")} made · {count(run.tokens, "token")} ·{" "}
        {milliseconds(run.updatedAt - run.startedAt)} · {stamp(run.startedAt)}
        <span class="id"> {run.run}</span>
        {source.value.isServer && files.has(run.run) && <span class="bound">opened from a file</span>}
      </span>
    </div>
  );
}
