// One call: what became of its arguments, what each gate said, what came back, what the model read.

import { useMemo } from "preact/hooks";
import { CompareView } from "../parts/CompareView";
import { JsonText, type Mark, Pre } from "../parts/JsonView";
import { Chip, Copy, Notice } from "../parts/small";
import { type Tab, Tabs } from "../parts/Tabs";
import { type Doc, find, isContainer, lexeme } from "../json/doc";
import { merge } from "../json/merge";
import { scan } from "../json/scan";
import { contractPatch, curl, fixture } from "../run/copies";
import { flow } from "../run/flow";
import { admittedOf, type Call, faultOf, type Judged, type RunView, stateOf } from "../run/fold";
import { adjustment, FROM, milliseconds, word } from "../run/words";
import { href } from "../router";
import type { Line } from "../source/source";
import { written } from "../wire/lossless";
import type { Fault, Inspection, Origin, Violation } from "../wire/types";
import { Decide } from "./Decide";
import { Events } from "./Hop";

export interface Props {
  call: Call;
  view: RunView;
  inspection: Inspection;
  lines: Line[];
  runId: string;
}

export function CallDetail(props: Props) {
  const { call, view, inspection, lines, runId } = props;
  const state = stateOf(call, view);
  const fault = faultOf(call);
  const attempt = call.attempts.at(-1);
  const tabs: Tab[] = [
    { id: "values", label: "Values", panel: () => <Values {...props} /> },
    { id: "documents", label: "Documents", panel: () => <Documents {...props} /> },
    { id: "verdicts", label: "Gates", panel: () => <Verdicts {...props} /> },
    { id: "result", label: "Result", panel: () => <Result {...props} /> },
    { id: "definition", label: "Definition", panel: () => <Definition {...props} /> },
    {
      id: "events",
      label: "Events",
      panel: () => (
        <Events lines={lines.filter(({ record }) => "call" in record && record.call === call.id)} />
      ),
    },
  ];
  return (
    <>
      <h2>
        {call.tool} <Chip state={state} {...(fault ? { label: fault.kind } : {})} />
      </h2>
      <p class="figures">
        <code>{call.id}</code> · hop {call.hop}
        {call.lookupOf && (
          <>
            {" "}
            · asked by a rule of <a href={href("runs", runId, `call-${call.lookupOf}`)}>{call.lookupOf}</a>
          </>
        )}
        {attempt && (
          <>
            {" "}
            · attempt {attempt.attempt} · key <code>{attempt.idempotencyKey}</code>
          </>
        )}
        {attempt?.endedAt !== undefined && <> · {milliseconds(attempt.endedAt - attempt.startedAt)}</>}
      </p>
      {fault && <FaultNotice fault={fault} />}
      {state === "waiting" || state === "in_doubt" ? (
        <Decide call={call} runId={runId} isInDoubt={state === "in_doubt"} />
      ) : null}
      <div class="bar">
        {attempt?.wire && curl(attempt.wire) && (
          <Copy label="copy as curl" text={() => curl(attempt.wire ?? "") ?? ""} />
        )}
        <Copy label="copy as fixture" text={() => fixture(call)} />
        <Patches call={call} view={view} inspection={inspection} />
      </div>
      <Tabs
        name={`call ${call.id}`}
        tabs={tabs}
        first={fault && call.attempts.length === 0 ? "verdicts" : "values"}
      />
    </>
  );
}

function Patches({ call, inspection }: { call: Call; view: RunView; inspection: Inspection }) {
  const offered = inspection.offered?.[call.tool];
  const patches = (faultOf(call)?.violations ?? []).flatMap((violation) => {
    const patch = contractPatch(violation, offered?.contract?.input);
    return patch ? [{ violation, patch }] : [];
  });
  return (
    <>
      {patches.map(({ violation, patch }) => (
        <Copy
          key={violation.path + violation.keyword}
          label={`copy contract patch (${violation.keyword})`}
          what={`Copy a JSON Patch of the contract that would admit this value at ${violation.path}`}
          text={() => patch}
        />
      ))}
    </>
  );
}

export function FaultNotice({ fault }: { fault: Fault }) {
  const ran =
    fault.executed === true
      ? "The tool ran."
      : fault.executed === "unknown"
        ? "Nobody knows whether the tool ran."
        : "The tool did not run.";
  return (
    <Notice tone="bad">
      <strong>{fault.kind}</strong> {fault.message} {fault.hint && <em>{fault.hint}</em>} <b>{ran}</b>
    </Notice>
  );
}

function papersOf(call: Call) {
  const judged = call.judged.at(-1);
  const attempt = call.attempts.at(-1);
  const edited = call.judged.find((one) => one.edited);
  const admitted = call.lookupOf ? call.raw : admittedOf(call);
  return {
    raw: call.raw,
    adjustments: judged?.adjustments ?? [],
    ...(admitted === undefined ? {} : { admitted }),
    ...(edited ? { edited: edited.raw } : {}),
    ...(attempt?.wire === undefined ? {} : { wire: attempt.wire }),
    ...(attempt?.used === undefined ? {} : { used: attempt.used }),
  };
}

function Values({ call, inspection, runId }: Props) {
  const papers = useMemo(() => papersOf(call), [call, call.endedAt]);
  const rows = useMemo(() => flow(papers), [papers]);
  const origins = new Map((inspection.provenance?.[call.id] ?? []).map((origin) => [origin.path, origin]));
  const violations = new Map<string, Violation[]>();
  for (const violation of faultOf(call)?.violations ?? [])
    violations.set(violation.path, [...(violations.get(violation.path) ?? []), violation]);
  const isMended = !scan(call.raw).doc;
  if (isMended && papers.admitted === undefined) {
    return (
      <>
        <p>The model wrote this, and it is no JSON:</p>
        <JsonText text={call.raw} label="The arguments as the model wrote them" />
      </>
    );
  }
  if (rows.length === 0) return <p class="empty">A call without arguments.</p>;
  const hasUsed = rows.some((row) => row.used !== undefined);
  const loose = [...violations].filter(([path]) => !rows.some((row) => row.path === path));
  return (
    <>
      {isMended && (
        <>
          <p>The model wrote this, which is no JSON; the gate mended it:</p>
          <Pre text={call.raw} label="The arguments as the model wrote them" />
        </>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keys */}
      <section class="scroll" tabIndex={0} aria-label="What became of each argument value">
        <table class="flow">
          <thead>
            <tr>
              <th scope="col">argument</th>
              {!isMended && <th scope="col">the model wrote</th>}
              <th scope="col">the gates admitted</th>
              <th scope="col">on the wire</th>
              {hasUsed && <th scope="col">the server used</th>}
              <th scope="col">where it came from</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => {
              const bad = violations.get(row.path);
              const origin = origins.get(row.path);
              return (
                <tr key={row.path} class={bad ? "bad" : row.notes.length > 0 ? "noted" : ""}>
                  <th scope="row">
                    <code>{row.path}</code>
                    {bad?.map((violation) => (
                      <span key={violation.keyword} class="mark bad">
                        {violation.keyword}: expected {written(violation.expected)}
                        {violation.suggestion !== undefined &&
                          `; did you mean ${written(violation.suggestion)}?`}
                      </span>
                    ))}
                    {row.notes.map((note) => (
                      <span key={note} class={`mark ${note === "templated" ? "dim" : "wait"}`}>
                        {note}
                      </span>
                    ))}
                  </th>
                  {!isMended && <Cell text={row.wrote} />}
                  <Cell text={row.admitted} />
                  <td>
                    {row.wire.length === 0 ? (
                      <span class="absent">—</span>
                    ) : (
                      row.wire.map((sight) => (
                        <span key={sight.where}>
                          <code>{short(sight.text)}</code> <small>{sight.where}</small>
                        </span>
                      ))
                    )}
                  </td>
                  {hasUsed && <Cell text={row.used} />}
                  <td>{origin ? <Where origin={origin} runId={runId} /> : <span class="absent">—</span>}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </section>
      {loose.map(([path, found]) => (
        <p key={path} class="mark bad">
          {path || "(root)"}:{" "}
          {found
            .map((violation) => `${violation.keyword}: expected ${written(violation.expected)}`)
            .join("; ")}
        </p>
      ))}
    </>
  );
}

function Where({ origin, runId }: { origin: Origin; runId: string }) {
  const tone = origin.from === "model" ? "bad" : origin.match && origin.match !== "exact" ? "wait" : "good";
  return (
    <span class={`origin ${tone}`}>
      {FROM[origin.from]}{" "}
      {origin.call && (
        <a href={href("runs", runId, `call-${origin.call}`)}>
          {origin.call} {origin.at}
        </a>
      )}
      {!origin.call && origin.at && <q>{short(origin.at)}</q>}
      {origin.match && origin.match !== "exact" && <small> ({word(origin.match)})</small>}
    </span>
  );
}

function short(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function Cell({ text }: { text: string | undefined }) {
  return (
    <td>{text === undefined ? <span class="absent">—</span> : <code title={text}>{short(text)}</code>}</td>
  );
}

function Documents({ call }: Props) {
  const papers = papersOf(call);
  const columns = useMemo(() => {
    const all: { label: string; doc: Doc }[] = [];
    const add = (label: string, text: string | undefined): void => {
      const doc = text === undefined ? undefined : scan(text).doc;
      if (doc) all.push({ label, doc });
    };
    add("the model's arguments", papers.raw);
    if (papers.edited !== undefined) add("edited by a person", papers.edited);
    else if (papers.admitted !== papers.raw) add("admitted", papers.admitted);
    add("on the wire", wireArguments(papers.wire));
    if (papers.used !== undefined) add("the server used", papers.used);
    return all.slice(0, 4);
  }, [call, call.endedAt]);
  const merged = useMemo(
    () => (columns.length > 1 ? merge(columns.map((column) => column.doc)) : undefined),
    [columns],
  );
  const isJson = scan(papers.raw).doc !== undefined;
  const why = new Map(papers.adjustments.map((one) => [one.to ?? one.path ?? "", adjustment(one.name)]));
  return (
    <>
      {papers.adjustments
        .filter((one) => one.path === undefined)
        .map((one) => (
          <p key={one.name} class="mark wait">
            {adjustment(one.name)}
          </p>
        ))}
      {!isJson && (
        <>
          <h3>as the model wrote it, which is no JSON</h3>
          <Pre text={papers.raw} label="The arguments as the model wrote them" />
          {columns.length === 1 && <h3>{columns[0].label}</h3>}
        </>
      )}
      {merged ? (
        <CompareView
          columns={columns}
          merged={merged}
          label="The documents of this call, side by side"
          explain={(pointer) => why.get(pointer)}
        />
      ) : (
        columns[0] && <JsonText text={columns[0].doc.text} label={`The arguments: ${columns[0].label}`} />
      )}
      {papers.wire !== undefined && (
        <details>
          <summary>everything that was sent</summary>
          <JsonText text={papers.wire} label="What was sent" />
        </details>
      )}
    </>
  );
}

/** The part of what was sent that carries the arguments: a body, or an MCP call's own. */
function wireArguments(wire: string | undefined): string | undefined {
  const doc = wire === undefined ? undefined : scan(wire).doc;
  if (!doc) return undefined;
  for (const pointer of ["/params/arguments", "/arguments", "/body", "/stdin", "/input"]) {
    const node = find(doc, pointer);
    if (node !== undefined && isContainer(doc, node)) return lexeme(doc, node);
  }
  return undefined;
}

function Verdicts({ call }: Props) {
  return (
    <>
      {call.judged.map((judged, i) => (
        <Verdict key={judged.seq} judged={judged} isFirst={i === 0} />
      ))}
      {call.judged.length === 0 && (
        <p class="empty">
          A rule's question: its arguments come out of the contract, and passed the gates of its own tool.
        </p>
      )}
      {call.asked.map((asked) => (
        <p key={asked.at}>
          <Chip
            state={
              asked.decision === undefined
                ? "waiting"
                : asked.decision === "approve" || asked.decision === "answered"
                  ? "approve"
                  : "rejected"
            }
            label={asked.question ? "question" : "approval"}
          />{" "}
          {asked.question && <q>{asked.question}</q>}{" "}
          {asked.because && (
            <>
              because <code>{asked.because}</code>
            </>
          )}{" "}
          {asked.decision
            ? `${word(asked.decision)}${asked.by ? ` by ${asked.by}` : ""}${asked.reason ? `: ${asked.reason}` : ""}`
            : "nobody has decided yet"}
        </p>
      ))}
    </>
  );
}

function Verdict({ judged, isFirst }: { judged: Judged; isFirst: boolean }) {
  const { verdict } = judged;
  const fault = verdict.verdict === "refused" ? verdict.fault : undefined;
  return (
    <article class="verdict">
      <h3>
        <Chip state={verdict.verdict} />{" "}
        {judged.edited ? "a person's edit" : isFirst ? "as the model wrote it" : "judged again"}
      </h3>
      <ol class="gates">
        <Gate
          name="parse"
          bad={fault !== undefined && /^(json_|args_not_object|output_truncated)/.test(fault.kind)}
        >
          {judged.adjustments
            .filter((one) => one.path === undefined)
            .map((one) => adjustment(one.name))
            .join("; ")}
        </Gate>
        <Gate name="schema" bad={fault?.kind === "schema_mismatch"}>
          {fault?.violations
            ?.map((violation) => `${violation.path || "(root)"} ${violation.keyword}`)
            .join("; ")}
          {judged.adjustments
            .filter((one) => one.path !== undefined)
            .map((one) => `${one.to ?? one.path}: ${adjustment(one.name)}`)
            .join("; ")}
        </Gate>
        <Gate name="rules" bad={fault?.kind === "rule_violation"}>
          {fault?.rule ?? (verdict.verdict === "asking" ? `rule ${verdict.rule} asks first` : "")}
        </Gate>
        <Gate name="tier" bad={fault?.kind === "policy_denied"}>
          {verdict.verdict === "admitted"
            ? `${verdict.tier}${verdict.because ? ` because ${verdict.because}` : ""}`
            : ""}
        </Gate>
      </ol>
      <JsonText
        text={judged.raw}
        label="The arguments that were judged, with what was said of them"
        marks={(doc) => marksOf(doc, judged)}
      />
    </article>
  );
}

function Gate({ name, bad, children }: { name: string; bad: boolean; children?: preact.ComponentChildren }) {
  return (
    <li class={bad ? "bad" : ""}>
      <b>{name}</b> {children}
    </li>
  );
}

/** What was said, at the values that it was said of. */
function marksOf(doc: Doc, judged: Judged): Map<number, Mark[]> {
  const marks = new Map<number, Mark[]>();
  const put = (pointer: string, mark: Mark): void => {
    const node = find(doc, pointer, true) ?? 0;
    marks.set(node, [...(marks.get(node) ?? []), mark]);
  };
  if (judged.verdict.verdict === "refused") {
    for (const violation of judged.verdict.fault.violations ?? []) {
      const meant =
        violation.suggestion === undefined ? "" : `; did you mean ${written(violation.suggestion)}?`;
      put(violation.path, {
        tone: "bad",
        text: `${violation.keyword}: expected ${written(violation.expected)}${meant}`,
      });
    }
  }
  for (const one of judged.adjustments) {
    if (one.path !== undefined) put(one.path, { tone: "wait", text: adjustment(one.name) });
  }
  return marks;
}

function Result({ call, inspection, view }: Props) {
  const attempt = call.attempts.at(-1);
  const read = inspection.read?.[call.id];
  if (!attempt && read === undefined) return <p class="empty">It did not run{view.finish ? "" : " yet"}.</p>;
  const { output, failure, raw } = attempt ?? {};
  return (
    <>
      {failure && <FaultNotice fault={failure} />}
      {output?.structured !== undefined && (
        <>
          <h3>Structured value</h3>
          <JsonText text={output.structured} label="The structured value of the result" tall />
        </>
      )}
      {output?.content?.map((content, i) => (
        <div key={i}>
          <h3>
            Block {i + 1}: {content.type}
          </h3>
          {content.type === "text" &&
            (scan(content.text).doc ? (
              <JsonText text={content.text} label={`Block ${i + 1}`} />
            ) : (
              <Pre text={content.text} label={`Block ${i + 1}`} />
            ))}
          {content.type === "image" && (
            <p>
              {content.mediaType}, {(content.data?.length ?? 0).toLocaleString("en")} characters of Base64
            </p>
          )}
        </div>
      ))}
      {call.passed && (
        <p class="mark wait">
          {call.passed.adjustments.map((one) => adjustment(one.name)).join("; ")}
          {call.passed.omissions.length > 0 &&
            ` left out of what the model reads: ${written(call.passed.omissions)}`}
        </p>
      )}
      {read !== undefined && (
        <>
          <h3>What the model read</h3>
          {scan(read).doc ? (
            <JsonText text={read} label="What the model read" />
          ) : (
            <Pre text={read} label="What the model read" />
          )}
        </>
      )}
      {raw !== undefined && (
        <details>
          <summary>the raw response</summary>
          {scan(raw).doc ? (
            <JsonText text={raw} label="The raw response" />
          ) : (
            <Pre text={raw} label="The raw response" />
          )}
        </details>
      )}
    </>
  );
}

function Definition({ call, inspection, view }: Props) {
  const offered = inspection.offered?.[call.tool];
  const losses = offered?.losses ?? view.losses[call.tool] ?? [];
  if (!offered && losses.length === 0) return <p class="empty">The definition is not kept with this run.</p>;
  return (
    <>
      {losses.length > 0 && (
        <>
          <h3>What the provider's form does not hold; the gate holds it</h3>
          <ul>
            {losses.map((loss) => (
              <li key={loss}>{loss}</li>
            ))}
          </ul>
        </>
      )}
      {offered && (
        <>
          <h3>As the model was shown it</h3>
          <JsonText
            text={written(offered.definition)}
            label="The definition as the model was shown it"
            tall
          />
          {offered.contract && (
            <details>
              <summary>the contract</summary>
              <JsonText text={written(offered.contract)} label="The contract" tall />
            </details>
          )}
        </>
      )}
    </>
  );
}
