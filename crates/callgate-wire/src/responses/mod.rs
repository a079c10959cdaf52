//! OpenAI Responses, without state on OpenAI's side.
//!
//! - `encode`: a request's bytes; `input`: the transcript as items; `model`: what is refused by
//!   which models;
//! - `item`: output items and what becomes of them; `decode`: a whole response; `stream`: events.
//!
//! Nothing is stored (`store: false`), so reasoning comes encrypted and goes back verbatim, before
//! the item that it led to. Calls are known by their `call_id`; the item's own `id` is left out, as
//! an item that was not stored cannot be found by it.
//!
//! ```
//! use callgate_wire::{Codec, Message, Request, responses::Responses};
//!
//! let request = Request {
//!     model: "gpt-5.4".into(),
//!     messages: vec![Message::user("Hi").into()],
//!     ..Request::default()
//! };
//! let post = Responses::new().encode(&request, false);
//! assert_eq!(post.path, "/responses");
//! assert_eq!(
//!     String::from_utf8_lossy(&post.body),
//!     r#"{"model":"gpt-5.4","input":[{"role":"user","content":[{"type":"input_text","text":"Hi"}]}],"store":false,"include":["reasoning.encrypted_content"]}"#,
//! );
//! ```

mod decode;
mod encode;
mod input;
mod item;
mod model;
mod stream;
mod wire;

pub use model::searches_tools;

use crate::{
    Codec, HttpBody, ProviderError, Reply, Request, StreamDecoder, events::Stream, extra,
    finish::Asked, names::NameRule, sse,
};

/// The name under which this codec keeps opaque provider state.
const CODEC: &str = "responses";

/// The codec.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Responses {}

impl Responses {
    /// The codec.
    pub const fn new() -> Self {
        Self {}
    }
}

impl Codec for Responses {
    fn name(&self) -> &'static str {
        CODEC
    }

    fn encode(&self, request: &Request, stream: bool) -> HttpBody {
        let mut notes = Vec::new();
        let body = encode::body(request, stream, &mut notes);
        let body = extra::complete(CODEC, request, body.into(), &mut notes);
        HttpBody { path: "/responses".into(), body, headers: Vec::new(), notes }
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
