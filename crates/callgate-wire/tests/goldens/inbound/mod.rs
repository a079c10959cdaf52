//! The provider's side: what clients send is read, what they hear is written.

mod goldens;
mod loops;
mod replies;
mod requests;

use callgate_wire::{
    AssistantPart, Codec, Reply, Stop, Usage,
    anthropic::Anthropic,
    chat::Chat,
    inbound::{Dialect, Stamp},
    responses::Responses,
};

pub(crate) fn stamp() -> Stamp {
    Stamp { id: "01ABCDEF".into(), created: 1_796_000_000, model: "the-model".into() }
}

/// The codec that is the dialect's mirror, and a model of it.
pub(crate) fn mirror(dialect: Dialect) -> (Box<dyn Codec>, &'static str) {
    match dialect {
        Dialect::Chat => (Box::new(Chat::openai()), "gpt-5.4"),
        Dialect::Responses => (Box::new(Responses::new()), "gpt-5.4"),
        Dialect::Messages => (Box::new(Anthropic::new()), "claude-sonnet-4-5"),
    }
}

pub(crate) fn reply(content: Vec<AssistantPart>, stop: Stop) -> Reply {
    let usage =
        Usage { input_tokens: 12, output_tokens: 34, cached_tokens: 5, reasoning_tokens: 6 };
    Reply { content, stop, usage, model: Some("the-model".into()), notes: Vec::new() }
}
