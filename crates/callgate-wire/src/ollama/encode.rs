//! A request's bytes.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;

use super::{
    CODEC,
    messages::{self, Message},
};
use crate::{
    Note, Request, ToolDefinition, Unforced, extra,
    history::{self, Rules},
    ids::IdRule,
    json,
    names::{NameRule, Names},
    offer::{self, Can, Offer},
};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Options::is_empty")]
    options: Options<'a>,
    /// Sent always: left out, it means true.
    stream: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", content = "function", rename_all = "snake_case")]
enum Tool<'a> {
    Function {
        name: &'a str,
        /// A required key in its own client library.
        description: &'a str,
        parameters: &'a RawValue,
    },
}

#[derive(Default, Serialize)]
struct Options<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    num_ctx: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_predict: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_k: Option<u32>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop: &'a [Arc<str>],
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    presence_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frequency_penalty: Option<f64>,
}

impl Options<'_> {
    fn is_empty(&self) -> bool {
        self.num_ctx.is_none()
            && self.num_predict.is_none()
            && self.temperature.is_none()
            && self.top_p.is_none()
            && self.top_k.is_none()
            && self.stop.is_empty()
            && self.seed.is_none()
            && self.presence_penalty.is_none()
            && self.frequency_penalty.is_none()
    }
}

const CAN: Can = Can {
    some: Err(Unforced::Api),
    one: false,
    none: false,
    subset: false,
    subset_required: false,
    one_call: false,
    defer: false,
    max_tools: usize::MAX,
};

pub(super) fn body(
    num_ctx: Option<u32>,
    request: &Request,
    stream: bool,
    notes: &mut Vec<Note>,
) -> Vec<u8> {
    let mut names = Names::new(NameRule::Word, request.tools.iter().map(|tool| &*tool.name));
    let offer = Offer::new(request, CAN, &mut names, notes);
    let rules = Rules { codec: CODEC, ids: IdRule::Any, merge: false };
    let turns = history::turns(&request.model, &request.messages, rules, &mut names, notes);
    for (_, tool) in offer.tools().filter(|(_, tool)| tool.strict == Some(true)) {
        notes.push(Note::StrictNotForced { tool: tool.name.clone() });
    }

    let answer = request.answer.as_ref();
    // A format suppresses the calls of many models.
    let enforced = answer.filter(|_| offer.is_empty());
    if answer.is_some() && enforced.is_none() {
        notes.push(Note::AnswerTold);
    }
    // A model decodes under a format without being shown it.
    let told = answer.map(|answer| offer::answer_told(answer.schema.get()));
    let own = request.instructions.as_deref().filter(|text| !text.is_empty());
    let system: Vec<_> =
        own.into_iter().chain(told.as_deref()).chain(offer.told.as_deref()).collect();
    let system = system.join("\n\n");

    let sampling = &request.sampling;
    let known = ["top_p", "top_k", "stop", "seed", "presence_penalty", "frequency_penalty"];
    extra::note_sampling(request, &known, notes);
    let mut body = Body {
        model: &request.model,
        messages: messages::messages(&system, &turns, notes),
        tools: offer.tools().map(|(name, definition)| tool(name, definition)).collect(),
        format: enforced.map(|answer| &*answer.schema),
        options: Options {
            num_ctx,
            num_predict: request.max_output_tokens,
            temperature: request.temperature,
            top_p: sampling.top_p,
            top_k: sampling.top_k,
            stop: &sampling.stop,
            seed: sampling.seed,
            presence_penalty: sampling.presence_penalty,
            frequency_penalty: sampling.frequency_penalty,
        },
        stream,
    };
    let write = |body: &Body<'_>| json::to_vec(body);
    let bytes = write(&body);
    if num_ctx.is_none() {
        body.options.num_ctx = context(bytes.len(), request.max_output_tokens);
        if body.options.num_ctx.is_some() {
            return write(&body);
        }
    }
    bytes
}

/// The context that a body of so many bytes may need; nothing where the smallest default, 4096
/// tokens, is enough. Powers of two, since each other size loads the model anew.
fn context(bytes: usize, cap: Option<u32>) -> Option<u32> {
    const DEFAULT: usize = 4096;
    const MAX: usize = 131_072;
    let tokens = bytes / 3 + cap.map_or(1024, |cap| cap as usize);
    (tokens > DEFAULT).then(|| tokens.next_power_of_two().min(MAX) as u32)
}

fn tool<'a>(name: &'a str, tool: &'a ToolDefinition) -> Tool<'a> {
    Tool::Function {
        name,
        description: tool.description.as_deref().unwrap_or_default(),
        parameters: &tool.parameters,
    }
}

#[cfg(test)]
mod tests {
    use super::context;

    #[test]
    fn the_context_grows_in_powers_of_two() {
        for (bytes, cap, expected) in [
            (9000, None, None),
            (9300, None, Some(8192)),
            (30_000, Some(4000), Some(16_384)),
            (10_000_000, None, Some(131_072)),
        ] {
            assert_eq!(context(bytes, cap), expected, "{bytes}");
        }
    }
}
