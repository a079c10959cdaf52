//! Ollama's own API, `/api/chat`.
//!
//! - `encode`: a request's bytes; `messages`: the transcript;
//! - `wire`: what replies are made of; `decode`: a whole response; `stream`: lines of JSON.
//!
//! Arguments are objects in both directions. There is no tool choice and no limit on calls: what is
//! asked for is emulated by offering less and by telling the model, and noted. Against Ollama's
//! `/v1` this API can be given a context size, without which a small default cuts the tools off.
//!
//! ```
//! use callgate_wire::{Codec, Message, Request, ollama::Ollama};
//!
//! let request = Request {
//!     model: "qwen3:8b".into(),
//!     messages: vec![Message::user("Hi").into()],
//!     ..Request::default()
//! };
//! let post = Ollama::new().encode(&request, false);
//! assert_eq!(post.path, "/api/chat");
//! assert_eq!(
//!     String::from_utf8_lossy(&post.body),
//!     r#"{"model":"qwen3:8b","messages":[{"role":"user","content":"Hi"}],"stream":false}"#,
//! );
//! ```

mod decode;
mod encode;
mod messages;
mod stream;
mod wire;

use crate::{
    Codec, HttpBody, ProviderError, Reply, Request, StreamDecoder, events::Stream, extra,
    finish::Asked, lines::Lines, names::NameRule,
};

/// The name under which this codec keeps opaque provider state: it has none.
const CODEC: &str = "ollama";

/// The codec.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ollama {
    num_ctx: Option<u32>,
}

impl Ollama {
    /// The codec. The context size follows the request: where Ollama's default may be too small,
    /// the next power of two that is large enough is asked for.
    pub const fn new() -> Self {
        Self { num_ctx: None }
    }

    /// With this context size in tokens for every request.
    #[must_use]
    pub const fn with_num_ctx(mut self, tokens: u32) -> Self {
        self.num_ctx = Some(tokens);
        self
    }
}

impl Codec for Ollama {
    fn name(&self) -> &'static str {
        CODEC
    }

    fn encode(&self, request: &Request, stream: bool) -> HttpBody {
        let mut notes = Vec::new();
        let body = encode::body(self.num_ctx, request, stream, &mut notes);
        let body = extra::complete(CODEC, request, body.into(), &mut notes);
        HttpBody { path: "/api/chat".into(), body, headers: Vec::new(), notes }
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
        Box::new(Stream::<Lines, _>::new(stream::Events::new(asked(request).kept())))
    }
}

fn asked(request: &Request) -> Asked<'_> {
    Asked::new(request, CODEC, NameRule::Word)
}
