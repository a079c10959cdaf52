//! Events' words as label values and attributes: few, and never what a model or a client wrote.

use std::borrow::Cow;

use callgate_wire::{ProviderErrorKind, Reply, Stop};
use serde::Serialize;

pub(super) fn provider_error(kind: ProviderErrorKind) -> &'static str {
    match kind {
        ProviderErrorKind::Auth => "auth",
        ProviderErrorKind::NotFound => "not_found",
        ProviderErrorKind::RateLimit => "rate_limit",
        ProviderErrorKind::Quota => "quota",
        ProviderErrorKind::Unavailable => "unavailable",
        ProviderErrorKind::ContextLength => "context_length",
        ProviderErrorKind::BadRequest => "bad_request",
        ProviderErrorKind::MalformedCall => "malformed_call",
        ProviderErrorKind::Transport => "transport",
        ProviderErrorKind::StreamIncomplete => "stream_incomplete",
        ProviderErrorKind::BadReply => "bad_reply",
    }
}

/// Why a reply ended, in the words of the conventions.
pub(super) fn stop(reply: &Reply) -> &'static str {
    match reply.stop {
        Stop::End if reply.calls().next().is_some() => "tool_call",
        Stop::End => "stop",
        Stop::Length => "length",
        Stop::Refusal => "content_filter",
        Stop::Paused => "pause",
        Stop::Incomplete => "error",
    }
}

/// A word of a closed list, as it is on the wire.
pub(super) fn of(word: &impl Serialize) -> Cow<'static, str> {
    match serde_json::to_value(word) {
        Ok(serde_json::Value::String(word)) => word.into(),
        _ => "other".into(),
    }
}
