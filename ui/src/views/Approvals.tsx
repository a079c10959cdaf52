// Everything that waits for a person, of all runs.

import { useEffect, useState } from "preact/hooks";
import { source, waitingCount } from "../app";
import { Failed, useAwaited, When } from "../parts/Loading";
import { Chip, Empty } from "../parts/small";
import { type Call, fold, stateOf } from "../run/fold";
import { count, stamp } from "../run/words";
import { href } from "../router";
import { JsonText } from "../parts/JsonView";
import { admittedOf } from "../run/fold";
import type { Summary } from "../wire/types";
import type { Line } from "../source/source";
import { Decide } from "./Decide";

const LIVE = 3_000;

export function Approvals() {
  const [runs, setRuns] = useState<Summary[] | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const from = source.value;
  useEffect(() => {
    let isOurs = true;
    const load = async (): Promise<void> => {
      try {
        const page = await from.runs({ states: ["waiting", "in_doubt"] });
        if (!isOurs) return;
        setRuns(page.runs);
        setError(undefined);
        waitingCount.value = page.runs.reduce((sum, run) => sum + (run.open?.length ?? 1), 0);
      } catch (problem) {
        if (isOurs) setError(problem);
      }
    };
    void load();
    const timer = setInterval(() => document.visibilityState === "visible" && void load(), LIVE);
    return () => {
      isOurs = false;
      clearInterval(timer);
    };
  }, [from]);
  return (
    <section class="page" aria-labelledby="approvals-title">
      <h1 id="approvals-title">Approvals</h1>
      {error !== undefined && <Failed error={error} />}
      {runs?.length === 0 && <Empty>Nothing waits for anybody.</Empty>}
      {runs?.map((run) => (
        <Waiting key={`${run.run}-${run.events}`} run={run} />
      ))}
    </section>
  );
}

function Waiting({ run }: { run: Summary }) {
  const from = source.value;
  const events = useAwaited<Line[]>(
    () =>
      new Promise((resolve) => {
        const lines: Line[] = [];
        let stop = (): void => {};
        stop = from.watch(run.run, {
          onLines: (more) => {
            lines.push(...more);
            if (lines.length >= run.events) {
              resolve(lines);
              setTimeout(() => stop(), 0);
            }
          },
        });
      }),
    [run.run, run.events, from],
  );
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
              <JsonText text={admittedOf(call) ?? call.raw} label={`The arguments of ${call.tool}`} />
              <Decide call={call} runId={run.run} isInDoubt={stateOf(call, view) === "in_doubt"} />
            </section>
          ));
        }}
      </When>
    </article>
  );
}
