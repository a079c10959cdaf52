//! `callgate mcp call SERVER TOOL JSON`: one call through every gate.

use callgate::{Project, backend::lock::McpSpec, contract::nearest};

use super::server;
use crate::{cli::McpCall, exit::Exit, failure::Failure, verbs::tools};

pub(super) fn go(call: &McpCall) -> Result<Exit, Failure> {
    tools::call::make(&call.arguments, &call.options, |project| named(project, call))
}

/// The contract in use for a server's tool: a local one where there is one, else the discovered.
fn named(project: &Project, call: &McpCall) -> Result<String, Failure> {
    let server = server(project, &call.server)?;
    if server.is_disabled() {
        let message = format!("the MCP server {:?} is disabled", call.server);
        return Err(Failure::configuration("server_disabled", message));
    }
    let mut of_server: Vec<(String, &str)> = Vec::new();
    for tool in project.catalog().tools() {
        if let Some(spec) = McpSpec::of(&tool.backend).filter(|spec| spec.server == call.server) {
            of_server.push((spec.tool, &tool.name));
        }
    }
    if let Some((_, name)) = of_server.iter().find(|(tool, _)| *tool == call.tool) {
        return Ok((*name).to_owned());
    }
    let known: Vec<&str> = of_server.iter().map(|(tool, _)| tool.as_str()).collect();
    let listed = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    let message = format!(
        "the MCP server {:?} has no accepted tool {:?}; accepted are: {listed}",
        call.server, call.tool
    );
    let failure = Failure::configuration("unknown_tool", message);
    Err(match nearest(&call.tool, &known) {
        Some(near) => failure.hint(format!("Did you mean {near:?}?")),
        None => failure.hint(format!(
            "See what it offers with `callgate mcp tools {}`, and accept it with `callgate lock --accept`.",
            call.server
        )),
    })
}
