// What the model was asked and what it said.

import { JsonText, Pre } from "../parts/JsonView";
import { Notice } from "../parts/small";
import type { Hop, RunView } from "../run/fold";
import { count, milliseconds, stamp, word } from "../run/words";
import type { Line } from "../source/source";
import { written } from "../wire/lossless";

export function SaidDetail({
  text,
  at,
  isGoal,
  view,
}: {
  text: string;
  at: number;
  isGoal: boolean;
  view: RunView;
}) {
  return (
    <>
      <h2>{isGoal ? "The goal" : "The user went on"}</h2>
      <p class="figures">{stamp(at)}</p>
      <Pre text={text} label="What the user said" />
      {isGoal && view.instructions && (
        <details>
          <summary>instructions</summary>
          <Pre text={view.instructions} label="The agent's instructions" />
        </details>
      )}
    </>
  );
}

export function HopDetail({ hop, view, lines }: { hop: Hop; view: RunView; lines: Line[] }) {
  const events = lines.filter(
    ({ record }) =>
      (record.type === "modelRequested" || record.type === "modelReplied") && record.hop === hop.hop,
  );
  return (
    <>
      <h2>Hop {hop.hop}</h2>
      <dl class="facts">
        <dt>asked</dt>
        <dd>{word(hop.why)}</dd>
        <dt>model</dt>
        <dd>{hop.model ?? view.model}</dd>
        <dt>took</dt>
        <dd>{hop.repliedAt === undefined ? "not replied" : milliseconds(hop.repliedAt - hop.requestedAt)}</dd>
        {hop.usage && (
          <>
            <dt>tokens</dt>
            <dd>
              {hop.usage.inputTokens.toLocaleString("en")} in
              {hop.usage.cachedTokens ? ` (${hop.usage.cachedTokens.toLocaleString("en")} cached)` : ""},{" "}
              {hop.usage.outputTokens.toLocaleString("en")} out
              {hop.usage.reasoningTokens
                ? ` (${hop.usage.reasoningTokens.toLocaleString("en")} reasoning)`
                : ""}
            </dd>
          </>
        )}
        {hop.stop && (
          <>
            <dt>ended</dt>
            <dd>{word(hop.stop)}</dd>
          </>
        )}
        <dt>on offer</dt>
        <dd>
          {hop.offered.length === 0
            ? "no tools"
            : `${count(hop.offered.length, "tool")}: ${hop.offered.join(", ")}`}
        </dd>
      </dl>
      {hop.error && (
        <Notice tone="bad">
          <strong>{word(hop.error.kind)}</strong> {hop.error.message}
        </Notice>
      )}
      {hop.reasoning && (
        <details>
          <summary>reasoning</summary>
          <Pre text={hop.reasoning} label="The model's reasoning" />
        </details>
      )}
      {hop.text && (
        <>
          <h3>Text</h3>
          <Pre text={hop.text} label="The model's text" />
        </>
      )}
      {hop.exchange && (
        <details>
          <summary>bytes of the provider</summary>
          <JsonText text={written(hop.exchange)} label="What went to the provider and came back" />
        </details>
      )}
      <Events lines={events} />
    </>
  );
}

export function EndDetail({ view, lines }: { view: RunView; lines: Line[] }) {
  const { finish } = view;
  if (!finish) return null;
  return (
    <>
      <h2>The end: {word(finish.status)}</h2>
      {finish.stoppedBy && <p>Stopped by {word(finish.stoppedBy)}.</p>}
      {finish.fault && (
        <Notice tone="bad">
          <strong>{finish.fault.kind}</strong> {finish.fault.message} {finish.fault.hint}
        </Notice>
      )}
      {finish.provider && (
        <Notice tone="bad">
          <strong>{word(finish.provider.kind)}</strong> {finish.provider.message}
        </Notice>
      )}
      {finish.text && <Pre text={finish.text} label="The answer" />}
      {finish.value && <JsonText text={finish.value} label="The answer by its schema" />}
      {finish.skipped && finish.skipped.length > 0 && (
        <p>Not run, since the run ended: {finish.skipped.join(", ")}.</p>
      )}
      <p class="figures">
        {count(finish.hops, "hop")} · {count(finish.calls, "call")} ·{" "}
        {(finish.usage.inputTokens + finish.usage.outputTokens).toLocaleString("en")} tokens
        {finish.usd === undefined ? "" : ` · ${finish.usd.toFixed(4)} USD`}
      </p>
      <Events lines={lines.filter(({ record }) => record.type === "runFinished")} />
    </>
  );
}

/** The lines of the journal as they are. */
export function Events({ lines }: { lines: Line[] }) {
  if (lines.length === 0) return null;
  return (
    <details class="events">
      <summary>{count(lines.length, "event")} of the journal</summary>
      {lines.map((line) => (
        <div key={line.record.seq}>
          <h3>
            {line.record.seq} {line.record.type}
          </h3>
          <JsonText text={line.text} label={`Event ${line.record.seq}`} />
        </div>
      ))}
    </details>
  );
}
