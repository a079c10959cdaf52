//! The provider's side of three APIs: what a client's library sends, and what it wants to hear.
//!
//! The mirror of the codecs, sans-I/O like them. An [`Inbound`] reads the body of a request into a
//! [`Received`], whose [`Request`](crate::Request) any [`Codec`](crate::Codec) can send on, and
//! writes a neutral [`Reply`] back as that provider would, whole or as server-sent events. There
//! is no clock and no randomness here: the time and the seed of all ids are in the [`Stamp`].
//!
//! - [`Dialect`]: which API, its paths and its reader;
//! - [`Received`]: a request, and what its answer must echo;
//! - [`Misread`]: what in a body cannot be served, and what to do about it;
//! - [`Refusal`]: any failure, as it is told to a client;
//! - `chat`, `responses`, `messages`: the three, each a room with `read`, `write` and `stream`;
//! - `body`, `parts`, `sealed`: what they share: fields by name and path, images, state of other
//!   providers on its way through a client.
//!
//! Nothing that a client asks for is dropped in silence. What has a neutral meaning is read; what
//! has none goes as [`Extra`](crate::Extra) to the same provider's codec, word for word, and is a
//! [`Note`](crate::Note) with every other; what would change the answer and cannot be had is a
//! [`Misread`].
//!
//! ```
//! use callgate_wire::inbound::{Dialect, Stamp};
//! use callgate_wire::{AssistantPart, Reply, Stop, Usage};
//!
//! let body = br#"{"model":"openai:gpt-5.4","messages":[{"role":"user","content":"Hi"}]}"#;
//! let inbound = Dialect::Chat.inbound();
//! let received = inbound.read(body)?;
//! assert_eq!(&*received.request.model, "openai:gpt-5.4");
//!
//! let text = AssistantPart::Text { text: "Hello.".into() };
//! let reply = Reply {
//!     content: vec![text],
//!     stop: Stop::End,
//!     usage: Usage::default(),
//!     model: None,
//!     notes: Vec::new(),
//! };
//! let stamp = Stamp { id: "1".into(), created: 1_796_000_000, model: "openai:gpt-5.4".into() };
//! let written = String::from_utf8(inbound.reply(&received, &reply, &stamp)).unwrap();
//! assert!(written.contains(r#""content":"Hello.""#), "{written}");
//! # Ok::<(), callgate_wire::inbound::Misread>(())
//! ```

mod body;
mod chat;
mod json;
mod messages;
mod misread;
mod parts;
mod received;
mod refusal;
mod responses;
mod sealed;
mod tools;

pub use misread::Misread;
pub use received::{Received, Stamp};
pub use refusal::{Refusal, RefusalKind};

use crate::{AssistantPart, Delta, Reply, ToolCall};

/// The API that a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// OpenAI Chat Completions.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Messages,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Chat, Self::Responses, Self::Messages];

    /// Where clients post to, below the server's root.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Responses => "/v1/responses",
            Self::Messages => "/v1/messages",
        }
    }

    /// The [name](crate::Codec::name) of the codec that speaks the same API: with it, what only
    /// this provider knows goes through as it is.
    pub const fn codec(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Messages => "anthropic",
        }
    }

    /// Its reader and writer.
    pub fn inbound(self) -> &'static dyn Inbound {
        match self {
            Self::Chat => &chat::Chat,
            Self::Responses => &responses::Responses,
            Self::Messages => &messages::Messages,
        }
    }
}

/// One API, from the provider's side.
pub trait Inbound: Send + Sync {
    /// A request's body.
    ///
    /// # Errors
    /// No JSON, a field of the wrong shape, or something that cannot be served; status 400.
    fn read(&self, body: &[u8]) -> Result<Received, Misread>;

    /// A whole response. Calls in the reply are written as they are: only admitted ones may be in
    /// it.
    fn reply(&self, received: &Received, reply: &Reply, stamp: &Stamp) -> Vec<u8>;

    /// A writer for a streamed response.
    fn stream(&self, received: &Received, stamp: &Stamp) -> Box<dyn StreamWriter>;

    /// The status and body of a failure, before anything else was sent.
    fn refuse(&self, refusal: &Refusal) -> (u16, Vec<u8>);
}

/// A streamed response on its way to the client, as the bytes of server-sent events.
///
/// The order is: any deltas and calls, then one of `finish` and `fail`; nothing is written after
/// these. The events that open the stream come with whatever is first.
pub trait StreamWriter: Send {
    /// Text and reasoning, at once. A call that is only begun is not written: calls are held until
    /// they are judged.
    fn delta(&mut self, delta: &Delta, out: &mut Vec<u8>);

    /// An admitted call, whole.
    fn call(&mut self, call: &ToolCall, out: &mut Vec<u8>);

    /// The end: why the reply ended, what it cost, the end marker. What of the reply's text,
    /// reasoning and state had to be written came by [`delta`](Self::delta), its calls by
    /// [`call`](Self::call): for a model that does not stream there is [`whole`](Self::whole).
    fn finish(&mut self, reply: &Reply, out: &mut Vec<u8>);

    /// A failure after the stream has begun, as the provider would tell it, and the end.
    fn fail(&mut self, refusal: &Refusal, out: &mut Vec<u8>);

    /// Something for the connection to carry that says nothing.
    fn keep_alive(&mut self, out: &mut Vec<u8>);

    /// A whole reply, of a model that does not stream: all of it and the end.
    fn whole(&mut self, reply: &Reply, out: &mut Vec<u8>) {
        for part in &reply.content {
            match part {
                AssistantPart::Text { text } => self.delta(&Delta::Text((**text).into()), out),
                AssistantPart::Reasoning { text, opaque } => {
                    if !text.is_empty() {
                        self.delta(&Delta::Reasoning((**text).into()), out);
                    }
                    if opaque.is_some() {
                        self.delta(&Delta::State(part.clone()), out);
                    }
                }
                AssistantPart::Opaque(_) => self.delta(&Delta::State(part.clone()), out),
                AssistantPart::Call(call) => self.call(call, out),
            }
        }
        self.finish(reply, out);
    }
}
