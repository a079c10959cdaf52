// The tools: their schemas to be read, a call to be tried, their servers, what the lints say.

import { useState } from "preact/hooks";
import { source } from "../app";
import { JsonText } from "../parts/JsonView";
import { Failed, useAwaited, When } from "../parts/Loading";
import { Chip, Empty } from "../parts/small";
import { SchemaForm } from "../parts/SchemaForm";
import { SchemaTree } from "../parts/SchemaTree";
import { type Tab, Tabs } from "../parts/Tabs";
import { count } from "../run/words";
import { href } from "../router";
import type { Schema } from "../schema/read";
import { asServer, type LintFinding, type McpServer, type Verdict } from "../source/server";
import { Servers } from "./Servers";
import { written } from "../wire/lossless";
import type { Tool } from "../wire/types";
import { FaultNotice } from "./Call";

export function Catalog({ name }: { name: string | undefined }) {
  const from = source.value;
  const server = asServer(from);
  const tools = useAwaited(() => from.catalog(), [from]);
  const servers = useAwaited<McpServer[]>(() => server?.servers() ?? Promise.resolve([]), [from]);
  const [text, setText] = useState("");
  return (
    <section class="page catalog" aria-labelledby="catalog-title">
      <h1 id="catalog-title">Catalog</h1>
      {server && <When what={servers}>{(list) => <Servers list={list} />}</When>}
      <When what={tools}>
        {(list) => {
          const shown = list.filter((tool) =>
            `${tool.name} ${tool.description}`.toLowerCase().includes(text.toLowerCase()),
          );
          const tool = list.find((one) => one.name === name);
          return (
            <div class="split">
              <nav aria-label="Tools">
                <input
                  type="search"
                  id="search"
                  aria-label="Search tools"
                  placeholder="search tools"
                  value={text}
                  onInput={(event) => setText(event.currentTarget.value)}
                />
                <ul class="tools">
                  {shown.map((one) => (
                    <li key={one.name}>
                      <a
                        href={href("catalog", one.name)}
                        aria-current={one.name === name ? "page" : undefined}
                      >
                        {one.name}
                      </a>
                    </li>
                  ))}
                </ul>
                <p class="foot">{count(shown.length, "tool")}</p>
              </nav>
              <div class="detail">
                {tool ? <OneTool key={tool.name} tool={tool} /> : <Empty>Choose a tool.</Empty>}
              </div>
            </div>
          );
        }}
      </When>
    </section>
  );
}

function OneTool({ tool }: { tool: Tool }) {
  const tabs: Tab[] = [
    { id: "schema", label: "Schema", panel: () => <Schemas tool={tool} /> },
    { id: "try", label: "Try a call", panel: () => <TryCall tool={tool} /> },
    { id: "findings", label: "Findings", panel: () => <Findings tool={tool} /> },
    {
      id: "json",
      label: "Contract",
      panel: () => <JsonText text={written(tool)} label={`The contract of ${tool.name}`} tall />,
    },
  ];
  return (
    <>
      <h2>
        {tool.name} {tool.version && <small>{tool.version}</small>}
      </h2>
      <p>{tool.description}</p>
      <p class="figures">
        {typeof tool.tier === "string" ? `tier ${tool.tier}` : tool.tier ? "tier by condition" : ""}{" "}
        {Object.entries(tool.annotations ?? {})
          .filter(([, on]) => on)
          .map(([name]) => (
            <span key={name} class="bound">
              {name}
            </span>
          ))}
      </p>
      <Tabs name={`tool ${tool.name}`} tabs={tabs} />
    </>
  );
}

/** What the lints say of it. */
function Findings({ tool }: { tool: Tool }) {
  const server = asServer(source.value);
  const found = useAwaited<LintFinding[]>(
    () => server?.lint(contractOf(tool)) ?? Promise.resolve([]),
    [tool],
  );
  if (!server) return <Empty>A server's page asks the lints; so does `callgate check`.</Empty>;
  return (
    <When what={found}>
      {(list) =>
        list.length === 0 ? (
          <Empty>Nothing to say.</Empty>
        ) : (
          <ul>
            {list.map((one) => (
              <li key={one.rule + one.pointer}>
                <b>{one.rule}</b> <code>{one.pointer}</code> {one.message} <em>{one.suggestion}</em>
              </li>
            ))}
          </ul>
        )
      }
    </When>
  );
}

/** Of what a list tells of a tool, what a contract file has. */
function contractOf(tool: Tool): Tool {
  const { name, version, description, input, output, annotations, tier } = tool;
  return {
    name,
    description,
    input,
    ...(version === undefined ? {} : { version }),
    ...(output === undefined ? {} : { output }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(tier === undefined ? {} : { tier }),
  };
}

function Schemas({ tool }: { tool: Tool }) {
  return (
    <>
      <h3>Input</h3>
      <SchemaTree schema={tool.input as Schema} />
      {tool.output !== undefined && (
        <>
          <h3>Output</h3>
          <SchemaTree schema={tool.output as Schema} />
        </>
      )}
    </>
  );
}

function TryCall({ tool }: { tool: Tool }) {
  const server = asServer(source.value);
  const [text, setText] = useState("{}");
  const [verdict, setVerdict] = useState<Verdict | undefined>(undefined);
  const [answer, setAnswer] = useState<string | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const run = async (work: () => Promise<void>): Promise<void> => {
    setError(undefined);
    setAnswer(undefined);
    try {
      await work();
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <>
      <SchemaForm schema={tool.input as Schema} text={text} onText={setText} />
      {server ? (
        <div class="bar">
          <button
            type="button"
            onClick={() => run(async () => setVerdict(await server.check({ tool: tool.name, text })))}
          >
            Ask the gates
          </button>
          <button
            type="button"
            class="good"
            onClick={() =>
              run(async () => {
                setVerdict(undefined);
                setAnswer(written(await server.call(tool.name, text)));
              })
            }
          >
            Call the tool
          </button>
        </div>
      ) : (
        <Empty>A server's page can ask the gates and call the tool.</Empty>
      )}
      {error !== undefined && <Failed error={error} />}
      {verdict?.fault && <FaultNotice fault={verdict.fault} />}
      {verdict?.admitted && (
        <p>
          <Chip state="admitted" />{" "}
          {verdict.adjustments && verdict.adjustments.length > 0
            ? `after ${count(verdict.adjustments.length, "adjustment")}`
            : ""}
        </p>
      )}
      {answer !== undefined && <JsonText text={answer} label="What came of the call" tall />}
    </>
  );
}
