//! JSON-RPC messages: reading what a server wrote, writing what it is asked.
//!
//! Pure functions over texts. A message is opened one level deep; results and parameters stay the
//! bytes that came. What is broken is told with the request it belongs to wherever that can be
//! seen, so that the call which waits for it need not wait for its deadline.

mod fault;
mod sniff;
mod write;

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

pub use fault::{Fault, RpcError};
pub(super) use fault::{excerpt, words};
pub(super) use sniff::sniff_id;
pub(super) use write::{Members, notification, refusal, request, response};

/// A message that can be read.
#[derive(Debug)]
pub(super) enum Incoming<'a> {
    /// To a request of ours, or so it says.
    Answer { id: Id, body: Result<&'a RawValue, RpcError> },
    /// Something the server wants to know.
    Request { id: &'a RawValue, method: Cow<'a, str>, params: Option<&'a RawValue> },
    /// Something the server tells.
    Notification { method: Cow<'a, str>, params: Option<&'a RawValue> },
}

/// Whom an answer is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Id {
    /// Ours are whole numbers. `exact` is false where it came as `3.0` or `"3"`.
    Ours { number: u64, exact: bool },
    /// None, or `null`: an error about something the server could not read.
    None,
    /// Nothing we would send.
    Foreign(String),
}

impl Id {
    fn read(raw: Option<&RawValue>) -> Self {
        let Some(text) = raw.map(|raw| raw.get().trim()).filter(|text| *text != "null") else {
            return Self::None;
        };
        if let Ok(number) = text.parse() {
            return Self::Ours { number, exact: true };
        }
        let bare = text.trim_matches('"');
        // Some servers pass ids through a float, or through a text.
        let whole = bare
            .split_once('.')
            .map_or(bare, |(whole, rest)| if rest.bytes().all(|b| b == b'0') { whole } else { "" });
        match whole.parse() {
            Ok(number) => Self::Ours { number, exact: false },
            Err(_) => Self::Foreign(excerpt(text.as_bytes())),
        }
    }

    pub(super) fn number(&self) -> Option<u64> {
        match self {
            Self::Ours { number, .. } => Some(*number),
            _ => None,
        }
    }
}

/// A message that cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Broken {
    pub(super) fault: Fault,
    /// The request it answers, where that can be seen.
    pub(super) id: Option<u64>,
    /// Whether it was meant as an answer: then some request has lost its own.
    pub(super) is_answer: bool,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// `null` is a value here: a result of `null` is another thing than none.
pub(super) fn present<'de: 'a, 'a, D: Deserializer<'de>>(
    d: D,
) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(d).map(Some)
}

/// Reads one message.
pub(super) fn read(line: &[u8]) -> Result<Incoming<'_>, Broken> {
    let Ok(text) = std::str::from_utf8(line) else { return Err(not_utf8(line)) };
    let text = text.trim_start_matches('\u{feff}').trim();
    // A list would be read as the members in order.
    match serde_json::from_str::<Envelope<'_>>(text) {
        Ok(envelope) if text.starts_with('{') => open(envelope, text),
        _ => Err(not_json(text)),
    }
}

fn open<'a>(envelope: Envelope<'a>, text: &str) -> Result<Incoming<'a>, Broken> {
    let Envelope { id, method, params, result, error } = envelope;
    if let Some(method) = method {
        return Ok(match id {
            Some(id) if id.get() != "null" => Incoming::Request { id, method, params },
            _ => Incoming::Notification { method, params },
        });
    }
    let id = Id::read(id);
    let is_null = |raw: &&RawValue| raw.get() == "null";
    let body = match (result, error) {
        // Some write the one they do not mean as `null`.
        (Some(result), None) => Ok(result),
        (Some(result), Some(error)) if is_null(&error) => Ok(result),
        (None, Some(error)) => Err(RpcError::read(error)),
        (Some(result), Some(error)) if is_null(&result) => Err(RpcError::read(error)),
        (Some(_), Some(_)) => {
            let fault = Fault::BothResultAndError;
            return Err(Broken { fault, id: id.number(), is_answer: true });
        }
        (None, None) => {
            let fault = Fault::NotAMessage { found: excerpt(text.as_bytes()) };
            return Err(Broken { fault, id: id.number(), is_answer: id != Id::None });
        }
    };
    Ok(Incoming::Answer { id, body })
}

fn not_utf8(line: &[u8]) -> Broken {
    let text = String::from_utf8_lossy(line);
    let fault = Fault::NotUtf8 { found: excerpt(line) };
    match read(text.as_bytes()) {
        Ok(Incoming::Answer { id, .. }) => Broken { fault, id: id.number(), is_answer: true },
        Ok(_) => Broken { fault, id: None, is_answer: false },
        Err(broken) => Broken { fault, ..broken },
    }
}

fn not_json(text: &str) -> Broken {
    let found = excerpt(text.as_bytes());
    // A log line has lost its way; an object is a message that came apart.
    if !text.starts_with('{') {
        let fault = match serde_json::from_str::<serde::de::IgnoredAny>(text) {
            Ok(_) => Fault::NotAMessage { found },
            Err(_) => Fault::Noise { found },
        };
        return Broken { fault, id: None, is_answer: false };
    }
    let is_answer = text.contains("\"result\"") || text.contains("\"error\"");
    let id = sniff_id(text.as_bytes());
    let fault = match serde_json::from_str::<serde::de::IgnoredAny>(text) {
        Ok(_) => Fault::NotAMessage { found },
        Err(_) => Fault::NotJson { found },
    };
    Broken { fault, id, is_answer }
}

#[cfg(test)]
mod tests;
