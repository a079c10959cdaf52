// What a person can do with a run: stop it, rest it, go on, begin another one from one of its hops.

import { useState } from "preact/hooks";
import { tell } from "../app";
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
  if (!server) return null;
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
