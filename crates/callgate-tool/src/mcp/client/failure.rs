//! What the model is told when a call came to nothing.

use callgate_contract::{ErrorKind, Executed, Failure, nearest};

use crate::{
    call::misconfigured,
    http::status,
    mcp::{
        error::McpError,
        list::Listing,
        message::{Fault, RpcError},
    },
};

/// JSON-RPC 2.0, 5.1, and MCP: the request was refused before the tool ran.
fn refuses(code: i64) -> bool {
    matches!(code, -32700 | -32602..=-32600 | -32022..=-32020 | -32002)
}

/// A failure by its cause. `repeatable` calls may be made again when their fate is unknown.
pub(super) fn failure(error: &McpError, repeatable: bool) -> Failure {
    let message = error.to_string();
    match error {
        McpError::Misconfigured(_)
        | McpError::NotStarted { .. }
        | McpError::Version { .. }
        | McpError::Closed => misconfigured(message),
        McpError::NotReached(_) | McpError::Stale(_) => {
            Failure::new(ErrorKind::TransportLost, message)
                .executed(Executed::No)
                .retryable(true)
                .hint("The tool was not called. Try once more later, or tell the user.")
        }
        McpError::Lost { sent: false, .. } => Failure::new(ErrorKind::TransportLost, message)
            .executed(Executed::No)
            .retryable(true)
            .hint("The tool was not called. Try once more later, or tell the user."),
        McpError::Lost { .. } | McpError::SessionLost => {
            Failure::new(ErrorKind::TransportLost, message).retryable(repeatable)
        }
        McpError::Timeout { sent, .. } => {
            Failure::new(ErrorKind::Timeout, message).executed(unknown(*sent)).retryable(repeatable)
        }
        McpError::Cancelled { sent } => {
            Failure::new(ErrorKind::Cancelled, message).executed(unknown(*sent))
        }
        McpError::Protocol(fault) => broken(fault, message),
        McpError::Rpc(error) => refused(error, repeatable),
        McpError::Status { status, text, retry_after_ms } => {
            let answer = status::Answer {
                status: *status,
                reason: "",
                retry_after: None,
                location: None,
                is_html: false,
                body: text.as_deref().unwrap_or_default(),
            };
            let mut failure = status::failure(&answer, repeatable, 1);
            failure.retry_after_ms = retry_after_ms.or(failure.retry_after_ms);
            failure
        }
        McpError::Unauthorized { .. } => misconfigured(message).hint(
            "The user has to sign in to the tool's server. Tell them; calling again will not help.",
        ),
        McpError::TooManyRounds(_) => Failure::new(ErrorKind::ToolError, message)
            .executed(Executed::Unknown)
            .retryable(false)
            .hint("The tool's server never has enough. Go on without it or tell the user."),
    }
}

fn unknown(sent: bool) -> Executed {
    if sent { Executed::Unknown } else { Executed::No }
}

fn broken(fault: &Fault, message: String) -> Failure {
    match fault {
        Fault::TooLarge { .. } => Failure::new(ErrorKind::ToolError, message)
            .retryable(false)
            .hint("Ask for less: a narrower filter, a smaller page."),
        // An answer came, so the tool has run; nobody can read what it said.
        Fault::NotUtf8 { .. } | Fault::Result { .. } | Fault::NotJson { .. } => {
            Failure::new(ErrorKind::OutputMismatch, message)
                .retryable(false)
                .hint("The call did take effect: do not repeat it. The fault lies with the tool's server.")
        }
        _ => Failure::new(ErrorKind::OutputMismatch, message)
            .executed(Executed::Unknown)
            .retryable(false)
            .hint("Nobody can tell whether the call took effect. The fault lies with the tool's server."),
    }
}

fn refused(error: &RpcError, repeatable: bool) -> Failure {
    let failure = Failure::new(ErrorKind::ToolError, error.message.clone());
    if refuses(error.code) {
        failure
            .executed(Executed::No)
            .retryable(false)
            .hint("The tool's server refused the call; nothing was done. Correct what it complains about.")
    } else {
        failure.executed(Executed::Unknown).retryable(repeatable)
    }
}

/// A pinned tool that its server no longer lists.
pub(super) fn vanished(tool: &str, listing: &Listing) -> Failure {
    let quarantined = listing.faults.iter().find(|fault| fault.tool.as_deref() == Some(tool));
    let message = match quarantined {
        Some(fault) => {
            format!("the server now defines {tool} in a way that cannot be used: {}", fault.reason)
        }
        None => {
            let names: Vec<&str> = listing.tools.iter().map(|tool| &*tool.name).collect();
            match nearest(tool, &names) {
                Some(near) => {
                    format!("the server no longer has a tool {tool}; it has one named {near}")
                }
                None => format!("the server no longer has a tool {tool}"),
            }
        }
    };
    Failure::new(ErrorKind::DefinitionChanged, message)
        .executed(Executed::No)
        .retryable(false)
        .hint("The tool is blocked until the user accepts its new definition. Go on without it or tell the user.")
}
