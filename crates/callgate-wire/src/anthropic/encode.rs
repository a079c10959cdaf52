//! A request's bytes.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;

use super::{
    Anthropic, CODEC, Thinking,
    messages::{self, Message},
    model,
};
use crate::{
    Note, Request, ToolDefinition, Unforced, extra,
    history::{self, Rules, Said},
    ids::IdRule,
    json,
    names::{NameRule, Names},
    offer::{self, Can, Choice, Offer},
};

/// A longer id is none of Anthropic's own; the length is not documented.
const IDS: IdRule = IdRule::Word(64);

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<ThinkingField>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<ToolChoice<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<System<'a>>,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_k: Option<u32>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop_sequences: &'a [Arc<str>],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ThinkingField {
    Adaptive,
    Enabled { budget_tokens: u32 },
}

#[derive(Serialize)]
struct Tool<'a> {
    /// Of Anthropic's own tools only.
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<&'static str>,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_schema: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    input_examples: &'a [Arc<RawValue>],
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    defer_loading: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Mark>,
}

/// Anthropic's search over the tools that wait, by keywords.
const SEARCH: Tool<'_> = Tool {
    r#type: Some("tool_search_tool_bm25_20251119"),
    name: "tool_search_tool_bm25",
    description: None,
    input_schema: None,
    input_examples: &[],
    strict: None,
    defer_loading: false,
    cache_control: None,
};

#[derive(Serialize)]
struct ToolChoice<'a> {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    disable_parallel_tool_use: bool,
}

#[derive(Serialize)]
struct System<'a> {
    r#type: &'static str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Mark>,
}

/// The end of a prefix that is worth keeping.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Mark {
    r#type: &'static str,
}

pub(super) const MARK: Mark = Mark { r#type: "ephemeral" };

#[derive(Serialize)]
struct OutputConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Format<'a> {
    JsonSchema { schema: &'a RawValue },
}

pub(super) fn body(
    codec: Anthropic,
    request: &Request,
    stream: bool,
    notes: &mut Vec<Note>,
) -> Vec<u8> {
    let mut names = Names::new(NameRule::Word, request.tools.iter().map(|tool| &*tool.name));
    let offer = Offer::new(request, can(codec, request), &mut names, notes);
    let rules = Rules { codec: CODEC, ids: IDS, merge: true };
    let turns = history::turns(&request.model, &request.messages, rules, &mut names, notes);
    let thinking = thinking(codec, &turns, notes);
    let mark = codec.cache && !offer.is_empty();

    let answer = request.answer.as_ref();
    // The API has no loose form: what is not strict may be outside the subset that it takes.
    let enforced = answer.filter(|answer| answer.strict);
    let told = answer.filter(|answer| !answer.strict);
    if told.is_some() {
        notes.push(Note::AnswerTold);
    }
    let told = told.map(|answer| offer::answer_told(answer.schema.get()));
    let own = request.instructions.as_deref().filter(|text| !text.trim().is_empty());
    let stable = own.into_iter().chain(told.as_deref());
    let mut system: Vec<_> =
        stable.map(|text| System { r#type: "text", text, cache_control: None }).collect();
    if let Some(last) = system.last_mut().filter(|_| mark) {
        last.cache_control = Some(MARK);
    }
    // After the mark, since it comes and goes.
    let forced = offer.told.as_deref();
    system.extend(forced.map(|text| System { r#type: "text", text, cache_control: None }));

    let mut messages = messages::messages(&turns, notes);
    if mark {
        messages::mark(&mut messages);
    }
    let mut max_tokens =
        request.max_output_tokens.unwrap_or_else(|| model::default_cap(&request.model));
    if let Some(ThinkingField::Enabled { budget_tokens }) = thinking
        && max_tokens <= budget_tokens
    {
        // The cap counts thinking too and has to be larger.
        max_tokens = max_tokens.saturating_add(budget_tokens);
    }
    let sampled = !thinks(thinking.is_some(), &request.model);
    let effort = request.effort.as_deref().filter(|effort| EFFORTS.contains(effort));
    let mut known = vec!["stop"];
    known.extend(sampled.then_some(["top_p", "top_k"]).into_iter().flatten());
    known.extend(effort.map(|_| "effort"));
    extra::note_sampling(request, &known, notes);
    let format = enforced.map(|answer| Format::JsonSchema { schema: &answer.schema });
    let configured = format.is_some() || effort.is_some();
    let body = Body {
        model: &request.model,
        max_tokens,
        tools: tools(&offer, mark),
        tool_choice: tool_choice(&offer),
        system,
        messages,
        output_config: configured.then_some(OutputConfig { format, effort }),
        temperature: temperature(request, sampled, notes),
        top_p: request.sampling.top_p.filter(|_| sampled),
        top_k: request.sampling.top_k.filter(|_| sampled),
        stop_sequences: &request.sampling.stop,
        thinking,
        stream,
    };
    json::to_vec(&body)
}

fn can(codec: Anthropic, request: &Request) -> Can {
    let some = if model::refuses_forced_choice(&request.model) {
        Err(Unforced::Model)
    } else if matches!(codec.thinking, Thinking::Budget(_)) {
        Err(Unforced::Thinking)
    } else {
        Ok(())
    };
    Can {
        some,
        one: true,
        none: true,
        subset: false,
        subset_required: false,
        one_call: true,
        defer: model::searches_tools(&request.model),
        max_tools: usize::MAX,
    }
}

/// Within a tool loop, a thinking model must be given its thinking back. Where it is not there,
/// since another model made the calls, it cannot think until the next user turn.
fn thinking(
    codec: Anthropic,
    turns: &[history::Turn<'_>],
    notes: &mut Vec<Note>,
) -> Option<ThinkingField> {
    let field = match codec.thinking {
        Thinking::Default => return None,
        Thinking::Adaptive => return Some(ThinkingField::Adaptive),
        Thinking::Budget(tokens) => ThinkingField::Enabled { budget_tokens: tokens.max(1024) },
    };
    let last = turns.last().filter(|turn| !turn.answers.is_empty() && turn.user.is_empty());
    let begins_with_thinking = |turn: &history::Turn<'_>| {
        matches!(turn.said.first(), Some(Said::Reasoning { own: Some(_), .. } | Said::Own(_)))
    };
    if last.is_some_and(|turn| !begins_with_thinking(turn)) {
        let reason = "the calls before were not this model's, so their thinking is not there";
        notes.push(Note::ThinkingOff { reason: reason.into() });
        return None;
    }
    Some(field)
}

fn tools<'a>(offer: &'a Offer<'a>, mark: bool) -> Vec<Tool<'a>> {
    let tool = |((name, tool), defer_loading): ((&'a str, &'a ToolDefinition), bool)| Tool {
        r#type: None,
        name,
        description: tool.description.as_deref(),
        input_schema: Some(&tool.parameters),
        input_examples: &tool.examples,
        strict: tool.strict.filter(|strict| *strict),
        defer_loading,
        cache_control: None,
    };
    let search = offer.searches().then_some(SEARCH);
    let own = offer.tools().zip(offer.deferred()).map(tool);
    let mut tools: Vec<_> = search.into_iter().chain(own).collect();
    // A tool that waits is no part of the prefix, and refuses the mark.
    let last = tools.iter_mut().rfind(|tool| !tool.defer_loading);
    if let Some(last) = last.filter(|_| mark) {
        last.cache_control = Some(MARK);
    }
    tools
}

fn tool_choice<'a>(offer: &'a Offer<'a>) -> Option<ToolChoice<'a>> {
    let (r#type, name) = match &offer.choice {
        Choice::Auto if offer.one_call => ("auto", None),
        Choice::Auto => return None,
        Choice::Some => ("any", None),
        Choice::One(name) => ("tool", Some(&**name)),
        // There is no word for a subset, so it was filtered.
        Choice::None | Choice::Allowed { .. } => ("none", None),
    };
    Some(ToolChoice { r#type, name, disable_parallel_tool_use: offer.one_call })
}

/// The words for effort that the API has.
const EFFORTS: [&str; 5] = ["low", "medium", "high", "xhigh", "max"];

/// Whether nothing may be said about sampling.
fn thinks(thinking: bool, model: &str) -> bool {
    thinking || model::refuses_temperature(model)
}

fn temperature(request: &Request, sampled: bool, notes: &mut Vec<Note>) -> Option<f64> {
    let temperature = request.temperature?;
    if !sampled {
        notes.push(Note::FieldLeftOut { field: "temperature".into() });
        return None;
    }
    Some(temperature)
}
