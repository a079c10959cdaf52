//! The transcript as small models follow it best: one call a turn, each with its result.
//!
//! Calls that were made at once are told one after the other. Small models that see several calls in
//! a turn do not find its end; those that see one after the other know when nothing is left to ask.

use std::borrow::Cow;

use callgate_wire::{AssistantPart, Message};

use super::results::{body, text};

/// Stands for a result that is still to come.
pub(super) const PENDING: &str = r#"{"status": "accepted, the result follows"}"#;

/// What happened next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step<'a> {
    User(Cow<'a, str>),
    Call {
        name: &'a str,
        arguments: &'a str,
        response: Cow<'a, str>,
    },
    /// What the assistant wrote; nothing where that does not matter.
    Answer(Option<Cow<'a, str>>),
}

pub(super) fn steps<M: AsRef<Message>>(messages: &[M]) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        match message.as_ref() {
            Message::User { content } => steps.push(Step::User(text(content).into())),
            Message::Assistant { content } => {
                assistant(content, &messages[index + 1..], &mut steps)
            }
            // Told with its call.
            Message::Tool(_) => {}
        }
    }
    steps
}

fn assistant<'a, M: AsRef<Message>>(
    content: &'a [AssistantPart],
    later: &'a [M],
    steps: &mut Vec<Step<'a>>,
) {
    let mut said = String::new();
    let before = steps.len();
    for part in content {
        match part {
            AssistantPart::Text { text } => said.push_str(text),
            AssistantPart::Call(call) => steps.push(Step::Call {
                name: &call.name,
                arguments: &call.arguments,
                response: result_of(&call.id, later),
            }),
            AssistantPart::Reasoning { .. } | AssistantPart::Opaque(_) => {}
        }
    }
    if steps.len() == before {
        steps.push(Step::Answer(Some(said.into())));
    }
}

fn result_of<'a, M: AsRef<Message>>(id: &str, later: &[M]) -> Cow<'a, str> {
    let result = later.iter().find_map(|message| match message.as_ref() {
        Message::Tool(result) if &*result.call_id == id => Some(result),
        _ => None,
    });
    result.map_or(Cow::Borrowed(PENDING), |result| Cow::Owned(body(result)))
}
