// What a person can do with a run: stop it, rest it, go on, begin another one from one of its hops.

import { useState } from "preact/hooks";
import { forget, server as here, tell } from "../app";
import { Failed } from "../parts/Loading";
import type { RunView } from "../run/fold";
import { go } from "../router";
import { asServer } from "../source/server";
import type { Source } from "../source/source";

export function RunActions({
  id,
  view,
  from,
  hop,
}: {
  id: string;
  view: RunView;
  from: Source;
  hop: number | undefined;
}) {
  const server = asServer(from);
  const [error, setError] = useState<unknown>(undefined);
  const [model, setModel] = useState("");
  if (!server) return <Keep id={id} from={from} />;
  const say = async (word: "cancel" | "pause" | "resume", told: string): Promise<void> => {
    try {
      await server.say(id, word, {});
      setError(undefined);
      tell(told);
    } catch (problem) {
      setError(problem);
    }
  };
  const fork = async (): Promise<void> => {
    try {
      const made = await server.say(id, "fork", { hop: hop ?? 1, ...(model ? { model } : {}) });
      if (made?.run) go("runs", made.run);
    } catch (problem) {
      setError(problem);
    }
  };
  const replay = async (): Promise<void> => {
    try {
      const verdict = await server.post<{ holds: boolean; difference?: string }>(
        `api/runs/${encodeURIComponent(id)}/replay`,
        {},
      );
      tell(
        verdict?.holds
          ? "replayed: every verdict and effect is the same"
          : `replayed: ${verdict?.difference ?? "it differs"}`,
      );
      setError(undefined);
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <>
      {!view.finish && (
        <>
          <button type="button" class="bad" onClick={() => say("cancel", "cancelled")}>
            cancel
          </button>
          <button
            type="button"
            onClick={() =>
              view.paused
                ? say("resume", "it goes on")
                : say("pause", "it rests once calls under way have ended")
            }
          >
            {view.paused ? "resume" : "pause"}
          </button>
        </>
      )}
      <button type="button" onClick={() => void replay()}>
        replay
      </button>
      <details class="more">
        <summary>fork at hop {hop ?? 1}</summary>
        <label>
          another model{" "}
          <input
            value={model}
            placeholder={view.model}
            onInput={(event) => setModel(event.currentTarget.value)}
          />
        </label>
        <button type="button" onClick={() => void fork()}>
          fork
        </button>
      </details>
      {error !== undefined && <Failed error={error} />}
    </>
  );
}

/** A run out of a file may be taken in by the server that the page is from. */
function Keep({ id, from }: { id: string; from: Source }) {
  const [error, setError] = useState<unknown>(undefined);
  const server = asServer(here.value);
  if (!server) return null;
  const keep = async (): Promise<void> => {
    try {
      await server.keep(await from.exported(id));
      forget(id);
      tell("it is kept on this server now");
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <>
      <span class="bound">opened from a file</span>
      <button type="button" onClick={() => void keep()}>
        keep it on this server
      </button>
      {error !== undefined && <Failed error={error} />}
    </>
  );
}
