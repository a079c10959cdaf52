//! The transcript as items.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

use super::item::Heading;
use crate::{
    Part,
    history::{Answer, Image, Said, Turn},
    json,
};

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Item<'a> {
    /// As it came.
    Verbatim(&'a RawValue),
    Message(Message<'a>),
    Typed(Typed<'a>),
}

#[derive(Debug, Serialize)]
pub(super) struct Message<'a> {
    role: &'static str,
    content: Content<'a>,
    /// Commentary or final answer, as the model marked it.
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<&'a RawValue>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Typed<'a> {
    FunctionCall {
        call_id: &'a str,
        name: &'a str,
        arguments: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        namespace: Option<&'a RawValue>,
    },
    FunctionCallOutput {
        call_id: &'a str,
        output: Content<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        caller: Option<&'a RawValue>,
    },
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Piece<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Piece<'a> {
    InputText { text: &'a str },
    InputImage { image_url: String, detail: &'static str },
}

impl From<Image<'_>> for Piece<'_> {
    fn from(image: Image<'_>) -> Self {
        Self::InputImage { image_url: image.url(), detail: "auto" }
    }
}

impl<'a> From<&'a Part> for Piece<'a> {
    fn from(part: &'a Part) -> Self {
        match part {
            Part::Text { text } => Self::InputText { text },
            Part::Image { media_type, data } => Image { media_type, data }.into(),
        }
    }
}

pub(super) fn items<'a>(turns: &'a [Turn<'a>]) -> Vec<Item<'a>> {
    let mut items = Vec::new();
    for turn in turns {
        let mut heading = Heading::default();
        let mut callers = Vec::new();
        for said in &turn.said {
            match said {
                Said::Reasoning { own: Some(own), .. } => verbatim(&mut items, own),
                // Reasoning of another model, or none that may be shown again.
                Said::Reasoning { own: None, .. } => {}
                Said::Own(own) => match Heading::of(own) {
                    Some(own) => heading = own,
                    None => verbatim(&mut items, own),
                },
                Said::Text("") => {}
                Said::Text(text) => items.push(Item::Message(Message {
                    role: "assistant",
                    content: Content::Text(Cow::Borrowed(text)),
                    phase: std::mem::take(&mut heading).phase,
                })),
                Said::Call(call) => {
                    let own = call.own.and_then(Heading::of_call).unwrap_or_default();
                    callers.push((&*call.id, own.caller));
                    items.push(Item::Typed(Typed::FunctionCall {
                        call_id: &call.id,
                        name: &call.name,
                        arguments: call.text(),
                        namespace: own.namespace,
                    }));
                }
            }
        }
        for answer in &turn.answers {
            let caller = callers.iter().find(|(id, _)| *id == &*answer.id);
            let caller = caller.and_then(|(_, caller)| *caller);
            let output = output(answer);
            let call_id = &answer.id;
            items.push(Item::Typed(Typed::FunctionCallOutput { call_id, output, caller }));
        }
        for parts in turn.user.iter().filter(|parts| !parts.is_empty()) {
            let content = Content::Parts(parts.iter().map(Piece::from).collect());
            items.push(Item::Message(Message { role: "user", content, phase: None }));
        }
    }
    items
}

fn verbatim<'a>(items: &mut Vec<Item<'a>>, json: &'a str) {
    if let Ok(raw) = json::from_str(json) {
        items.push(Item::Verbatim(raw));
    }
}

/// There is no mark for an error; the text says it.
fn output<'a>(answer: &Answer<'a>) -> Content<'a> {
    if answer.images().next().is_none() {
        return Content::Text(answer.text());
    }
    let texts = answer.texts().map(|text| Piece::InputText { text });
    Content::Parts(texts.chain(answer.images().map(Piece::from)).collect())
}
