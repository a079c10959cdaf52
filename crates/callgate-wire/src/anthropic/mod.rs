//! Anthropic Messages, version 2023-06-01.
//!
//! - `encode`: a request's bytes; `messages`: the transcript as blocks; `model`: what is refused by
//!   which models;
//! - `wire`: what replies and their parts are made of; `decode`: a whole reply; `stream`: events.
//!
//! Thinking goes back as it came, signature and all, to the model that made it and to no other.
//! Blocks without a neutral meaning (those of Anthropic's own server tools) are kept and echoed in
//! place, never run.
//!
//! ```
//! use callgate_wire::{Codec, Message, Request, anthropic::Anthropic};
//!
//! let request = Request {
//!     model: "claude-sonnet-4-5".into(),
//!     messages: vec![Message::user("Hi").into()],
//!     max_output_tokens: Some(100),
//!     ..Request::default()
//! };
//! let post = Anthropic::new().encode(&request, false);
//! assert_eq!(post.path, "/messages");
//! assert_eq!(post.headers, [("anthropic-version", "2023-06-01")]);
//! assert_eq!(
//!     String::from_utf8_lossy(&post.body),
//!     r#"{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}]}"#,
//! );
//! ```

mod decode;
mod encode;
mod messages;
mod model;
mod stream;
mod wire;

pub use model::searches_tools;

use crate::{
    Codec, HttpBody, ProviderError, Reply, Request, StreamDecoder, events::Stream, extra,
    finish::Asked, names::NameRule, sse,
};

/// The name under which this codec keeps opaque provider state.
const CODEC: &str = "anthropic";

/// Both the API and its version.
const VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");

/// The codec, and what a request does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anthropic {
    thinking: Thinking,
    cache: bool,
}

/// Extended thinking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Thinking {
    /// Not asked for. Some models think all the same.
    #[default]
    Default,
    /// As much as the model likes.
    Adaptive,
    /// Up to so many tokens, 1024 at least. A call cannot be forced then.
    Budget(u32),
}

impl Anthropic {
    /// Without thinking; with marks for the prompt cache wherever tools are offered, since the same
    /// prefix then comes again at the next hop.
    pub const fn new() -> Self {
        Self { thinking: Thinking::Default, cache: true }
    }

    /// With this thinking.
    #[must_use]
    pub const fn with_thinking(mut self, thinking: Thinking) -> Self {
        self.thinking = thinking;
        self
    }

    /// With or without marks for the prompt cache.
    #[must_use]
    pub const fn with_cache(mut self, cache: bool) -> Self {
        self.cache = cache;
        self
    }
}

impl Default for Anthropic {
    fn default() -> Self {
        Self::new()
    }
}

impl Codec for Anthropic {
    fn name(&self) -> &'static str {
        CODEC
    }

    fn encode(&self, request: &Request, stream: bool) -> HttpBody {
        let mut notes = Vec::new();
        let body = encode::body(*self, request, stream, &mut notes);
        let body = extra::complete(CODEC, request, body.into(), &mut notes);
        HttpBody { path: "/messages".into(), body, headers: vec![VERSION], notes }
    }

    fn decode(
        &self,
        request: &Request,
        status: u16,
        retry_after_ms: Option<u64>,
        body: &[u8],
    ) -> Result<Reply, ProviderError> {
        decode::reply(&asked(request), status, retry_after_ms, body)
    }

    fn stream(&self, request: &Request) -> Box<dyn StreamDecoder> {
        Box::new(Stream::<sse::Decoder, _>::new(stream::Events::new(asked(request).kept())))
    }
}

fn asked(request: &Request) -> Asked<'_> {
    Asked::new(request, CODEC, NameRule::Word)
}
