//! OpenAI Chat Completions, as OpenAI and the many compatible servers speak it.
//!
//! One [`Chat`] is one dialect: a [`Profile`] of flags decides what is sent. What comes back is
//! read in the same forgiving way from everyone, because servers change and gateways stand between.
//! The oddities it survives are those that people reported: see `tests/cases/cases.jsonl`, family
//! `streaming`, and the tests beside each part.
//!
//! - `encode`: a request's bytes, written straight from the transcript without a copy of it;
//! - `wire`: the response's JSON, borrowed from the bytes that came;
//! - `decode`: a whole response; `stream`: a streamed one;
//! - `assemble`: fragments to calls, by one rule for all servers;
//! - `finish`: what both have in common at the end, above all the reason why it ended;
//! - `failure`: error bodies to [`ProviderError`].
//!
//! ```
//! use callgate_wire::{Codec, Message, Request, chat::Chat};
//!
//! let request = Request {
//!     model: "gpt-5.4".into(),
//!     messages: vec![Message::user("What is the weather in Paris?").into()],
//!     ..Request::default()
//! };
//! let chat = Chat::openai();
//! let post = chat.encode(&request, false);
//! assert_eq!(post.path, "/chat/completions");
//! assert_eq!(
//!     String::from_utf8_lossy(&post.body),
//!     r#"{"model":"gpt-5.4","messages":[{"role":"user","content":"What is the weather in Paris?"}]}"#,
//! );
//!
//! let body = br#"{"choices":[{"message":{"content":"Sunny."},"finish_reason":"stop"}]}"#;
//! let reply = chat.decode(&request, 200, None, body)?;
//! assert_eq!(reply.text(), "Sunny.");
//! # Ok::<(), callgate_wire::ProviderError>(())
//! ```

mod assemble;
mod decode;
mod encode;
mod failure;
mod finish;
mod profile;
mod stream;
mod usage;
mod wire;

#[cfg(test)]
mod tests;

pub use profile::{
    AnswerMode, CallIds, CapField, InstructionsRole, NoneChoice, OneChoice, ParallelField, Profile,
    ReasoningEcho, SubsetChoice,
};

use crate::{
    Codec, HttpBody, ProviderError, Reply, Request, StreamDecoder, finish::Asked, names::NameRule,
};

/// The name under which this codec keeps opaque provider state.
const CODEC: &str = "chat";

/// The codec of one dialect.
#[derive(Debug, Clone, Copy)]
pub struct Chat {
    profile: Profile,
}

impl Chat {
    /// The codec of this dialect.
    pub const fn new(profile: Profile) -> Self {
        Self { profile }
    }

    /// OpenAI itself.
    pub const fn openai() -> Self {
        Self::new(Profile::openai())
    }

    /// Any compatible server.
    pub const fn compatible() -> Self {
        Self::new(Profile::compatible())
    }

    /// Its dialect.
    pub const fn profile(&self) -> &Profile {
        &self.profile
    }
}

impl Codec for Chat {
    fn name(&self) -> &'static str {
        CODEC
    }

    fn encode(&self, request: &Request, stream: bool) -> HttpBody {
        let mut notes = Vec::new();
        let body = encode::body(&self.profile, request, stream, &mut notes);
        HttpBody { path: "/chat/completions".into(), body, headers: Vec::new(), notes }
    }

    fn decode(
        &self,
        request: &Request,
        status: u16,
        retry_after_ms: Option<u64>,
        body: &[u8],
    ) -> Result<Reply, ProviderError> {
        decode::reply(request, status, retry_after_ms, body)
    }

    fn stream(&self, request: &Request) -> Box<dyn StreamDecoder> {
        Box::new(stream::Stream::new(request))
    }
}

/// What every server of the family takes as a tool's name.
const NAMES: NameRule = NameRule::Word;

fn asked(request: &Request) -> Asked<'_> {
    Asked::new(request, CODEC, NAMES)
}

/// A recorded stream to its reply, as a request with this cap on generated tokens would read it.
///
/// # Errors
/// As [`StreamDecoder::finish`].
pub fn assemble<'a>(
    chunks: impl IntoIterator<Item = &'a [u8]>,
    max_tokens: Option<u32>,
) -> Result<Reply, ProviderError> {
    let request = Request { max_output_tokens: max_tokens, ..Request::default() };
    let mut decoder = stream::Stream::new(&request);
    let mut deltas = Vec::new();
    for chunk in chunks {
        decoder.push(chunk, &mut deltas);
    }
    decoder.finish(&mut deltas)
}
