//! A request's bytes.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;

use super::{
    CODEC,
    contents::{self, Content, Piece},
    model,
};
use crate::{
    Note, Request, ToolDefinition, extra,
    history::{self, Rules},
    ids::IdRule,
    json,
    names::{NameRule, Names},
    offer::{self, Can, Choice, Offer},
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<System<'a>>,
    contents: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<[Tools<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<ToolConfig<'a>>,
    #[serde(skip_serializing_if = "Generation::is_empty")]
    generation_config: Generation<'a>,
}

#[derive(Serialize)]
struct System<'a> {
    parts: Vec<Piece<'a>>,
}

/// All declarations are in one element.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Declaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Declaration<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    parameters_json_schema: &'a RawValue,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolConfig<'a> {
    function_calling_config: Calling<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Calling<'a> {
    mode: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    allowed_function_names: Vec<&'a str>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Generation<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_k: Option<u32>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop_sequences: &'a [Arc<str>],
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    presence_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frequency_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<&'a RawValue>,
}

impl Generation<'_> {
    fn is_empty(&self) -> bool {
        self.max_output_tokens.is_none()
            && self.temperature.is_none()
            && self.response_mime_type.is_none()
            && self.top_p.is_none()
            && self.top_k.is_none()
            && self.stop_sequences.is_empty()
            && self.seed.is_none()
            && self.presence_penalty.is_none()
            && self.frequency_penalty.is_none()
    }
}

pub(super) fn body(request: &Request, notes: &mut Vec<Note>) -> Vec<u8> {
    let mut names = Names::new(NameRule::Letter, request.tools.iter().map(|tool| &*tool.name));
    let validates = model::validates(&request.model);
    let can = Can {
        some: Ok(()),
        one: true,
        none: true,
        subset: validates,
        subset_required: true,
        one_call: false,
        defer: false,
        max_tools: 512,
    };
    let offer = Offer::new(request, can, &mut names, notes);
    // Ids are in what is kept of each call; those made up for others never go out.
    let rules = Rules { codec: CODEC, ids: IdRule::Any, merge: true };
    let mut read = Vec::new();
    let turns = history::turns(&request.model, &request.messages, rules, &mut names, &mut read);
    read.retain(|note| !matches!(note, Note::CallRenamed { .. }));
    notes.append(&mut read);
    history::note_reasoning(&turns, notes);

    let answer = request.answer.as_ref();
    let enforced = answer.filter(|_| offer.is_empty() || model::is_third(&request.model));
    let told = answer.filter(|_| enforced.is_none());
    if told.is_some() {
        notes.push(Note::AnswerTold);
    }
    let told = told.map(|answer| offer::answer_told(answer.schema.get()));
    let own = request.instructions.as_deref().filter(|text| !text.is_empty());
    let system: Vec<_> =
        own.into_iter().chain(told.as_deref()).map(|text| Piece::text(text.into())).collect();
    let sampling = &request.sampling;
    let known = ["top_p", "top_k", "stop", "seed", "presence_penalty", "frequency_penalty"];
    extra::note_sampling(request, &known, notes);
    let declaration = |(name, tool): (_, _)| declaration(name, tool);
    let body = Body {
        system_instruction: (!system.is_empty()).then_some(System { parts: system }),
        contents: contents::contents(&turns, &request.model, notes),
        tools: (!offer.is_empty())
            .then(|| [Tools { function_declarations: offer.tools().map(declaration).collect() }]),
        tool_config: tool_config(&offer, validates, notes),
        generation_config: Generation {
            max_output_tokens: request.max_output_tokens,
            temperature: request.temperature,
            top_p: sampling.top_p,
            top_k: sampling.top_k,
            stop_sequences: &sampling.stop,
            seed: sampling.seed,
            presence_penalty: sampling.presence_penalty,
            frequency_penalty: sampling.frequency_penalty,
            response_mime_type: enforced.map(|_| "application/json"),
            response_json_schema: enforced.map(|answer| &*answer.schema),
        },
    };
    json::to_vec(&body)
}

fn declaration<'a>(name: &'a str, tool: &'a ToolDefinition) -> Declaration<'a> {
    Declaration {
        name,
        description: tool.description.as_deref(),
        parameters_json_schema: &tool.parameters,
    }
}

/// `AUTO` is the default. Names may stand beside `ANY` and `VALIDATED` only.
fn tool_config<'a>(
    offer: &'a Offer<'_>,
    validates: bool,
    notes: &mut Vec<Note>,
) -> Option<ToolConfig<'a>> {
    let mut strict = offer.tools().filter(|(_, tool)| tool.strict == Some(true)).peekable();
    let (mode, allowed_function_names) = match &offer.choice {
        Choice::Auto if strict.peek().is_some() && validates => ("VALIDATED", Vec::new()),
        Choice::Auto => {
            notes.extend(strict.map(|(_, tool)| Note::StrictNotForced { tool: tool.name.clone() }));
            return None;
        }
        Choice::Some => ("ANY", Vec::new()),
        Choice::One(name) => ("ANY", vec![&**name]),
        Choice::None => ("NONE", Vec::new()),
        Choice::Allowed { names, required } => (
            if *required { "ANY" } else { "VALIDATED" },
            names.iter().map(|name| &**name).collect(),
        ),
    };
    let function_calling_config = Calling { mode, allowed_function_names };
    Some(ToolConfig { function_calling_config })
}
