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
//! - [`Note`]: where a body departs from its request, so that nothing is emulated in silence.
//! - [`responses`], [`anthropic`], [`gemini`], [`ollama`]: these providers' own APIs.
//! - [`chat`]: OpenAI Chat Completions, as OpenAI and the compatible servers speak it.
//! - [`Prefix`]: what was written of a run's transcript, for its next request.
//! - [`names`]: tool names as a provider takes them, and back.
//! - [`sse`]: server-sent events, cut at any byte. [`TraceContext`]: which trace a request is in.
//! - [`inbound`]: the other side: what clients of three of these APIs send, and what they hear.
//!
//! What the codecs share is in private modules: `history` (a transcript made right for an API),
//! `offer` (tool choice and its emulation), `ids`, `raw` (JSON by its text), `failure`, `finish`
//! (the end of a reply), `events` (the end of a stream), `extra` (what only some can be told).
//!
//! Not here: judging arguments. A call's arguments are carried as the text that came, broken or
//! not; only `callgate_contract`'s gate says what they are worth.
#![forbid(unsafe_code)]

pub mod anthropic;
pub mod chat;
mod codec;
mod error;
mod events;
mod exchange;
mod extra;
mod failure;
mod finish;
pub mod gemini;
mod history;
mod ids;
pub mod inbound;
pub mod json;
mod lines;
pub mod names;
mod note;
mod offer;
pub mod ollama;
mod prefix;
mod raw;
mod reply;
mod request;
pub mod responses;
pub mod sse;
mod think;
mod trace;

pub use codec::{Codec, Delta, HttpBody, StreamDecoder};
pub use error::{ProviderError, ProviderErrorKind, Retry};
pub use exchange::{Body, Exchange};
pub use note::{Note, Unforced};
pub use prefix::Prefix;
pub use reply::{Reply, Stop, Usage};
pub use request::{
    AnswerFormat, AssistantPart, Extra, Message, Opaque, Part, Request, Sampling, ToolCall,
    ToolChoice, ToolDefinition, ToolResult,
};
pub use trace::{NoTraceparent, TraceContext};
