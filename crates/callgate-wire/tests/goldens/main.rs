//! Golden translations: neutral requests and, beside each, every provider's bytes; providers' replies
//! and what they come to. A reviewer reads here what changed on the wire.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod continuation;
mod cuts;
mod decode;
mod encode;
mod fallbacks;
mod inbound;
mod laws;
mod prefix;
mod requests;
mod shown;
mod witness;

use callgate_wire::{
    Codec, Request, anthropic::Anthropic, chat::Chat, gemini::Gemini, ollama::Ollama,
    responses::Responses,
};

/// One dialect: its name, a model of it, its codec.
pub(crate) struct Dialect {
    pub(crate) name: &'static str,
    pub(crate) model: &'static str,
    /// Its folder in `replies`.
    pub(crate) replies: &'static str,
    pub(crate) codec: Box<dyn Codec>,
}

pub(crate) fn dialects() -> Vec<Dialect> {
    let dialect = |name, model, replies, codec| Dialect { name, model, replies, codec };
    vec![
        dialect("openai-chat", "gpt-5.4", "chat", Box::new(Chat::openai())),
        dialect("compatible", "some-model", "chat", Box::new(Chat::compatible())),
        dialect("responses", "gpt-5.4", "responses", Box::new(Responses::new())),
        dialect("anthropic", "claude-sonnet-4-5", "anthropic", Box::new(Anthropic::new())),
        dialect("gemini", "gemini-3-flash", "gemini", Box::new(Gemini::new())),
        dialect("ollama", "qwen3:8b", "ollama", Box::new(Ollama::new())),
    ]
}

impl Dialect {
    /// The request as it is asked of this dialect's model.
    pub(crate) fn addressed(&self, request: &Request) -> Request {
        Request { model: self.model.into(), ..request.clone() }
    }
}
