//! What a server does that the protocol does not have.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use thiserror::Error;

use crate::text;

/// A message that breaks the protocol.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// A line on stdout that is no message: a log line, a banner, a stack trace.
    #[error("it wrote `{found}` where only messages may stand (logs go to stderr)")]
    Noise {
        /// Its beginning.
        found: String,
    },
    /// An object that is not JSON to its end.
    #[error("it sent a message that is not JSON: `{found}`")]
    NotJson {
        /// Its beginning.
        found: String,
    },
    /// Bytes that are no UTF-8 (invalid_utf8).
    #[error("it sent a message that is not UTF-8: `{found}`")]
    NotUtf8 {
        /// Its beginning.
        found: String,
    },
    /// JSON, but no JSON-RPC message.
    #[error("it sent something that is neither request, notification nor answer: `{found}`")]
    NotAMessage {
        /// Its beginning.
        found: String,
    },
    /// An answer with a result and an error.
    #[error("its answer holds a result and an error at once")]
    BothResultAndError,
    /// An answer to a request that nobody made.
    #[error("it sent an answer with the id {id}, which nobody asked for")]
    NobodyAsked {
        /// The id.
        id: String,
    },
    /// A message larger than allowed.
    #[error("it sent a message of more than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// The response stream ended without the answer.
    #[error("its response ended before the answer came")]
    NoAnswer,
    /// A result that has not the shape its method promises.
    #[error("its result for {method} cannot be used: {why}")]
    Result {
        /// The method.
        method: &'static str,
        /// What is wrong.
        why: String,
    },
}

/// A JSON-RPC error.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message} ({code})")]
pub struct RpcError {
    /// Its code; 0 where there was none.
    pub code: i64,
    /// Its words, cleaned and bounded.
    pub message: String,
    /// Its data as JSON text.
    pub data: Option<Arc<str>>,
}

impl RpcError {
    pub(in crate::mcp) fn read(raw: &RawValue) -> Self {
        #[derive(Deserialize)]
        struct Wire<'a> {
            #[serde(default)]
            code: Option<f64>,
            #[serde(default)]
            message: Option<String>,
            #[serde(borrow, default)]
            data: Option<&'a RawValue>,
        }
        match serde_json::from_str::<Wire<'_>>(raw.get()) {
            Ok(wire) => Self {
                // Codes are small; what is not saturates.
                #[allow(clippy::cast_possible_truncation)]
                code: wire.code.unwrap_or_default() as i64,
                message: wire.message.map_or_else(|| "without words".to_owned(), |m| words(&m)),
                data: wire.data.map(|data| data.get().into()),
            },
            Err(_) => Self { code: 0, message: excerpt(raw.get().as_bytes()), data: None },
        }
    }
}

/// A server's words, fit for a message.
pub(in crate::mcp) fn words(said: &str) -> String {
    text::ends(&text::without_traces(&text::clean(said)), text::QUOTED)
}

/// The beginning of something, for a message.
pub(in crate::mcp) fn excerpt(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(400)]);
    let text = text::clean(text.trim());
    let mut short: String = text.chars().take(120).collect();
    if short.len() < text.len() || bytes.len() > 400 {
        short.push('…');
    }
    short
}
