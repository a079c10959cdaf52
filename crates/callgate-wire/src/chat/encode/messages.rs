//! The transcript.
//!
//! The results of a reply's calls follow it at once, before any other role: every provider refuses
//! the transcript otherwise. Images in results have no place in a tool message; they follow in one
//! user message after the last result, and the tool message says so.

use std::{borrow::Cow, iter};

use serde::{Serialize, Serializer, ser::SerializeSeq};
use serde_json::value::RawValue;

use super::content::{Joined, List, WirePart};
use crate::{
    AnswerFormat, Part,
    chat::profile::{InstructionsRole, Profile, ReasoningEcho},
    history::{self, Answer, Said, Turn},
    json,
    offer::ANSWER_LEAD,
};

pub(super) struct Messages<'a> {
    pub(super) profile: &'a Profile,
    pub(super) instructions: Instructions<'a>,
    pub(super) turns: &'a [Turn<'a>],
}

/// What is said before the transcript; by default nothing.
#[derive(Default)]
pub(super) struct Instructions<'a> {
    pub(super) own: Option<&'a str>,
    /// The answer's schema, where they must tell it.
    pub(super) answer: Option<&'a AnswerFormat>,
    /// What else they must tell.
    pub(super) told: Option<&'a str>,
}

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut seq = serializer.serialize_seq(None)?;
        let mut instructions = self.instructions.texts().peekable();
        if instructions.peek().is_some() {
            let role = match self.profile.instructions {
                InstructionsRole::System => "system",
                InstructionsRole::Developer => "developer",
            };
            let content = Joined { texts: instructions, separator: "\n\n" };
            seq.serialize_element(&Plain { role, content })?;
        }
        for (n, turn) in self.turns.iter().enumerate() {
            // The first is what came before any reply.
            if n > 0 {
                seq.serialize_element(&assistant(self.profile, &turn.said))?;
            }
            for answer in &turn.answers {
                seq.serialize_element(&tool(self.profile, answer))?;
            }
            let mut shown = turn.answers.iter().flat_map(images_of_result).peekable();
            if shown.peek().is_some() {
                seq.serialize_element(&Plain { role: "user", content: List(shown) })?;
            }
            for content in &turn.user {
                serialize_user(&mut seq, content)?;
            }
        }
        seq.end()
    }
}

impl Instructions<'_> {
    fn texts(&self) -> impl Iterator<Item = Cow<'_, str>> + Clone {
        let answer = self.answer.into_iter().flat_map(|answer| [ANSWER_LEAD, answer.schema.get()]);
        self.own.into_iter().chain(answer).chain(self.told).map(Cow::Borrowed)
    }
}

fn serialize_user<S: SerializeSeq>(seq: &mut S, parts: &[Part]) -> Result<(), S::Error> {
    let role = "user";
    if history::images(parts).next().is_some() {
        let content = List(parts.iter().map(WirePart::from));
        seq.serialize_element(&Plain { role, content })
    } else {
        let texts = history::texts(parts).map(Cow::Borrowed);
        seq.serialize_element(&Plain { role, content: Joined { texts, separator: "\n" } })
    }
}

/// A message of nothing but a role and content.
#[derive(Serialize)]
struct Plain<C> {
    role: &'static str,
    content: C,
}

#[derive(Serialize)]
struct Assistant<C, R, D, T> {
    role: &'static str,
    content: Option<C>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<R>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_details: Option<D>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<T>,
}

fn assistant<'a>(profile: &'a Profile, said: &'a [Said<'a>]) -> impl Serialize + 'a {
    let calls = said.iter().filter_map(|part| match part {
        Said::Call(call) => Some(call),
        _ => None,
    });
    let has_calls = calls.clone().next().is_some();
    let texts = said.iter().filter_map(|part| match part {
        Said::Text(text) if !text.is_empty() => Some(Cow::Borrowed(*text)),
        _ => None,
    });
    // `null` is for calls only; without them some text must be there, if an empty one.
    let content =
        (texts.clone().next().is_some() || !has_calls).then_some(Joined { texts, separator: "" });
    let thoughts = said.iter().filter_map(|part| match part {
        Said::Reasoning { text, .. } => Some(Cow::Borrowed(*text)),
        _ => None,
    });
    let echo_content = profile.reasoning == ReasoningEcho::Content
        && (has_calls || thoughts.clone().next().is_some());
    let details = said.iter().filter_map(detail_list).flatten();
    let echo_details =
        profile.reasoning == ReasoningEcho::Details && details.clone().next().is_some();
    Assistant {
        role: "assistant",
        content,
        reasoning_content: echo_content.then_some(Joined { texts: thoughts, separator: "" }),
        reasoning_details: echo_details.then_some(List(details)),
        tool_calls: has_calls.then_some(List(calls.map(Call::from))),
    }
}

/// The entries of `reasoning_details` that came with this part.
fn detail_list<'a>(part: &Said<'a>) -> Option<Vec<&'a RawValue>> {
    match part {
        Said::Reasoning { own: Some(own), .. } => json::from_str(own).ok(),
        _ => None,
    }
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    r#type: &'static str,
    function: Function<'a>,
    /// Google's signatures, through its compatible endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: &'a str,
}

impl<'a> From<&'a history::Call<'a>> for Call<'a> {
    fn from(call: &'a history::Call<'a>) -> Self {
        Self {
            id: &call.id,
            r#type: "function",
            function: Function { name: &call.name, arguments: call.text() },
            extra_content: call.own.and_then(|own| json::from_str(own).ok()),
        }
    }
}

#[derive(Serialize)]
struct Tool<'a, C> {
    role: &'static str,
    tool_call_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    content: C,
}

fn tool<'a>(profile: &Profile, answer: &'a Answer<'a>) -> impl Serialize + 'a {
    let pointer = match answer.images().count() {
        0 => None,
        1 => Some("[The image of this result is in the next user message.]".to_owned()),
        n => Some(format!("[The {n} images of this result are in the next user message.]")),
    };
    let texts = answer.texts().map(Cow::Borrowed).chain(pointer.map(Cow::Owned));
    Tool {
        role: "tool",
        tool_call_id: &answer.id,
        name: profile.tool_message_name.then_some(&*answer.name),
        content: Joined { texts, separator: "\n" },
    }
}

/// The images of a result, led by a line that says where they come from.
fn images_of_result<'a>(answer: &'a Answer<'a>) -> impl Iterator<Item = WirePart<'a>> + Clone {
    let mut images = answer.images().peekable();
    let lead = images.peek().map(|_| WirePart::Text {
        text: Cow::Owned(format!("From the result of {} ({}):", answer.name, answer.id)),
    });
    iter::chain(lead, images.map(WirePart::from))
}
