//! Google Gemini, `generateContent` of the developer API and of Vertex.
//!
//! - `encode`: a request's bytes; `contents`: the transcript; `model`: what differs by model;
//! - `wire`: what replies are made of; `decode`: a whole response; `stream`: events.
//!
//! A thought signature belongs to one part and goes back on that part, unmoved and unmerged, to the
//! model that made it. Calls of another model get Google's documented stand-in where a signature is
//! demanded. An id goes back only where the model gave one; without ids, results count by position.
//!
//! ```
//! use callgate_wire::{Codec, Message, Request, gemini::Gemini};
//!
//! let request = Request {
//!     model: "gemini-3-flash".into(),
//!     messages: vec![Message::user("Hi").into()],
//!     ..Request::default()
//! };
//! let post = Gemini::new().encode(&request, true);
//! assert_eq!(post.path, "/models/gemini-3-flash:streamGenerateContent?alt=sse");
//! assert_eq!(
//!     String::from_utf8_lossy(&post.body),
//!     r#"{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}"#,
//! );
//! ```

mod contents;
mod decode;
mod encode;
mod model;
mod parts;
mod stream;
mod wire;

use crate::{
    Codec, HttpBody, ProviderError, Reply, Request, StreamDecoder, events::Stream, extra,
    finish::Asked, names::NameRule, sse,
};

/// The name under which this codec keeps opaque provider state.
const CODEC: &str = "gemini";

/// The codec.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gemini {}

impl Gemini {
    /// The codec.
    pub const fn new() -> Self {
        Self {}
    }
}

impl Codec for Gemini {
    fn name(&self) -> &'static str {
        CODEC
    }

    fn encode(&self, request: &Request, stream: bool) -> HttpBody {
        let mut notes = Vec::new();
        let body = encode::body(request, &mut notes);
        let body = extra::complete(CODEC, request, body.into(), &mut notes);
        let model = &request.model;
        // Tuned models and those of a publisher bring a path of their own.
        let folder = if model.contains('/') { "" } else { "models/" };
        let method = if stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
        let path = format!("/{folder}{model}:{method}");
        HttpBody { path: path.into(), body, headers: Vec::new(), notes }
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
    Asked::new(request, CODEC, NameRule::Letter)
}
