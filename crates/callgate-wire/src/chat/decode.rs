//! A whole response.

use super::{
    CODEC, asked, failure,
    finish::{Parts, kept},
    wire::{Body, Content, Function, Message},
};
use crate::{
    Opaque, ProviderError, ProviderErrorKind, Reply, Request, Retry, ToolCall,
    failure::unreadable,
    ids, json,
    raw::{lossy, string, text},
    think::{Piece, Think},
};

pub(super) fn reply(
    request: &Request,
    status: u16,
    retry_after_ms: Option<u64>,
    body: &[u8],
) -> Result<Reply, ProviderError> {
    let json = lossy(body);
    if !(200..300).contains(&status) {
        return Err(failure::of_response(status, retry_after_ms, &json));
    }
    let json = json.trim_start_matches('\u{feff}');
    let body: Body<'_> = json::from_str(json).map_err(|error| unreadable(json, &error))?;
    if let Some(error) = failure::in_band(&body) {
        return Err(error);
    }
    let Some(choice) = body.choice() else {
        let message = "the server answered without any choice";
        return Err(ProviderError::new(ProviderErrorKind::BadReply, message, Retry::Backoff));
    };
    let mut parts = Parts {
        finish_reason: choice.finish_reason().map(kept),
        usage: body.usage(),
        model: body.model.and_then(string).filter(|model| !model.is_empty()).map(Into::into),
        ..Parts::default()
    };
    let mut calls = Vec::new();
    if let Some(message) = choice.message.as_deref().or(choice.delta.as_ref()) {
        take(message, &mut parts);
        calls = take_calls(message);
    }
    parts.reply(&asked(request), calls)
}

/// Text, reasoning and refusal of a message.
fn take(message: &Message<'_>, parts: &mut Parts) {
    if let Some(content) = message.content {
        if let Some(text) = text(content) {
            let mut think = Think::default();
            let mut take = |piece: Piece<'_>| match piece {
                Piece::Reasoning(text) => parts.reasoning.push_str(text),
                Piece::Text(text) => parts.text.push_str(text),
            };
            think.push(&text, &mut take);
            think.finish(&mut take);
        } else {
            let list = Content::from_list(content);
            parts.text.push_str(&list.text);
            parts.reasoning.push_str(&list.reasoning);
            parts.refusal.push_str(&list.refusal);
        }
    }
    parts.refusal.push_str(&message.refusal().unwrap_or_default());
    parts.reasoning.push_str(&message.reasoning().unwrap_or_default());
    parts.push_details(message.reasoning_details.as_deref().unwrap_or_default());
}

/// Here each entry is a call of its own.
fn take_calls(message: &Message<'_>) -> Vec<ToolCall> {
    let entries = message.tool_calls.iter().flatten().flatten();
    let mut calls: Vec<_> = entries
        .filter_map(|entry| {
            let mut made = call(entry.function.as_ref()?)?;
            let id = entry.id().unwrap_or_default();
            made.id = ids::given(&id).unwrap_or_default().into();
            made.opaque = entry.extra_content.map(|extra| Opaque {
                provider: CODEC.into(),
                json: extra.get().into(),
                model: None,
            });
            Some(made)
        })
        .collect();
    if calls.is_empty() {
        calls.extend(message.function_call.as_ref().and_then(call));
    }
    calls
}

/// `None` for an entry that says nothing.
fn call(function: &Function<'_>) -> Option<ToolCall> {
    let name = function.name();
    let arguments = function.arguments().filter(|arguments| !arguments.is_empty());
    if name.is_none() && arguments.is_none() {
        return None;
    }
    Some(ToolCall {
        id: "".into(),
        name: name.unwrap_or_default().into(),
        arguments: arguments.unwrap_or_default().into(),
        opaque: None,
    })
}
