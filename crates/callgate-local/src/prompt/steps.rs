//! The transcript as the prompts tell it: who asked, what was called at once, what came of it.

use std::borrow::Cow;

use callgate_wire::{AssistantPart, Message, ToolResult};

use super::results::{body, text, wants_correction};

/// What happened next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step<'a> {
    User(Cow<'a, str>),
    /// Calls made in one turn.
    Calls(Vec<Call<'a>>),
    /// What the assistant wrote; nothing where that does not matter.
    Answer(Option<Cow<'a, str>>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call<'a> {
    pub(super) name: &'a str,
    pub(super) arguments: &'a str,
    /// Nothing where the transcript has no result for it.
    pub(super) response: Cow<'a, str>,
    pub(super) outcome: Outcome,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Fine,
    /// Nothing was done, and the call may be made otherwise.
    Refused,
    Failed,
}

pub(super) fn steps<M: AsRef<Message>>(messages: &[M]) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        match message.as_ref() {
            Message::User { content } => steps.push(Step::User(text(content).into())),
            Message::Assistant { content } => {
                steps.push(assistant(content, &messages[index + 1..]));
            }
            // Told with its call.
            Message::Tool(_) => {}
        }
    }
    steps
}

fn assistant<'a, M: AsRef<Message>>(content: &'a [AssistantPart], later: &'a [M]) -> Step<'a> {
    let mut said = String::new();
    let mut calls = Vec::new();
    for part in content {
        match part {
            AssistantPart::Text { text } => said.push_str(text),
            AssistantPart::Call(call) => {
                let result = result_of(&call.id, later);
                calls.push(Call {
                    name: &call.name,
                    arguments: &call.arguments,
                    response: result.map_or(Cow::Borrowed(""), |result| body(result).into()),
                    outcome: result.map_or(Outcome::Fine, outcome),
                });
            }
            AssistantPart::Reasoning { .. } | AssistantPart::Opaque(_) => {}
        }
    }
    if calls.is_empty() { Step::Answer(Some(said.into())) } else { Step::Calls(calls) }
}

fn outcome(result: &ToolResult) -> Outcome {
    if wants_correction(result) {
        Outcome::Refused
    } else if result.is_error {
        Outcome::Failed
    } else {
        Outcome::Fine
    }
}

fn result_of<'a, M: AsRef<Message>>(id: &str, later: &'a [M]) -> Option<&'a ToolResult> {
    later.iter().find_map(|message| match message.as_ref() {
        Message::Tool(result) if &*result.call_id == id => Some(result),
        _ => None,
    })
}
