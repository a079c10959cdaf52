//! The seam between neutral values and one provider's bytes.

use std::borrow::Cow;

use bytes::Bytes;

use crate::{AssistantPart, Note, ProviderError, Reply, Request};

/// What to post, and where below the provider's base URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpBody {
    /// Path below the base URL, such as `/chat/completions`, and a query where one is needed.
    pub path: Cow<'static, str>,
    /// JSON.
    pub body: Bytes,
    /// Headers of the API itself, such as its version; credentials are the endpoint's.
    pub headers: Vec<(&'static str, &'static str)>,
    /// Where the body departs from what the request says (law 11).
    pub notes: Vec<Note>,
}

/// One provider API.
pub trait Codec: Send + Sync {
    /// Its name: `chat`, `responses`, `anthropic`, `gemini`, `ollama`. Opaque state and
    /// [extra fields](crate::Extra) are marked with it.
    fn name(&self) -> &'static str;

    /// The body of a request, whole or streamed.
    fn encode(&self, request: &Request, stream: bool) -> HttpBody;

    /// A whole response. `retry_after_ms` is what the headers ask for.
    ///
    /// # Errors
    /// Any status but 2xx, an error object in a 2xx body, or a body of no known shape.
    fn decode(
        &self,
        request: &Request,
        status: u16,
        retry_after_ms: Option<u64>,
        body: &[u8],
    ) -> Result<Reply, ProviderError>;

    /// A decoder for one streamed response of this request.
    fn stream(&self, request: &Request) -> Box<dyn StreamDecoder>;
}

/// A streamed response on its way to a [`Reply`].
///
/// Law 6: the same bytes give the same deltas and the same reply, wherever they are cut.
pub trait StreamDecoder: Send {
    /// Takes the next bytes, of any length, and appends what they complete.
    fn push(&mut self, bytes: &[u8], out: &mut Vec<Delta>);

    /// Whether the reply has ended, so that nobody needs to wait for the connection to close.
    fn is_done(&self) -> bool;

    /// Whether the reason why the reply ended has come, so that what may still follow (usage, an
    /// end marker) is worth a short wait only: some servers keep the connection open.
    fn is_ending(&self) -> bool {
        self.is_done()
    }

    /// The end of the stream, by its marker or by the connection's end.
    ///
    /// # Errors
    /// An error object within the stream, or a stream that stopped before the reply did
    /// (`StreamIncomplete`; what came until then must not run).
    fn finish(&mut self, out: &mut Vec<Delta>) -> Result<Reply, ProviderError>;
}

/// What can be shown while a reply is still coming.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    /// More text.
    Text(String),
    /// More reasoning.
    Reasoning(String),
    /// A call has a name; its arguments are still coming.
    Call {
        /// Position among this reply's calls.
        index: usize,
        /// The name as it came.
        name: String,
    },
    /// Reasoning of which the deltas are all there, with its signed or encrypted form, or state
    /// without a neutral meaning, where it came: for those who speak a provider's API themselves.
    /// Nothing to show. Only of APIs that say it in place; from others it is in the reply.
    State(AssistantPart),
}
