//! Callgate in the MCP benchmark.
//!
//! - `callgate-mcp client CALLS IN_FLIGHT WARM PROGRAM ARGUMENTS…`: the MCP client with the gates
//!   around it. Arguments are judged as text, the call goes to the pinned tool, the result is judged
//!   by the tool's output schema. What an agent's loop does about a call, without the loop.
//! - `callgate-mcp call …`: the same as whole calls ([`callgate::Project::call`]): a run around each,
//!   with its events and the envelope that a model would read.
//! - `callgate-mcp serve`: the same two tools as every server of the benchmark, over stdio.
//!
//! `--legacy` before the numbers has the client speak 2025-11-25 instead of asking for 2026-07-28.

use std::{path::Path, sync::Arc, time::Instant};

use callgate::{
    Project, Toolset,
    backend::{Backend, Function, Invocation, mcp::State},
    contract::{Mode, Tool, Verdict, gate, result},
};
use callgate_bench_mcp_driver::{ARGUMENTS, ASSIGNEE, Caller, Failed, Job, Usage, measure};
use callgate_server::mcp::{McpOptions, McpServer, standard_streams};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// The tools as a project with the server `tickets` has them.
const TICKET: &str = "tickets__get_ticket";
const USAGE: &str = "tickets__usage";

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let mut words = std::env::args().skip(1).peekable();
    let role = words.next().unwrap_or_default();
    match role.as_str() {
        "serve" => return serve().await,
        "client" | "call" => {}
        other => return Err(format!("{other:?} is none of client, call, serve").into()),
    }
    let is_legacy = words.next_if_eq("--legacy").is_some();
    let job = Job::read(words)?;
    let started = Instant::now();
    let folder = tempfile::tempdir()?;
    let project = project(&job, folder.path(), is_legacy).await?;
    let protocol = protocol(&project)?;
    let tools = project.toolset();
    if role == "call" {
        measure(&job, Arc::new(Whole { tools, project }), started, &protocol).await
    } else {
        let ticket = Gated::of(&project, TICKET)?;
        let usage = Gated::of(&project, USAGE)?;
        measure(&job, Arc::new(Gates { ticket, usage, _project: project }), started, &protocol)
            .await
    }
}

/// A project with one server, its tools pinned as `callgate lock` pins them.
async fn project(job: &Job, folder: &Path, is_legacy: bool) -> Result<Project, Failed> {
    let mut server = json!({ "command": job.program, "args": job.arguments });
    if is_legacy {
        server["era"] = "legacy".into();
    }
    let agent = json!({ "name": "bench", "mcpServers": { "tickets": server } });
    std::fs::write(folder.join("agent.json"), agent.to_string())?;
    let (project, told) = Project::open(folder)?.pin().await?;
    for server in told {
        if let Some(error) = server.error {
            return Err(format!("{}: {error}", server.server).into());
        }
    }
    Ok(project)
}

fn protocol(project: &Project) -> Result<String, Failed> {
    let server = project.server("tickets").ok_or("the project lost its server")?;
    match server.client().health().state {
        State::Ready(server) => Ok(server.protocol_version),
        other => Err(format!("the server is not ready: {other:?}").into()),
    }
}

/// A pinned tool and who does its work.
struct Gated {
    tool: Tool,
    backend: Arc<dyn Backend>,
}

impl Gated {
    fn of(project: &Project, name: &str) -> Result<Self, Failed> {
        let tool = project.catalog().get(name).ok_or_else(|| format!("there is no {name}"))?;
        let backend = project.backend(name).ok_or_else(|| format!("nobody does {name}"))?;
        Ok(Self { tool: Tool::clone(tool), backend: backend.clone() })
    }

    /// Through the gate in, to the server, and through the gate out.
    async fn call<T: DeserializeOwned>(&self, text: &str) -> Result<T, Failed> {
        let tool = &self.tool;
        let arguments = match gate::judge(&tool.input, &tool.aliases, Mode::Strict, text) {
            Verdict::Admitted { arguments, .. } => arguments,
            Verdict::Refused(fault) => return Err(format!("refused: {fault:?}").into()),
        };
        let invocation = Invocation {
            run: "run_1".into(),
            call: "call_1".into(),
            tool: tool.name.clone(),
            arguments,
            idempotency_key: "run_1/call_1".into(),
            attempt: 1,
            timeout: tool.timeout,
            cancel: CancellationToken::new(),
            trace: None,
        };
        let invoked = self.backend.invoke(invocation).await;
        let passed = result::pass(tool, Mode::Strict, &invoked.result)
            .map_err(|fault| format!("failed: {fault:?}"))?;
        Ok(serde_json::from_str(passed.result.get())?)
    }
}

/// A ticket, as far as it is looked at.
#[derive(Deserialize)]
struct Assigned {
    assignee: String,
}

/// The gates by themselves.
struct Gates {
    ticket: Gated,
    usage: Gated,
    /// Holds the connection.
    _project: Project,
}

impl Caller for Gates {
    async fn ticket(&self) -> Result<bool, Failed> {
        Ok(self.ticket.call::<Assigned>(ARGUMENTS).await?.assignee == ASSIGNEE)
    }

    async fn usage(&self) -> Result<Usage, Failed> {
        self.usage.call("{}").await
    }
}

/// Whole calls.
struct Whole {
    tools: Toolset,
    project: Project,
}

impl Whole {
    async fn call<T: DeserializeOwned>(&self, tool: &str, text: &str) -> Result<T, Failed> {
        let called = self.tools.call(tool, text).make().await?;
        match called.envelope.result {
            Some(result) if called.envelope.ok => Ok(serde_json::from_str(result.get())?),
            _ => Err(format!("{}: {}", self.project.dir().display(), called.text).into()),
        }
    }
}

impl Caller for Whole {
    async fn ticket(&self) -> Result<bool, Failed> {
        let ticket: Assigned = self.call(TICKET, ARGUMENTS).await?;
        Ok(ticket.assignee == ASSIGNEE)
    }

    async fn usage(&self) -> Result<Usage, Failed> {
        self.call(USAGE, "{}").await
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asked {
    ticket_id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Ticket {
    ticket_id: String,
    status: &'static str,
    assignee: &'static str,
}

#[derive(Deserialize)]
struct Nothing {}

/// Two tools behind their gates, until the client goes away.
async fn serve() -> Result<(), Failed> {
    let contracts = json!({ "tools": [
        { "name": "get_ticket", "description": "Looks a support ticket up by its id.",
            "input": { "type": "object", "required": ["ticketId", "priority"],
                "additionalProperties": false, "properties": {
                "ticketId": { "type": "string", "pattern": "^TCK-[0-9]+$",
                    "description": "The ticket's id, such as TCK-10423" },
                "priority": { "enum": ["low", "normal", "high", "urgent"],
                    "description": "Only if it has this priority" },
                "includeComments": { "type": "boolean", "default": false,
                    "description": "Whether its comments are wanted too" },
                "limit": { "type": "integer", "minimum": 1, "maximum": 100, "default": 10,
                    "description": "How many of them" },
                "tags": { "type": "array", "items": { "type": "string" }, "maxItems": 8,
                    "default": [], "description": "Only if it has all of these" } } },
            "output": { "type": "object", "required": ["ticketId", "status", "assignee"],
                "properties": { "ticketId": { "type": "string" }, "status": { "type": "string" },
                    "assignee": { "type": "string" } } } },
        { "name": "usage", "description": "What this process has used so far.",
            "input": { "type": "object", "additionalProperties": false, "properties": {} },
            "output": { "type": "object", "required": ["cpuUs", "peakKib"],
                "properties": { "cpuUs": { "type": "integer" }, "peakKib": { "type": "integer" } } } },
    ] });
    let mut catalog = callgate::contract::Catalog::default();
    for contract in contracts["tools"].as_array().into_iter().flatten() {
        let text = contract.to_string();
        let loaded = callgate::contract::Catalog::load([("callgate-mcp", text.as_str())])
            .map_err(|mistakes| format!("{mistakes:?}"))?;
        for tool in loaded.tools() {
            catalog.insert(Tool::clone(tool));
        }
    }
    let ticket = Function::typed(async |asked: Asked| {
        Ok::<_, callgate::ToolError>(Ticket {
            ticket_id: asked.ticket_id,
            status: "open",
            assignee: ASSIGNEE,
        })
    });
    let usage = Function::typed(async |_: Nothing| {
        Usage::now().map_err(|error| callgate::ToolError::new(error.to_string()))
    });
    let backends: [(Arc<str>, Arc<dyn Backend>); 2] =
        [("get_ticket".into(), Arc::new(ticket)), ("usage".into(), Arc::new(usage))];
    let tools = Toolset::new(catalog, backends);
    let server = McpServer::new(tools, McpOptions::default())?;
    let (input, output) = standard_streams();
    server.serve_stdio(input, output, CancellationToken::new()).await?;
    Ok(())
}
