//! `callgate mcp`: the project's MCP servers, without a model.

mod call;
mod list;
mod login;
mod ping;
mod tools;

use callgate::{
    Project, ProjectServer,
    backend::mcp::{Health, McpError, State},
    contract::nearest,
};

use crate::{cli::McpVerb, exit::Exit, failure::Failure, show::words};

pub(super) fn go(what: &McpVerb) -> Result<Exit, Failure> {
    match what {
        McpVerb::List { project, json } => list::go(project, *json),
        McpVerb::Tools { server, project, json } => tools::go(server, project, *json),
        McpVerb::Call(call) => call::go(call),
        McpVerb::Login(login) => login::go(login),
        McpVerb::Logout { server, project, json } => login::out(server, project, *json),
        McpVerb::Ping { server, project, json } => ping::go(server, project, *json),
    }
}

/// The server of that name.
pub(super) fn server<'p>(project: &'p Project, name: &str) -> Result<&'p ProjectServer, Failure> {
    if let Some(server) = project.server(name) {
        return Ok(server);
    }
    let names: Vec<&str> = project.servers().iter().map(|server| &**server.name()).collect();
    let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let message = format!("there is no MCP server {name:?}; there are: {known}");
    let failure = Failure::configuration("unknown_server", message);
    Err(match nearest(name, &names) {
        Some(near) => failure.hint(format!("Did you mean {near:?}?")),
        None if names.is_empty() => {
            failure.hint("Servers stand under mcpServers in agent.json, or in .mcp.json beside it.")
        }
        None => failure,
    })
}

/// A server that could not be asked.
pub(super) fn unreachable(server: &ProjectServer, error: &McpError) -> Failure {
    let message = words::clean(&format!("the MCP server \"{}\": {error}", server.name()));
    let failure = Failure::new(Exit::Call, "server_failed", message);
    match server.client().health().state {
        State::Failed { stderr: Some(stderr), .. } if !stderr.trim().is_empty() => {
            failure.hint(format!("It wrote: {}", words::short(&stderr, 400)))
        }
        _ => failure,
    }
}

/// `ready`, with what it speaks and who it says it is.
fn state(server: &ProjectServer, health: &Health) -> String {
    if server.is_disabled() {
        return "disabled".to_owned();
    }
    match &health.state {
        State::NotStarted => "not started".to_owned(),
        State::Connecting => "connecting".to_owned(),
        State::Failed { why, .. } => format!("failed: {}", words::short(why, 200)),
        State::Ready(told) => {
            let named = [told.name.as_deref(), told.version.as_deref()];
            let named: Vec<String> =
                named.into_iter().flatten().map(|n| words::short(n, 40)).collect();
            let version = words::short(&told.protocol_version, 20);
            [format!("ready ({version})"), named.join(" ")].join(" ").trim_end().to_owned()
        }
    }
}
