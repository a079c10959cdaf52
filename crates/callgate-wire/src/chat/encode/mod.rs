//! A request's bytes.
//!
//! The structs here are the wire's shapes, borrowed from the request. They write themselves: no
//! tree of values is built, no text of the transcript is copied but into the body, and schemas go
//! in as the text they are.

mod choice;
mod content;
mod messages;

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;

use self::{choice::Word, messages::Messages};
use super::{
    CODEC, NAMES,
    profile::{AnswerMode, CapField, Profile, ReasoningEcho},
};
use crate::{
    AnswerFormat, Note, Request, ToolDefinition, extra,
    history::{self, Rules},
    json,
    names::Names,
    offer::Offer,
};

pub(super) fn body(
    profile: &Profile,
    request: &Request,
    stream: bool,
    notes: &mut Vec<Note>,
) -> Vec<u8> {
    let schemas: usize = request.tools.iter().map(|tool| 128 + tool.parameters.get().len()).sum();
    let mut names = Names::new(NAMES, request.tools.iter().map(|tool| &*tool.name));
    let offer = Offer::new(request, profile.can(), &mut names, notes);
    let rules = Rules { codec: CODEC, ids: profile.ids.into(), merge: false };
    let turns = history::turns(request, rules, &mut names, notes);
    if profile.reasoning != ReasoningEcho::Content {
        history::note_reasoning(&turns, notes);
    }
    let moved = turns.iter().flat_map(|turn| &turn.answers).map(|answer| answer.images().count());
    let count = moved.sum();
    if count > 0 {
        notes.push(Note::ImagesMoved { count });
    }
    let body = Body::new(profile, request, stream, &offer, turns, notes);
    let mut out = Vec::with_capacity(1024 + schemas + 256 * request.messages.len());
    json::write(&mut out, &body);
    out
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Messages<'a>,
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

impl<'a> Body<'a> {
    fn new(
        profile: &'a Profile,
        request: &'a Request,
        stream: bool,
        offer: &'a Offer<'a>,
        turns: Vec<history::Turn<'a>>,
        notes: &mut Vec<Note>,
    ) -> Self {
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
        let told = offer.told.as_deref();
        Self {
            model: &request.model,
            messages: Messages { profile, request, answer, told, turns },
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
        }
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
