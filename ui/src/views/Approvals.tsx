// Everything that waits for a person, of all runs.

import { useEffect, useState } from "preact/hooks";
import { sourceOf, waiting, waitingError } from "../app";
import { find } from "../json/doc";
import { JsonText, type Mark } from "../parts/JsonView";
import { type Awaited, Failed, useAwaited, When } from "../parts/Loading";
import { Chip, Empty } from "../parts/small";
import { href } from "../router";
import { admittedOf, type Call, fold, stateOf } from "../run/fold";
import { count, origin, stamp } from "../run/words";
import { type Line, Problem } from "../source/source";
import type { Inspection, Origin, Summary, Tool } from "../wire/types";
import { Decide } from "./Decide";

export function Approvals() {
  const runs = waiting.value;
  const error = waitingError.value;
  return (
    <section class="page" aria-labelledby="approvals-title">
      <h1 id="approvals-title">Approvals</h1>
      {error !== undefined && <Failed error={error} />}
      {runs === undefined && error === undefined && <Empty>loading…</Empty>}
      {runs?.length === 0 && (
        <Empty>
          Nothing waits for anybody. Calls of tools whose tier is <code>approve</code> come here, questions of
          a model, and calls whose outcome was lost.
        </Empty>
      )}
      {runs?.map((run) => (
        <Waiting key={`${run.run}-${run.events}`} run={run} />
      ))}
    </section>
  );
}

function Waiting({ run }: { run: Summary }) {
  const from = sourceOf(run.run);
  const inspected = useAwaited<Inspection>(() => from.inspection(run.run), [run.run, run.events, from]);
  const inspection = inspected.state === "here" ? inspected.value : {};
  const [events, setEvents] = useState<Awaited<Line[]>>({ state: "coming" });
  useEffect(() => {
    const lines: Line[] = [];
    const isWhole = (): boolean => lines.length >= run.events;
    const stop = from.watch(run.run, {
      onLines: (more) => {
        lines.push(...more);
        if (!isWhole()) return;
        setEvents({ state: "here", value: lines });
        // A browser has few connections to a server: none is kept for what does not change.
        setTimeout(() => stop(), 0);
      },
      onState: (state) => {
        if (state !== "lost" || isWhole()) return;
        setEvents({
          state: "failed",
          error: new Problem("the events of this run do not come; trying again"),
        });
      },
    });
    return () => stop();
  }, [run.run, run.events, from]);
  return (
    <article class="waiting">
      <h2>
        <a href={href("runs", run.run)}>{run.goal || run.run}</a>
      </h2>
      <p class="figures">
        <Chip state={run.state} /> <b>{run.agent}</b> {run.model} · {count(run.open?.length ?? 0, "question")}{" "}
        · since {stamp(run.updatedAt)}
      </p>
      <When what={events}>
        {(lines) => {
          const view = fold(lines.map((line) => line.record));
          const calls = [...view.calls.values()].filter((call: Call) =>
            ["waiting", "in_doubt"].includes(stateOf(call, view)),
          );
          return calls.map((call) => (
            <section key={call.id} aria-label={`${call.tool} ${call.id}`}>
              <h3>
                <a href={href("runs", run.run, `call-${call.id}`)}>{call.tool}</a>
              </h3>
              <Risk tool={inspection.offered?.[call.tool]?.contract} />
              <JsonText
                text={admittedOf(call) ?? call.raw}
                label={`The arguments of ${call.tool}`}
                marks={(doc) => {
                  const marks = new Map<number, Mark[]>();
                  for (const one of inspection.provenance?.[call.id] ?? []) {
                    const node = find(doc, one.path);
                    if (node !== undefined) marks.set(node, [markOf(one)]);
                  }
                  return marks;
                }}
              />
              <Decide call={call} runId={run.run} isInDoubt={stateOf(call, view) === "in_doubt"} />
            </section>
          ));
        }}
      </When>
    </article>
  );
}

/** What the tool says of itself: what somebody who says yes should know. */
function Risk({ tool }: { tool: Tool | undefined }) {
  if (!tool) return null;
  const { readOnly, destructive, idempotent, openWorld } = tool.annotations ?? {};
  const risks = [
    readOnly === true && "only reads",
    destructive === true && "destroys",
    destructive === false && readOnly !== true && "changes, destroys nothing",
    readOnly !== true && (idempotent ? "may be repeated" : "not to be repeated"),
    openWorld === true && "reaches outside",
  ].filter((one) => one !== false);
  return (
    <p class="figures">
      {risks.map((risk) => (
        <span key={risk} class="bound">
          {risk}
        </span>
      ))}{" "}
      {tool.description}
    </p>
  );
}

function markOf(one: Origin): Mark {
  return { tone: one.from === "model" ? "wait" : "dim", text: `from ${origin(one)}` };
}
