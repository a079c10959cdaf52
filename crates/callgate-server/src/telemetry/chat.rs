//! The attributes of a request to a model, by whomever it was asked.

use callgate_wire::{Reply, Usage};
use opentelemetry::{Array, KeyValue, StringValue, Value};

use super::{content, semconv as names, words};

/// Of a `chat` span. `model` is `provider:model`, `hop` counts from 1.
pub(super) fn attributes(
    model: &str,
    hop: u32,
    reply: Option<&Reply>,
    with_content: bool,
) -> Vec<KeyValue> {
    let (provider, own) = names::model(model);
    let mut attributes = vec![
        KeyValue::new(names::PROVIDER, provider.to_owned()),
        KeyValue::new(names::REQUEST_MODEL, own.to_owned()),
        KeyValue::new(names::HOP, i64::from(hop)),
    ];
    if let Some(reply) = reply {
        if let Some(said) = &reply.model {
            attributes.push(KeyValue::new(names::RESPONSE_MODEL, said.clone()));
        }
        let reason = StringValue::from(words::stop(reply));
        let reasons = Value::Array(Array::String(vec![reason]));
        attributes.push(KeyValue::new(names::FINISH_REASONS, reasons));
        attributes.extend(tokens(reply.usage));
        if with_content {
            attributes.push(KeyValue::new(names::OUTPUT_MESSAGES, content::reply(reply)));
        }
    }
    attributes
}

/// What it cost.
pub(super) fn tokens(usage: Usage) -> Vec<KeyValue> {
    let count = |name, tokens: u64| KeyValue::new(name, i64::try_from(tokens).unwrap_or(i64::MAX));
    let mut attributes = vec![
        count(names::INPUT_TOKENS, usage.input_tokens),
        count(names::OUTPUT_TOKENS, usage.output_tokens),
    ];
    if usage.cached_tokens > 0 {
        attributes.push(count(names::CACHED_TOKENS, usage.cached_tokens));
    }
    if usage.reasoning_tokens > 0 {
        attributes.push(count(names::REASONING_TOKENS, usage.reasoning_tokens));
    }
    attributes
}
