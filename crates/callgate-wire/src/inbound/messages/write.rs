//! Whole messages and errors, and what events have in common with them.

use serde_json::value::RawValue;

use crate::{
    AssistantPart, Opaque, Reply, Stop, ToolCall, Usage,
    inbound::{
        Dialect, Refusal, RefusalKind, Stamp,
        json::{self, Object},
        sealed::{self, Of},
    },
    raw::{self, Fields, string},
};

pub(super) fn whole(reply: &Reply, stamp: &Stamp) -> Vec<u8> {
    let mut blocks = Vec::new();
    for part in &reply.content {
        match part {
            AssistantPart::Text { text } if text.is_empty() => {}
            AssistantPart::Text { text } => blocks.push(json::text_of(|o| {
                o.string("type", "text");
                o.string("text", text);
            })),
            AssistantPart::Reasoning { text, opaque } => {
                blocks.push(reasoning(text, opaque.as_ref()));
            }
            AssistantPart::Opaque(opaque) => blocks.push(state(opaque)),
            AssistantPart::Call(call) => {
                blocks.extend(before_call(call));
                let input = input(call);
                blocks.push(json::text_of(|o| tool_use(o, call, &input)));
            }
        }
    }
    let called = reply.calls().next().is_some();
    let mut out = Vec::with_capacity(1024);
    json::object(&mut out, |o| {
        heading(o, stamp);
        o.list("content", blocks.iter().map(String::as_str));
        o.string("stop_reason", stop_reason(reply.stop, called));
        o.raw("stop_sequence", "null");
        o.object("usage", |o| usage(o, &reply.usage));
    });
    out
}

pub(super) fn heading(o: &mut Object<'_>, stamp: &Stamp) {
    o.string("id", &format!("msg_{}", stamp.id));
    o.string("type", "message");
    o.string("role", "assistant");
    o.string("model", &stamp.model);
}

pub(super) fn is_own(opaque: &Opaque) -> bool {
    &*opaque.provider == Dialect::Messages.codec()
}

/// Thinking: Anthropic's own word for word, another's signed with its sealed state.
fn reasoning(text: &str, opaque: Option<&Opaque>) -> String {
    match opaque {
        Some(opaque) if is_own(opaque) => (*opaque.json).to_owned(),
        _ => json::text_of(|o| thinking(o, text, &signature(opaque))),
    }
}

pub(super) fn thinking(o: &mut Object<'_>, text: &str, signature: &str) {
    o.string("type", "thinking");
    o.string("thinking", text);
    o.string("signature", signature);
}

/// What thinking that was begun is signed with.
pub(super) fn signature(opaque: Option<&Opaque>) -> String {
    match opaque {
        Some(opaque) if is_own(opaque) => {
            let fields = Fields::of(&opaque.json).unwrap_or_default();
            fields.get("signature").and_then(string).unwrap_or_default().into_owned()
        }
        Some(opaque) => sealed::seal(Of::Reasoning, opaque),
        None => String::new(),
    }
}

/// State without a text: Anthropic's own word for word, another's sealed.
pub(super) fn state(opaque: &Opaque) -> String {
    if is_own(opaque) {
        return (*opaque.json).to_owned();
    }
    redacted(&sealed::seal(Of::State, opaque))
}

pub(super) fn redacted(data: &str) -> String {
    json::text_of(|o| {
        o.string("type", "redacted_thinking");
        o.string("data", data);
    })
}

/// State that belongs to a call has no place in it, so it comes before.
pub(super) fn before_call(call: &ToolCall) -> Option<String> {
    let opaque = call.opaque.as_ref()?;
    Some(redacted(&sealed::seal(Of::Call, opaque)))
}

/// Arguments as the object's text that they are. An admitted call has always one.
pub(super) fn input(call: &ToolCall) -> String {
    let text = call.arguments.trim();
    match raw::object(text).map(RawValue::get) {
        Some(object) => object.to_owned(),
        None if text.is_empty() => "{}".to_owned(),
        None => json::text_of(|o| o.string("INVALID_JSON", &call.arguments)),
    }
}

pub(super) fn tool_use(o: &mut Object<'_>, call: &ToolCall, input: &str) {
    o.string("type", "tool_use");
    o.string("id", &call.id);
    o.string("name", &call.name);
    o.raw("input", input);
}

pub(super) fn stop_reason(stop: Stop, called: bool) -> &'static str {
    match stop {
        Stop::Length | Stop::Incomplete => "max_tokens",
        Stop::Refusal => "refusal",
        Stop::Paused => "pause_turn",
        Stop::End if called => "tool_use",
        Stop::End => "end_turn",
    }
}

/// Cached tokens are counted apart here.
pub(super) fn usage(o: &mut Object<'_>, usage: &Usage) {
    o.number("input_tokens", usage.input_tokens.saturating_sub(usage.cached_tokens));
    o.number("cache_creation_input_tokens", 0);
    o.number("cache_read_input_tokens", usage.cached_tokens);
    o.number("output_tokens", usage.output_tokens);
    if usage.reasoning_tokens > 0 {
        o.object("output_tokens_details", |o| {
            o.number("thinking_tokens", usage.reasoning_tokens);
        });
    }
}

pub(super) fn refusal(refusal: &Refusal) -> (u16, Vec<u8>) {
    let status = match refusal.kind {
        RefusalKind::Quota => 402,
        RefusalKind::Unavailable => 529,
        kind => kind.status(),
    };
    let mut out = Vec::new();
    json::object(&mut out, |o| error(o, refusal));
    (status, out)
}

/// The fields of an error, whole or as an event.
pub(super) fn error(o: &mut Object<'_>, refusal: &Refusal) {
    use RefusalKind as Kind;
    let kind = match refusal.kind {
        Kind::BadRequest | Kind::CallsRefused => "invalid_request_error",
        Kind::Unauthorized => "authentication_error",
        Kind::Forbidden => "permission_error",
        Kind::NotFound => "not_found_error",
        Kind::TooLarge => "request_too_large",
        Kind::RateLimit => "rate_limit_error",
        Kind::Quota => "billing_error",
        Kind::Internal | Kind::BadGateway => "api_error",
        Kind::Unavailable => "overloaded_error",
        Kind::Timeout => "timeout_error",
    };
    o.string("type", "error");
    o.object("error", |o| {
        o.string("type", kind);
        o.string("message", &refusal.message);
        // Not Anthropic's, and read by nobody who does not ask for it.
        if let Some(code) = &refusal.code {
            o.string("code", code);
        }
    });
}
