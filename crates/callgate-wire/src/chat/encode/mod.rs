//! A request's bytes.
//!
//! The structs here are the wire's shapes, borrowed from the request. They write themselves: no
//! tree of values is built, no text of the transcript is copied but into the body, and schemas go
//! in as the text they are.

mod choice;
mod content;
mod messages;

use std::{borrow::Cow, sync::Arc};

use bytes::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;

use self::{
    choice::Word,
    messages::{Instructions, Messages},
};
use super::{
    CODEC, NAMES,
    profile::{AnswerMode, CapField, Profile, ReasoningEcho},
};
use crate::{
    AnswerFormat, Message, Note, Request, ToolDefinition, extra,
    history::{self, Rules},
    json,
    names::Names,
    offer::Offer,
    prefix::{self, Written},
};

pub(super) fn body(
    profile: &Profile,
    request: &Request,
    stream: bool,
    notes: &mut Vec<Note>,
) -> Bytes {
    // What is in a body beside what the codec writes itself has no place that is known.
    let grows = request.extra.is_none();
    let further = |out: &mut Vec<u8>, new: &[_]| further(profile, request, new, out);
    if grows && let Some(written) = prefix::go_on(profile, request, stream, further) {
        notes.extend(written.notes);
        return written.body;
    }
    let (mut written, is_plain) = whole(profile, request, stream);
    if grows && is_plain {
        prefix::keep(*profile, request, stream, &written);
    }
    notes.append(&mut written.notes);
    extra::complete(CODEC, request, written.body, notes)
}

/// All of it, and whether the transcript is written as it is.
fn whole(profile: &Profile, request: &Request, stream: bool) -> (Written, bool) {
    let schemas: usize = request.tools.iter().map(|tool| 128 + tool.parameters.get().len()).sum();
    let mut notes = Vec::new();
    let mut names = names(request);
    let offer = Offer::new(request, profile.can(), &mut names, &mut notes);
    let (turns, is_plain) = turns(profile, request, &request.messages, &mut names, &mut notes);
    let (rest, answer) = Rest::new(profile, request, stream, &offer, &mut notes);
    let own = request.instructions.as_deref();
    let instructions = Instructions { own, answer, told: offer.told.as_deref() };
    let messages = Messages { profile, instructions, turns: &turns };
    // A body that others begin with is made so that it need not be moved for the first of them.
    let room = if request.prefix.keeps() { 2048 } else { 0 };
    let mut out = Vec::with_capacity(1024 + schemas + 256 * request.messages.len() + room);
    json::write(&mut out, &Begin { model: &request.model, messages });
    // The object goes on with the fields of the next.
    out.pop();
    let end = out.len() - 1;
    let at = out.len();
    json::write(&mut out, &rest);
    if out.get(at + 1) == Some(&b'}') {
        out.remove(at);
    } else {
        out[at] = b',';
    }
    (Written { body: out.into(), end, notes }, is_plain)
}

/// Messages that follow others of which all was plain; `false` where they are not.
fn further(profile: &Profile, request: &Request, new: &[Arc<Message>], out: &mut Vec<u8>) -> bool {
    let mut names = names(request);
    let (turns, is_plain) = turns(profile, request, new, &mut names, &mut Vec::new());
    if is_plain {
        json::write(
            out,
            &Messages { profile, instructions: Instructions::default(), turns: &turns },
        );
    }
    is_plain
}

fn names(request: &Request) -> Names<'_> {
    Names::new(NAMES, request.tools.iter().map(|tool| &*tool.name))
}

/// Messages as turns, and whether that took nothing worth a note, and no name that depends on
/// another message.
fn turns<'a>(
    profile: &Profile,
    request: &'a Request,
    messages: &'a [Arc<Message>],
    names: &mut Names<'a>,
    notes: &mut Vec<Note>,
) -> (Vec<history::Turn<'a>>, bool) {
    let noted = notes.len();
    let rules = Rules { codec: CODEC, ids: profile.ids.into(), merge: false };
    let turns = history::turns(&request.model, messages, rules, names, notes);
    if profile.reasoning != ReasoningEcho::Content {
        history::note_reasoning(&turns, notes);
    }
    let answers = || turns.iter().flat_map(|turn| &turn.answers);
    let count = answers().map(|answer| answer.images().count()).sum();
    if count > 0 {
        notes.push(Note::ImagesMoved { count });
    }
    // A name that is changed and no tool's may be another one after other messages.
    let is_known = |name: &Cow<'_, str>| {
        matches!(name, Cow::Borrowed(_)) || names.renamed().any(|(_, wire)| wire == &**name)
    };
    let is_plain = notes.len() == noted && answers().all(|answer| is_known(&answer.name));
    (turns, is_plain)
}

/// What a body begins with.
#[derive(Serialize)]
struct Begin<'a> {
    model: &'a str,
    messages: Messages<'a>,
}

/// What follows the transcript.
#[derive(Serialize)]
struct Rest<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Word<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop: &'a [Arc<str>],
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    presence_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frequency_penalty: Option<f64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

impl<'a> Rest<'a> {
    /// Also the answer's schema, where the instructions must tell it.
    fn new(
        profile: &'a Profile,
        request: &'a Request,
        stream: bool,
        offer: &'a Offer<'a>,
        notes: &mut Vec<Note>,
    ) -> (Self, Option<&'a AnswerFormat>) {
        let with_tools = !offer.is_empty();
        let format = request.answer.as_ref().and_then(|answer| {
            if with_tools && !profile.answer_with_tools {
                return None;
            }
            ResponseFormat::new(profile.answer, answer)
        });
        // The schema must be told where the model does not see it otherwise.
        let enforced = matches!(format, Some(ResponseFormat::JsonSchema { .. }));
        let seen = enforced && profile.answer == AnswerMode::Schema;
        let answer = request.answer.as_ref().filter(|_| !seen);
        if answer.is_some() && !enforced {
            notes.push(Note::AnswerTold);
        }
        let names = |models: &[&str]| models.iter().any(|name| request.model.starts_with(name));
        let effort_none = with_tools && names(profile.effort_none);
        if effort_none {
            let reason = "this model takes tools on Chat Completions only without reasoning";
            notes.push(Note::ThinkingOff { reason: reason.into() });
        }
        // OpenAI has no word for `top_k`, and of the others some refuse it.
        let mut known =
            vec!["top_p", "stop", "seed", "presence_penalty", "frequency_penalty", "effort"];
        let effort = request.effort.as_deref();
        known.retain(|name| *name != "effort" || !effort_none || effort == Some("none"));
        extra::note_sampling(request, &known, notes);
        let sampling = &request.sampling;
        let cap = |field| request.max_output_tokens.filter(|_| profile.cap == field);
        let tool = |(name, tool)| Tool::new(profile, name, tool);
        let rest = Self {
            tool_choice: choice::spelled(profile, &offer.choice).filter(|_| with_tools),
            parallel_tool_calls: profile
                .parallel
                .field(request.parallel_tool_calls)
                .filter(|_| with_tools),
            tools: offer.tools().map(tool).collect(),
            response_format: format,
            max_tokens: cap(CapField::MaxTokens),
            max_completion_tokens: cap(CapField::MaxCompletionTokens),
            reasoning_effort: if effort_none { Some("none") } else { effort },
            temperature: request.temperature,
            top_p: sampling.top_p,
            stop: &sampling.stop,
            seed: sampling.seed,
            presence_penalty: sampling.presence_penalty,
            frequency_penalty: sampling.frequency_penalty,
            stream,
            stream_options: (stream && profile.stream_usage)
                .then_some(StreamOptions { include_usage: true }),
        };
        (rest, answer)
    }
}

#[derive(Serialize)]
#[serde(tag = "type", content = "function", rename_all = "snake_case")]
enum Tool<'a> {
    Function {
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<&'a str>,
        parameters: &'a RawValue,
        #[serde(skip_serializing_if = "Option::is_none")]
        strict: Option<bool>,
    },
}

impl<'a> Tool<'a> {
    fn new(profile: &Profile, name: &'a str, tool: &'a ToolDefinition) -> Self {
        Self::Function {
            name,
            description: tool.description.as_deref(),
            parameters: &tool.parameters,
            strict: tool.strict.filter(|_| profile.strict),
        }
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ResponseFormat<'a> {
    JsonSchema { json_schema: JsonSchema<'a> },
    JsonObject,
}

#[derive(Serialize)]
struct JsonSchema<'a> {
    name: &'a str,
    schema: &'a RawValue,
    strict: bool,
}

impl<'a> ResponseFormat<'a> {
    fn new(mode: AnswerMode, answer: &'a AnswerFormat) -> Option<Self> {
        match mode {
            AnswerMode::Schema | AnswerMode::SchemaTold => Some(Self::JsonSchema {
                json_schema: JsonSchema {
                    name: &answer.name,
                    schema: &answer.schema,
                    strict: answer.strict,
                },
            }),
            AnswerMode::Object => Some(Self::JsonObject),
            AnswerMode::Instructions => None,
        }
    }
}
