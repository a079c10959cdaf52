//! A request's bytes.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

use super::{
    CODEC,
    input::{self, Item},
    model,
};
use crate::{
    Note, Request, extra,
    history::{self, Rules},
    ids::IdRule,
    json,
    names::{NameRule, Names},
    offer::{Can, Choice, Offer},
};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    input: Vec<Item<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<ToolChoice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning<'a>>,
    store: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    include: Option<[&'static str; 1]>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
}

/// `strict` is always sent: left out, the server tries it by itself, and optional arguments come
/// back as nulls.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Tool<'a> {
    Function {
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<&'a str>,
        parameters: &'a RawValue,
        strict: bool,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        defer_loading: bool,
    },
    /// OpenAI's search over the functions that wait.
    ToolSearch,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ToolChoice<'a> {
    Word(&'static str),
    Object(Chosen<'a>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Chosen<'a> {
    Function { name: &'a str },
    AllowedTools { mode: &'static str, tools: Vec<Chosen<'a>> },
}

#[derive(Serialize)]
struct Reasoning<'a> {
    effort: &'a str,
}

#[derive(Serialize)]
struct Text<'a> {
    format: Format<'a>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Format<'a> {
    JsonSchema { name: &'a str, schema: &'a RawValue, strict: bool },
}

/// Everything of the table has a word here.
fn can(model: &str) -> Can {
    Can {
        some: Ok(()),
        one: true,
        none: true,
        subset: true,
        subset_required: true,
        one_call: true,
        defer: model::searches_tools(model),
        max_tools: 128,
    }
}

pub(super) fn body(request: &Request, stream: bool, notes: &mut Vec<Note>) -> Vec<u8> {
    let mut names = Names::new(NameRule::Word, request.tools.iter().map(|tool| &*tool.name));
    let offer = Offer::new(request, can(&request.model), &mut names, notes);
    let rules = Rules { codec: CODEC, ids: IdRule::Word(64), merge: false };
    let turns = history::turns(&request.model, &request.messages, rules, &mut names, notes);
    history::note_reasoning(&turns, notes);
    let reasons = model::reasons(&request.model);
    if reasons && request.temperature.is_some() {
        notes.push(Note::FieldLeftOut { field: "temperature".into() });
    }
    let known: &[&str] = if reasons { &["effort"] } else { &["top_p"] };
    extra::note_sampling(request, known, notes);
    let effort = request.effort.as_deref().filter(|_| reasons);
    let functions = offer.tools().zip(offer.deferred());
    let functions = functions.map(|((name, definition), defer_loading)| Tool::Function {
        name,
        description: definition.description.as_deref(),
        parameters: &definition.parameters,
        strict: definition.strict.unwrap_or(false),
        defer_loading,
    });
    let search = offer.searches().then_some(Tool::ToolSearch);
    let body = Body {
        model: &request.model,
        instructions: request.instructions.as_deref(),
        input: input::items(&turns),
        tools: functions.chain(search).collect(),
        tool_choice: tool_choice(&offer.choice),
        parallel_tool_calls: offer.one_call.then_some(false),
        text: request.answer.as_ref().map(|answer| Text {
            format: Format::JsonSchema {
                name: &answer.name,
                schema: &answer.schema,
                strict: answer.strict,
            },
        }),
        max_output_tokens: request.max_output_tokens,
        temperature: request.temperature.filter(|_| !reasons),
        top_p: request.sampling.top_p.filter(|_| !reasons),
        reasoning: effort.map(|effort| Reasoning { effort }),
        store: false,
        include: reasons.then_some(["reasoning.encrypted_content"]),
        stream,
    };
    json::to_vec(&body)
}

fn tool_choice<'a>(choice: &'a Choice<'_>) -> Option<ToolChoice<'a>> {
    let function = |name: &'a Cow<'_, str>| Chosen::Function { name };
    Some(match choice {
        Choice::Auto => return None,
        Choice::Some => ToolChoice::Word("required"),
        Choice::None => ToolChoice::Word("none"),
        Choice::One(name) => ToolChoice::Object(function(name)),
        Choice::Allowed { names, required } => ToolChoice::Object(Chosen::AllowedTools {
            mode: if *required { "required" } else { "auto" },
            tools: names.iter().map(function).collect(),
        }),
    })
}
