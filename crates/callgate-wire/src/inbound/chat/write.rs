//! Whole responses, and what chunks have in common with them.

use crate::{
    AssistantPart, Opaque, Reply, Stop, ToolCall, Usage,
    inbound::{
        Dialect, Received, Stamp,
        json::{self, Object},
        sealed::{self, Of},
    },
    raw::list_of,
};

pub(super) fn whole(received: &Received, reply: &Reply, stamp: &Stamp) -> Vec<u8> {
    let legacy = received.echo.legacy;
    let mut out = Vec::with_capacity(1024);
    json::object(&mut out, |o| {
        heading(o, stamp, "chat.completion");
        let choice = json::text_of(|o| {
            o.number("index", 0);
            o.object("message", |o| message(o, reply, legacy));
            o.raw("logprobs", "null");
            let called = reply.calls().next().is_some();
            o.string("finish_reason", finish_reason(reply.stop, called, legacy));
        });
        o.list("choices", [&*choice]);
        o.object("usage", |o| usage(o, &reply.usage));
    });
    out
}

pub(super) fn heading(o: &mut Object<'_>, stamp: &Stamp, object: &str) {
    o.string("id", &format!("chatcmpl-{}", stamp.id));
    o.string("object", object);
    o.number("created", stamp.created);
    o.string("model", &stamp.model);
}

fn message(o: &mut Object<'_>, reply: &Reply, legacy: bool) {
    o.string("role", "assistant");
    let text = reply.text();
    let calls: Vec<_> = reply.calls().collect();
    o.optional("content", (!text.is_empty() || calls.is_empty()).then_some(&*text));
    o.raw("refusal", "null");
    let mut reasoning = String::new();
    let mut details = Vec::new();
    for part in &reply.content {
        if let AssistantPart::Reasoning { text, .. } = part {
            reasoning.push_str(text);
        }
        self::details(part, &mut details);
    }
    if !reasoning.is_empty() {
        o.string("reasoning_content", &reasoning);
    }
    if !details.is_empty() {
        o.list("reasoning_details", details.iter().map(String::as_str));
    }
    o.raw("annotations", "[]");
    match &calls[..] {
        [] => {}
        // There is place for one; the request asked for no more.
        [first, ..] if legacy => o.object("function_call", |o| function(o, first)),
        calls => {
            let calls: Vec<_> = calls.iter().map(|call| self::call(call, None)).collect();
            o.list("tool_calls", calls.iter().map(String::as_str));
        }
    }
}

/// The entries of `reasoning_details` that a part's state is.
pub(super) fn details(part: &AssistantPart, out: &mut Vec<String>) {
    let (of, opaque) = match part {
        AssistantPart::Reasoning { opaque: Some(opaque), .. } => (Of::Reasoning, opaque),
        AssistantPart::Opaque(opaque) => (Of::State, opaque),
        _ => return,
    };
    if is_own(opaque)
        && let Some(own) = list_of(&opaque.json)
    {
        out.extend(own.into_iter().map(|entry| entry.get().to_owned()));
        return;
    }
    out.push(json::text_of(|o| {
        o.string("type", "reasoning.encrypted");
        o.string("data", &sealed::seal(of, opaque));
    }));
}

fn is_own(opaque: &Opaque) -> bool {
    &*opaque.provider == Dialect::Chat.codec()
}

/// An entry of `tool_calls`; with its index within a chunk.
pub(super) fn call(call: &ToolCall, index: Option<u64>) -> String {
    json::text_of(|o| {
        if let Some(index) = index {
            o.number("index", index);
        }
        o.string("id", &call.id);
        o.string("type", "function");
        o.object("function", |o| function(o, call));
        match &call.opaque {
            Some(opaque) if is_own(opaque) => o.raw("extra_content", &opaque.json),
            Some(opaque) => o.object("extra_content", |o| {
                o.string("callgate", &sealed::seal(Of::Call, opaque));
            }),
            None => {}
        }
    })
}

pub(super) fn function(o: &mut Object<'_>, call: &ToolCall) {
    o.string("name", &call.name);
    o.string("arguments", &call.arguments);
}

pub(super) fn finish_reason(stop: Stop, called: bool, legacy: bool) -> &'static str {
    match stop {
        Stop::Length | Stop::Incomplete => "length",
        Stop::Refusal => "content_filter",
        Stop::End | Stop::Paused if called && legacy => "function_call",
        Stop::End | Stop::Paused if called => "tool_calls",
        Stop::End | Stop::Paused => "stop",
    }
}

pub(super) fn usage(o: &mut Object<'_>, usage: &Usage) {
    o.number("prompt_tokens", usage.input_tokens);
    o.number("completion_tokens", usage.output_tokens);
    o.number("total_tokens", usage.total());
    o.object("prompt_tokens_details", |o| {
        o.number("cached_tokens", usage.cached_tokens);
        o.number("audio_tokens", 0);
    });
    o.object("completion_tokens_details", |o| {
        o.number("reasoning_tokens", usage.reasoning_tokens);
        o.number("audio_tokens", 0);
        o.number("accepted_prediction_tokens", 0);
        o.number("rejected_prediction_tokens", 0);
    });
}
