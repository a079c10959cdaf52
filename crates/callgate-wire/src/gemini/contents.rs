//! The transcript.
//!
//! Results are in the content right after their calls, as many, in the same order, and with nothing
//! beside them; the user's words are a content of their own. A result's text goes in as a string:
//! as an object its numbers would become doubles on Google's side (law 7).

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

use super::{model, parts::Kept};
use crate::{
    Note, Part,
    history::{Answer, Call, Image, Said, Turn},
    json,
};

/// What Google documents for calls that a Gemini model did not make.
const NO_SIGNATURE: &str = "\"skip_thought_signature_validator\"";

#[derive(Debug, Serialize)]
pub(super) struct Content<'a> {
    role: &'static str,
    parts: Vec<Piece<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Piece<'a> {
    /// As it came.
    Verbatim(&'a RawValue),
    #[serde(rename_all = "camelCase")]
    Text {
        text: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        thought_signature: Option<&'a RawValue>,
    },
    #[serde(rename_all = "camelCase")]
    Image { inline_data: Inline<'a> },
    #[serde(rename_all = "camelCase")]
    Call {
        function_call: FunctionCall<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        thought_signature: Option<&'a RawValue>,
    },
    #[serde(rename_all = "camelCase")]
    Response { function_response: FunctionResponse<'a> },
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Inline<'a> {
    mime_type: &'a str,
    data: &'a str,
}

#[derive(Debug, Serialize)]
pub(super) struct FunctionCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RawValue>,
    name: &'a str,
    args: &'a RawValue,
}

#[derive(Debug, Serialize)]
pub(super) struct FunctionResponse<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RawValue>,
    name: &'a str,
    response: Response<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<Piece<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
enum Response<'a> {
    Output(Cow<'a, str>),
    Error(Cow<'a, str>),
}

impl<'a> Piece<'a> {
    pub(super) fn text(text: Cow<'a, str>) -> Self {
        Self::Text { text, thought_signature: None }
    }
}

impl<'a> From<Image<'a>> for Piece<'a> {
    fn from(image: Image<'a>) -> Self {
        let Image { media_type, data } = image;
        Self::Image { inline_data: Inline { mime_type: media_type, data } }
    }
}

pub(super) fn contents<'a>(
    turns: &'a [Turn<'a>],
    model: &str,
    notes: &mut Vec<Note>,
) -> Vec<Content<'a>> {
    let third = model::is_third(model);
    // The current turn is what follows the user's last words: there, signatures are demanded.
    let current = turns.iter().rposition(|turn| !turn.user.is_empty()).map_or(0, |at| at + 1);
    let mut out: Vec<Content<'a>> = Vec::new();
    let mut moved = 0;
    for (at, turn) in turns.iter().enumerate() {
        let (parts, ids) = said(turn, third && at >= current);
        push(&mut out, "model", parts);
        let responses = turn.answers.iter().zip(ids);
        let responses = responses.map(|(answer, id)| response(answer, id, third)).collect();
        push_apart(&mut out, "user", responses);
        if !third {
            let images: Vec<_> = turn.answers.iter().flat_map(images_of_result).collect();
            moved += images.iter().filter(|piece| matches!(piece, Piece::Image { .. })).count();
            push_apart(&mut out, "user", images);
        }
        let words = turn.user.iter().copied().flatten().filter_map(user_part).collect();
        push_apart(&mut out, "user", words);
    }
    if moved > 0 {
        notes.push(Note::ImagesMoved { count: moved });
    }
    if out.first().is_none_or(|first| first.role != "user") {
        notes.push(Note::OpeningAdded);
        let parts = vec![Piece::text("(The conversation goes on.)".into())];
        out.insert(0, Content { role: "user", parts });
    }
    out
}

/// A content without parts is refused.
fn push_apart<'a>(out: &mut Vec<Content<'a>>, role: &'static str, parts: Vec<Piece<'a>>) {
    if !parts.is_empty() {
        out.push(Content { role, parts });
    }
}

/// Contents of the model in a row are one.
fn push<'a>(out: &mut Vec<Content<'a>>, role: &'static str, parts: Vec<Piece<'a>>) {
    match out.last_mut() {
        Some(last) if last.role == role => last.parts.extend(parts),
        _ => push_apart(out, role, parts),
    }
}

/// What the model said, and the ids that it gave its calls.
fn said<'a>(turn: &'a Turn<'a>, demanded: bool) -> (Vec<Piece<'a>>, Vec<Option<&'a RawValue>>) {
    let mut parts = Vec::new();
    let mut ids = Vec::new();
    for said in &turn.said {
        match said {
            Said::Text("") => {}
            Said::Text(text) => parts.push(Piece::text(Cow::Borrowed(text))),
            // Thoughts go back only where they are signed.
            Said::Reasoning { own: None, .. } => {}
            Said::Reasoning { own: Some(own), .. } | Said::Own(own) => match Kept::of(own) {
                Some(Kept { text_signature: Some(signature), .. }) => sign(&mut parts, signature),
                _ => parts.extend(json::from_str(own).ok().map(Piece::Verbatim)),
            },
            Said::Call(call) => {
                let first = ids.is_empty();
                let kept = call.own.and_then(Kept::of);
                ids.push(kept.as_ref().and_then(|kept| kept.id));
                parts.push(function_call(call, kept, demanded && first));
            }
        }
    }
    (parts, ids)
}

/// The signature of the text before.
fn sign<'a>(parts: &mut Vec<Piece<'a>>, signature: &'a RawValue) {
    match parts.last_mut() {
        Some(Piece::Text { thought_signature: own @ None, .. }) => *own = Some(signature),
        _ => parts.push(Piece::Text { text: "".into(), thought_signature: Some(signature) }),
    }
}

fn function_call<'a>(call: &'a Call<'a>, kept: Option<Kept<'a>>, demanded: bool) -> Piece<'a> {
    let empty = || json::from_str("{}").expect("an object");
    let args = call.object.unwrap_or_else(empty);
    let stand_in = || json::from_str(NO_SIGNATURE).ok().filter(|_| demanded);
    let (id, thought_signature) = match kept {
        // As it came, even unsigned: siblings of a signed call are.
        Some(kept) => (kept.id, kept.signature),
        None => (None, stand_in()),
    };
    let function_call = FunctionCall { id, name: &call.name, args };
    Piece::Call { function_call, thought_signature }
}

fn response<'a>(answer: &'a Answer<'a>, id: Option<&'a RawValue>, third: bool) -> Piece<'a> {
    let text = answer.text();
    let parts = if third { answer.images().map(Piece::from).collect() } else { Vec::new() };
    let response = if answer.is_error() { Response::Error(text) } else { Response::Output(text) };
    let function_response = FunctionResponse { id, name: &answer.name, response, parts };
    Piece::Response { function_response }
}

/// The images of a result, led by a line that says where they come from.
fn images_of_result<'a>(answer: &'a Answer<'a>) -> Vec<Piece<'a>> {
    let mut images = answer.images().map(Piece::from).peekable();
    let lead =
        images.peek().map(|_| Piece::text(format!("From the result of {}:", answer.name).into()));
    lead.into_iter().chain(images).collect()
}

fn user_part(part: &Part) -> Option<Piece<'_>> {
    match part {
        Part::Text { text } => (!text.is_empty()).then(|| Piece::text((&**text).into())),
        Part::Image { media_type, data } => Some(Image { media_type, data }.into()),
    }
}
