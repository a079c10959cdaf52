//! Which message asks for which scenario (a2aproject/a2a-tck, branch 1.0-dev, `scenarios/`).

use callgate_server::a2a::{Offer, Route, Routing};
use callgate_tool::a2a::wire::{Message, Part, WireError};
use serde_json::json;

/// The beginning of a message's id, the tool, what it is called with.
const SCENARIOS: &[(&str, &str, &str)] = &[
    ("tck-artifact-text", "say", "Generated text content"),
    ("tck-artifact-file-url", "link", ""),
    ("tck-artifact-file", "file", ""),
    ("tck-artifact-data", "data", ""),
    ("tck-input-required", "ask", ""),
    ("tck-reject-task", "never", ""),
    ("tck-stream-001", "say", "Stream hello from TCK"),
    ("tck-stream-003", "say", "Stream task lifecycle"),
    ("tck-stream-ordering-001", "say", "Ordered output"),
    ("tck-stream-artifact-text", "say", "Streamed text content"),
    ("tck-stream-artifact-file", "file", ""),
    ("tck-stream-artifact-chunked", "say", "chunk-1 chunk-2"),
    ("test-resubscribe-message-id", "wait", ""),
];

/// What ends a task that asked.
const DONE: &str = "tck-complete-task";

/// Messages by their ids.
#[derive(Debug, Clone, Copy)]
pub(super) struct ByMessageId;

impl Routing for ByMessageId {
    fn route(&self, message: &Message, _: Offer<'_>) -> Result<Route, WireError> {
        if message.id.starts_with("tck-message-response") {
            return Ok(Route::Reply(vec![Part::text("Direct message response")]));
        }
        let found = SCENARIOS.iter().find(|(begins, ..)| message.id.starts_with(begins));
        let (name, words) =
            found.map_or(("say", "Hello from TCK"), |(_, name, words)| (name, words));
        let arguments = if words.is_empty() { json!({}) } else { json!({ "text": words }) };
        Ok(Route::Skill { name: name.to_owned(), arguments: arguments.to_string() })
    }

    fn answer(&self, message: &Message) -> String {
        let words = message.words();
        if message.id.starts_with(DONE) {
            return json!({ "answer": words }).to_string();
        }
        // Words, which are no arguments: the task asks again.
        words
    }
}
