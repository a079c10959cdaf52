//! `callgate.lock`: written and read again, broken, drifted.
#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic as its body may")]

mod cards;
mod drift;
mod file;
mod kind;
mod real;

use std::time::Instant;

use callgate_tool::mcp::{Listing, RawTool};
use serde_json::{Value, json};

/// A list as a server tells it.
pub(crate) fn listing(tools: &[Value]) -> Listing {
    let tools = tools
        .iter()
        .map(|tool| RawTool {
            name: tool["name"].as_str().unwrap_or_default().into(),
            definition: tool.to_string().into(),
        })
        .collect();
    Listing { tools, faults: Vec::new(), revision: 1, ttl: None, read: Instant::now() }
}

/// A tool with these members beside a name and a schema.
pub(crate) fn tool(name: &str, more: &Value) -> Value {
    let mut tool = json!({
        "name": name,
        "description": format!("Does {name}."),
        "inputSchema": {"type": "object", "properties": {"to": {"type": "string", "maxLength": 10}},
                        "required": ["to"], "additionalProperties": false}
    });
    for (member, value) in more.as_object().unwrap() {
        tool[member] = value.clone();
    }
    tool
}
