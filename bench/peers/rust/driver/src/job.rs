//! The job: a support agent looks tickets up, and answers. The same words in every peer.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use serde_json::{Value, json};

/// What the user asks.
pub const PROMPT: &str = "What is the state of ticket TCK-10400?";
/// System instructions.
pub const INSTRUCTIONS: &str =
    "You are a support agent. Use the tools, then answer in one sentence.";
/// The tool that the provider calls.
pub const TOOL: &str = "get_ticket";
/// Its description.
pub const TOOL_ABOUT: &str = "Look a support ticket up by its id";

static CALLS: AtomicUsize = AtomicUsize::new(0);
static REJECTIONS: AtomicUsize = AtomicUsize::new(0);

/// The schema of the tool's arguments.
pub fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "ticketId": {
                "type": "string",
                "pattern": "^TCK-[0-9]{4,8}$",
                "description": "id of the ticket"
            },
            "priority": { "type": "string", "enum": ["low", "normal", "high", "urgent"] },
            "includeComments": { "type": "boolean" },
            "limit": { "type": "integer", "minimum": 1, "maximum": 100 },
            "tags": { "type": "array", "items": { "type": "string" }, "maxItems": 10 }
        },
        "required": ["ticketId", "priority"],
        "additionalProperties": false
    })
}

/// Names of tools that are offered and never called.
pub fn other_tools(count: usize) -> impl Iterator<Item = String> {
    (1..count).map(|n| format!("get_ticket_{n}"))
}

/// The tool ran.
pub fn called() {
    CALLS.fetch_add(1, Relaxed);
}

/// Arguments were not valid.
pub fn rejected() {
    REJECTIONS.fetch_add(1, Relaxed);
}

/// The tool's work, as JSON text.
pub fn ticket(id: &str) -> String {
    called();
    format!(r#"{{"ticketId":"{id}","status":"open","assignee":"dana"}}"#)
}

pub(crate) fn calls() -> usize {
    CALLS.load(Relaxed)
}

pub(crate) fn rejections() -> usize {
    REJECTIONS.load(Relaxed)
}

/// What came before does not count.
pub(crate) fn forget() {
    CALLS.store(0, Relaxed);
    REJECTIONS.store(0, Relaxed);
}
