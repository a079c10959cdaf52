// MCP servers: how they stand, and what they tell otherwise than it was accepted (docs/mcp.md).

import { Chip, Notice } from "../parts/small";
import { count } from "../run/words";
import type { McpServer } from "../source/server";
import { written } from "../wire/lossless";
import type { Drifted, Effect, Flag } from "../wire/lock";

export function Servers({ list }: { list: McpServer[] }) {
  if (list.length === 0) return null;
  return (
    <section aria-label="MCP servers" class="servers">
      <h2>MCP servers</h2>
      {list.map((one) => (
        <Server key={one.name} server={one} />
      ))}
    </section>
  );
}

/** How a connection stands, in the words of a state that the page has a colour for. */
const STATES: Record<string, string> = {
  ready: "answered",
  connecting: "running",
  notStarted: "paused",
  failed: "failed",
  disabled: "skipped",
};

function Server({ server }: { server: McpServer }) {
  const { health, lock } = server;
  const state = server.disabled ? "disabled" : health.state.state;
  const drifts = lock ? driftsOf(lock) : 0;
  return (
    <details class="server" open={drifts > 0 || state === "failed" || lock?.error !== undefined}>
      <summary>
        <b>{server.name}</b> <Chip state={STATES[state] ?? "paused"} label={worded(state)} />{" "}
        {lock && (
          <Chip
            state={lock.error ? "failed" : drifts > 0 ? "refused" : "answered"}
            label={
              lock.error
                ? "could not be asked"
                : drifts > 0
                  ? `${count(drifts, "definition")} not as accepted`
                  : `${count(lock.unchanged, "tool")} as accepted`
            }
          />
        )}{" "}
        <small>{server.transport}</small>
      </summary>
      {health.state.why && (
        <Notice tone="bad">
          {health.state.why} {health.state.stderr && <code>{health.state.stderr}</code>}
        </Notice>
      )}
      {health.state.protocolVersion && (
        <p class="figures">
          {health.state.name} {health.state.version} · MCP {health.state.protocolVersion} ·{" "}
          {count(health.restarts, "restart")} · {count(health.faults, "broken message")}
        </p>
      )}
      {lock?.error && <Notice tone="bad">{lock.error}</Notice>}
      {lock && drifts > 0 && <Drift server={server.name} lock={lock} />}
    </details>
  );
}

function worded(state: string): string {
  return state.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function driftsOf(lock: Drifted): number {
  return [lock.added, lock.changed, lock.removed, lock.unusable].reduce(
    (sum, list) => sum + (list?.length ?? 0),
    0,
  );
}

function Drift({ server, lock }: { server: string; lock: Drifted }) {
  return (
    <>
      <p class="figures">
        Until somebody accepts it, calls of changed tools are refused and new ones are not offered. After you
        have read what follows: <code>callgate lock --accept {server}</code>
      </p>
      {lock.changed?.map((one) => (
        <article key={one.tool} class="drift">
          <h3>
            <Chip state="refused" label="changed" /> {one.tool}
          </h3>
          {one.texts?.map((text) => (
            <p key={text.field}>
              {text.field}:{" "}
              <q>
                {text.diff.map((piece, i) =>
                  piece.op === "same" ? (
                    piece.text
                  ) : piece.op === "added" ? (
                    <ins key={i}>{piece.text}</ins>
                  ) : (
                    <del key={i}>{piece.text}</del>
                  ),
                )}
              </q>
            </p>
          ))}
          {one.input && <Change what="what it takes" effect={one.input} />}
          {one.output && <Change what="what it gives" effect={one.output} />}
          {one.annotations?.map((hint) => (
            <p key={hint.hint}>
              {hint.hint}: <del>{written(hint.before)}</del> <ins>{written(hint.after)}</ins>
            </p>
          ))}
          <Flags flags={one.flags} />
        </article>
      ))}
      {lock.added?.map((one) => (
        <article key={one.tool} class="drift">
          <h3>
            <Chip state="waiting" label="new" /> {one.tool}
          </h3>
          <p>{one.description}</p>
          <Flags flags={one.flags} />
        </article>
      ))}
      {lock.removed?.map((tool) => (
        <p key={tool}>
          <Chip state="skipped" label="gone" /> {tool}
        </p>
      ))}
      {lock.unusable?.map((one) => (
        <p key={one.pointer + one.reason}>
          <Chip state="failed" label="cannot be a contract" /> {one.tool} <code>{one.pointer}</code>{" "}
          {one.reason}
        </p>
      ))}
    </>
  );
}

const RELATIONS: Record<string, string> = {
  equal: "the same values as before: only words in the schema are others",
  wider: "more than before",
  narrower: "less than before",
  both: "values that it did not take, and not all that it took",
  unknown: "it could not be proved what changed: read the edits",
};

/** What a change of schema does, with values that prove it. */
function Change({ what, effect }: { what: string; effect: Effect }) {
  return (
    <section aria-label={what}>
      <p>
        {what}: <b>{RELATIONS[effect.relation] ?? effect.relation}</b>
      </p>
      <dl class="facts">
        {effect.onlyAfter !== undefined && (
          <>
            <dt>admitted now only</dt>
            <dd>
              <code>{written(effect.onlyAfter)}</code>
            </dd>
          </>
        )}
        {effect.onlyBefore !== undefined && (
          <>
            <dt>admitted before only</dt>
            <dd>
              <code>{written(effect.onlyBefore)}</code>
            </dd>
          </>
        )}
        {effect.edits.map((edit) => (
          <>
            <dt>
              <code>{edit.pointer || "(root)"}</code>
            </dt>
            <dd>
              {edit.before !== undefined && (
                <del>
                  <code>{written(edit.before)}</code>
                </del>
              )}{" "}
              {edit.after !== undefined && (
                <ins>
                  <code>{written(edit.after)}</code>
                </ins>
              )}
            </dd>
          </>
        ))}
      </dl>
      {effect.more ? <p class="figures">and {count(effect.more, "more edit")}</p> : null}
    </section>
  );
}

/** What is to be looked at: characters that nobody sees, words that speak to the model. */
function Flags({ flags }: { flags: Flag[] | undefined }) {
  return (
    <>
      {flags?.map((flag) => (
        <Notice key={flag.pointer + flag.kind} tone="bad">
          <strong>{worded(flag.kind)}</strong> {flag.codePoints?.join(" ")} at <code>{flag.pointer}</code>:{" "}
          <code>{flag.text}</code>
        </Notice>
      ))}
    </>
  );
}
