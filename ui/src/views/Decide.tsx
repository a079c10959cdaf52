// A person's word on a call that waits: yes, no, other arguments, an answer, what became of it.

import { useState } from "preact/hooks";
import { askWaiting, sourceOf, tell } from "../app";
import { Failed } from "../parts/Loading";
import { scan } from "../json/scan";
import { format } from "../json/format";
import { admittedOf, type Call } from "../run/fold";
import { asServer, type ServerSource } from "../source/server";

export function Decide({ call, runId, isInDoubt }: { call: Call; runId: string; isInDoubt: boolean }) {
  const server = asServer(sourceOf(runId));
  const [error, setError] = useState<unknown>(undefined);
  const [isBusy, setBusy] = useState(false);
  const asked = call.asked.at(-1);
  if (!server)
    return <p class="empty">It waits for a person. This page is a file: decide where the run is kept.</p>;
  const say = async (
    word: Parameters<ServerSource["say"]>[1],
    body: unknown,
    told: string,
  ): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await server.say(runId, word, body);
      tell(told);
      void askWaiting();
    } catch (problem) {
      setError(problem);
    }
    setBusy(false);
  };
  return (
    <fieldset class="decide" disabled={isBusy}>
      <legend>
        {isInDoubt ? "What became of this call?" : asked?.question ? "The model asks" : "May this call run?"}
      </legend>
      {error !== undefined && <Failed error={error} />}
      {isInDoubt ? (
        <Doubt call={call} say={say} />
      ) : asked?.question !== undefined ? (
        <Question call={call} question={asked.question} choices={asked.choices ?? []} say={say} />
      ) : (
        <Approval call={call} binding={asked?.binding} because={asked?.because} say={say} />
      )}
    </fieldset>
  );
}

type Say = (word: Parameters<ServerSource["say"]>[1], body: unknown, told: string) => Promise<void>;

function Approval({
  call,
  binding,
  because,
  say,
}: {
  call: Call;
  binding: string | undefined;
  because: string | undefined;
  say: Say;
}) {
  const admitted = admittedOf(call) ?? "";
  const [reason, setReason] = useState("");
  const [edit, setEdit] = useState<string | undefined>(undefined);
  const fault = edit === undefined ? undefined : scan(edit).fault;
  return (
    <>
      {because && (
        <p>
          Asked because <code>{because}</code>
        </p>
      )}
      {edit === undefined ? (
        <div class="bar">
          <button
            type="button"
            class="good"
            onClick={() => say("approve", { call: call.id, ...(binding ? { binding } : {}) }, "approved")}
          >
            Approve
          </button>
          <button type="button" onClick={() => setEdit(pretty(admitted))}>
            Edit arguments
          </button>
          <label>
            why not <input value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
          </label>
          <button
            type="button"
            class="bad"
            onClick={() => say("reject", { call: call.id, ...(reason ? { reason } : {}) }, "rejected")}
          >
            Reject
          </button>
        </div>
      ) : (
        <>
          <label>
            arguments, judged again by the gates
            <textarea
              rows={8}
              spellcheck={false}
              value={edit}
              onInput={(event) => setEdit(event.currentTarget.value)}
            />
          </label>
          {fault && (
            <p class="fault" role="status">
              line {fault.line}, column {fault.column}: {fault.message}
            </p>
          )}
          <div class="bar">
            <button
              type="button"
              class="good"
              disabled={fault !== undefined}
              onClick={() =>
                say(
                  "approve",
                  `{"call": ${JSON.stringify(call.id)}, ${binding ? `"binding": ${JSON.stringify(binding)}, ` : ""}"arguments": ${edit}}`,
                  "edited; the gates judge it again",
                )
              }
            >
              Send the edit
            </button>
            <button type="button" onClick={() => setEdit(undefined)}>
              Leave it as it was
            </button>
          </div>
        </>
      )}
    </>
  );
}

function pretty(text: string): string {
  const doc = scan(text).doc;
  return doc ? format(doc, { indent: 2, sort: false }) : text;
}

function Question({
  call,
  question,
  choices,
  say,
}: {
  call: Call;
  question: string;
  choices: string[];
  say: Say;
}) {
  const [text, setText] = useState("");
  return (
    <>
      <p>
        <q>{question}</q>
      </p>
      <div class="bar">
        {choices.map((choice) => (
          <button
            key={choice}
            type="button"
            onClick={() => say("answer", { call: call.id, text: choice }, "answered")}
          >
            {choice}
          </button>
        ))}
        <label>
          answer <input value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <button
          type="button"
          class="good"
          disabled={text === ""}
          onClick={() => say("answer", { call: call.id, text }, "answered")}
        >
          Answer
        </button>
      </div>
    </>
  );
}

function Doubt({ call, say }: { call: Call; say: Say }) {
  const [result, setResult] = useState("");
  return (
    <>
      <p>
        It was begun and its outcome was lost; its tool does not say that it may be repeated. Look where it
        acts, then say:
      </p>
      <div class="bar">
        <button
          type="button"
          onClick={() =>
            say(
              "doubt",
              `{"call": ${JSON.stringify(call.id)}, "became": "done"${result ? `, "result": ${result}` : ""}}`,
              "told: it was done",
            )
          }
        >
          It was done
        </button>
        <label>
          with this result (JSON){" "}
          <input value={result} onInput={(event) => setResult(event.currentTarget.value)} />
        </label>
        <button
          type="button"
          onClick={() => say("doubt", { call: call.id, became: "redo" }, "told: begin it again")}
        >
          It was not: begin again
        </button>
        <button
          type="button"
          class="bad"
          onClick={() => say("doubt", { call: call.id, became: "fail" }, "told: nobody knows")}
        >
          Nobody knows
        </button>
      </div>
    </>
  );
}
