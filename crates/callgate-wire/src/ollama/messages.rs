//! The transcript.
//!
//! Images go with the user only; those of a result follow it as the user's. Older versions know no
//! call ids and match results by name and order, which the order here serves.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    Note,
    history::{Call, Said, Turn, images, joined, texts},
    json,
};

#[derive(Debug, Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub(super) enum Message<'a> {
    System {
        content: &'a str,
    },
    User {
        content: Cow<'a, str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        images: Vec<&'a str>,
    },
    Assistant {
        content: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        thinking: Option<Cow<'a, str>>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall<'a>>,
    },
    Tool {
        tool_name: &'a str,
        tool_call_id: &'a str,
        content: Cow<'a, str>,
    },
}

#[derive(Debug, Serialize)]
pub(super) struct ToolCall<'a> {
    id: &'a str,
    function: Function<'a>,
}

#[derive(Debug, Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: &'a RawValue,
}

pub(super) fn messages<'a>(
    system: &'a str,
    turns: &'a [Turn<'a>],
    notes: &mut Vec<Note>,
) -> Vec<Message<'a>> {
    let mut out = Vec::new();
    if !system.is_empty() {
        out.push(Message::System { content: system });
    }
    let mut moved = 0;
    for (n, turn) in turns.iter().enumerate() {
        // The first is what came before any reply.
        if n > 0 {
            out.push(assistant(turn));
        }
        for answer in &turn.answers {
            let pointer = answer.images().next().map(|_| "[See the images in the next message.]");
            out.push(Message::Tool {
                tool_name: &answer.name,
                tool_call_id: &answer.id,
                content: joined(answer.texts().chain(pointer), "\n"),
            });
        }
        for answer in &turn.answers {
            let images: Vec<_> = answer.images().map(|image| image.data).collect();
            if !images.is_empty() {
                moved += images.len();
                let content = format!("From the result of {} ({}):", answer.name, answer.id).into();
                out.push(Message::User { content, images });
            }
        }
        for parts in &turn.user {
            let images = images(parts).map(|image| image.data).collect();
            out.push(Message::User { content: joined(texts(parts), "\n"), images });
        }
    }
    if moved > 0 {
        notes.push(Note::ImagesMoved { count: moved });
    }
    out
}

fn assistant<'a>(turn: &'a Turn<'a>) -> Message<'a> {
    let texts = turn.said.iter().filter_map(|said| match said {
        Said::Text(text) => Some(*text),
        _ => None,
    });
    // In clear, so anyone's will do; templates drop what they have no use for.
    let thoughts = turn.said.iter().filter_map(|said| match said {
        Said::Reasoning { text, .. } if !text.is_empty() => Some(*text),
        _ => None,
    });
    let calls = turn.said.iter().filter_map(|said| match said {
        Said::Call(call) => Some(tool_call(call)),
        _ => None,
    });
    Message::Assistant {
        content: joined(texts, ""),
        thinking: thoughts.clone().next().is_some().then(|| joined(thoughts, "\n\n")),
        tool_calls: calls.collect(),
    }
}

fn tool_call<'a>(call: &'a Call<'a>) -> ToolCall<'a> {
    let empty = || json::from_str("{}").expect("an object");
    let arguments = call.object.unwrap_or_else(empty);
    ToolCall { id: &call.id, function: Function { name: &call.name, arguments } }
}
