//! The transcript as blocks.
//!
//! All results of a reply are in one user message, first, whatever came between them; the user's
//! own words follow in the same message. Blank texts are refused, so they are not sent; images
//! beside an error are refused, so the result says that one was there.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

use super::encode::{MARK, Mark};
use crate::{
    Note, Part,
    history::{Answer, Call, Image, Said, Turn, joined, note_reasoning},
    json,
};

#[derive(Debug, Serialize)]
pub(super) struct Message<'a> {
    role: &'static str,
    content: Vec<Marked<'a>>,
}

/// A block, perhaps the last of a prefix to keep.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Marked<'a> {
    /// As it came.
    Verbatim(&'a RawValue),
    Own {
        #[serde(flatten)]
        block: Block<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Mark>,
    },
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        text: Cow<'a, str>,
    },
    Image {
        source: Source<'a>,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: Input<'a>,
    },
    ToolResult {
        tool_use_id: &'a str,
        content: Content<'a>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Source<'a> {
    Base64 { media_type: &'a str, data: &'a str },
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(Cow<'a, str>),
    Blocks(Vec<Block<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Input<'a> {
    Object(&'a RawValue),
    /// What Anthropic documents for arguments that are no JSON.
    Invalid {
        #[serde(rename = "INVALID_JSON")]
        text: &'a str,
    },
}

impl<'a> From<Block<'a>> for Marked<'a> {
    fn from(block: Block<'a>) -> Self {
        Self::Own { block, cache_control: None }
    }
}

impl<'a> From<Image<'a>> for Block<'a> {
    fn from(image: Image<'a>) -> Self {
        let Image { media_type, data } = image;
        Self::Image { source: Source::Base64 { media_type, data } }
    }
}

pub(super) fn messages<'a>(turns: &'a [Turn<'a>], notes: &mut Vec<Note>) -> Vec<Message<'a>> {
    let mut out = Messages::default();
    let mut left_out = 0;
    for turn in turns {
        for said in &turn.said {
            match said {
                Said::Text(text) => out.text("assistant", text),
                Said::Reasoning { own: Some(own), .. } | Said::Own(own) => {
                    if let Ok(block) = json::from_str(own) {
                        out.push("assistant", Marked::Verbatim(block));
                    }
                }
                // Without its signature it is no thinking of this model's.
                Said::Reasoning { own: None, .. } => {}
                Said::Call(call) => out.push("assistant", tool_use(call).into()),
            }
        }
        for answer in &turn.answers {
            left_out += if answer.is_error() { answer.images().count() } else { 0 };
            out.push("user", tool_result(answer).into());
        }
        for parts in &turn.user {
            for part in *parts {
                match part {
                    Part::Text { text } => out.text("user", text),
                    Part::Image { media_type, data } => {
                        out.push("user", Block::from(Image { media_type, data }).into());
                    }
                }
            }
        }
    }
    if left_out > 0 {
        notes.push(Note::ImagesLeftOut { count: left_out });
    }
    note_reasoning(turns, notes);
    out.finish(notes)
}

#[derive(Default)]
struct Messages<'a>(Vec<Message<'a>>);

impl<'a> Messages<'a> {
    /// Blocks of one role in a row are one message.
    fn push(&mut self, role: &'static str, block: Marked<'a>) {
        match self.0.last_mut() {
            Some(last) if last.role == role => last.content.push(block),
            _ => self.0.push(Message { role, content: vec![block] }),
        }
    }

    fn text(&mut self, role: &'static str, text: &'a str) {
        if !text.trim().is_empty() {
            self.push(role, Block::Text { text: text.into() }.into());
        }
    }

    fn finish(mut self, notes: &mut Vec<Note>) -> Vec<Message<'a>> {
        self.trim();
        if self.0.first().is_none_or(|first| first.role != "user") {
            notes.push(Note::OpeningAdded);
            let content = vec![Block::Text { text: "(The conversation goes on.)".into() }.into()];
            self.0.insert(0, Message { role: "user", content });
        }
        self.0
    }

    /// White space at the end of a transcript that ends with the assistant's words is refused.
    fn trim(&mut self) {
        let last = self.0.last_mut().filter(|last| last.role == "assistant");
        if let Some(Marked::Own { block: Block::Text { text }, .. }) =
            last.and_then(|last| last.content.last_mut())
        {
            *text = match text {
                Cow::Borrowed(text) => Cow::Borrowed(text.trim_end()),
                Cow::Owned(text) => Cow::Owned(text.trim_end().to_owned()),
            };
        }
    }
}

fn tool_use<'a>(call: &'a Call<'a>) -> Block<'a> {
    let input = match call.object {
        Some(object) => Input::Object(object),
        None => Input::Invalid { text: call.arguments },
    };
    Block::ToolUse { id: &call.id, name: &call.name, input }
}

fn tool_result<'a>(answer: &'a Answer<'a>) -> Block<'a> {
    let images = answer.images().count();
    let content = if images == 0 {
        Content::Text(answer.text())
    } else if answer.is_error() {
        let note = "[An image of this result is left out.]";
        Content::Text(joined(answer.texts().chain([note]), "\n").into_owned().into())
    } else {
        let texts = answer.texts().filter(|text| !text.trim().is_empty());
        let texts = texts.map(|text| Block::Text { text: text.into() });
        Content::Blocks(texts.chain(answer.images().map(Block::from)).collect())
    };
    Block::ToolResult { tool_use_id: &answer.id, content, is_error: answer.is_error() }
}

/// Marks the end of the transcript.
pub(super) fn mark(messages: &mut [Message<'_>]) {
    let blocks = messages.iter_mut().rev().flat_map(|message| message.content.iter_mut().rev());
    for block in blocks {
        // Not on thinking, and not on what has to stay as it came.
        if let Marked::Own { cache_control, .. } = block {
            *cache_control = Some(MARK);
            return;
        }
    }
}
