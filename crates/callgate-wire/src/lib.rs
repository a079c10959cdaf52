//! How does a model hear and speak?
//!
//! A [`Request`] and a [`Reply`] say what every provider API says, in one neutral form. A
//! [`Codec`] turns a request into the bytes of one provider and that provider's bytes into a reply.
//! Everything here is sans-I/O: bytes in, values out, no socket, no clock, no runtime.
//!
//! - [`Request`]: transcript, tools, [`ToolChoice`], parallel control, answer format.
//! - [`Reply`]: text, calls and opaque provider state in the order they came, why it ended
//!   ([`Stop`]), what it cost ([`Usage`]).
//! - [`ProviderError`]: what went wrong, as a closed kind with [`Retry`] advice.
//! - [`chat`]: OpenAI Chat Completions, as OpenAI and the compatible servers speak it.
//! - [`sse`]: server-sent events, cut at any byte.
//!
//! Not here: judging arguments. A call's arguments are carried as the text that came, broken or
//! not; only `callgate_contract`'s gate says what they are worth.
#![forbid(unsafe_code)]

pub mod chat;
mod codec;
mod error;
mod reply;
mod request;
pub mod sse;

pub use codec::{Codec, Delta, HttpBody, StreamDecoder};
pub use error::{ProviderError, ProviderErrorKind, Retry};
pub use reply::{Reply, Stop, Usage};
pub use request::{
    AnswerFormat, AssistantPart, Message, Opaque, Part, Request, ToolCall, ToolChoice,
    ToolDefinition, ToolResult,
};
