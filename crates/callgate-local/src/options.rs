//! What a request lets the model do.

use std::sync::Arc;

use callgate_wire::{Request, ToolChoice, ToolDefinition};

/// What the model may do in a turn.
pub(crate) struct Options<'a> {
    /// Tools that it may call.
    pub(crate) tools: Vec<&'a ToolDefinition>,
    /// Whether it may write to the user instead.
    pub(crate) answer: bool,
}

pub(crate) fn options(request: &Request) -> Options<'_> {
    let named = |wanted: &[Arc<str>]| {
        request.tools.iter().filter(|tool| wanted.contains(&tool.name)).collect()
    };
    match &request.tool_choice {
        ToolChoice::Auto => Options { tools: request.tools.iter().collect(), answer: true },
        ToolChoice::Some => Options { tools: request.tools.iter().collect(), answer: false },
        ToolChoice::One(name) => {
            Options { tools: named(std::slice::from_ref(name)), answer: false }
        }
        ToolChoice::None => Options { tools: Vec::new(), answer: true },
        ToolChoice::Subset { names, required } => {
            Options { tools: named(names), answer: !required }
        }
    }
}
