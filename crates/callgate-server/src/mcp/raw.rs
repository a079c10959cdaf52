//! Digits on the wire: JSON text past a library that reads numbers as floats.
//!
//! rmcp parses messages into `serde_json::Value`, where an integer beyond 64 bits becomes a float
//! and `1.10` becomes `1.1`. Reading every number in the process as text instead
//! (`arbitrary_precision`) would change what equality and validation mean in every crate, so two
//! texts go round it here:
//!
//! - in: the text of `params.arguments` of a `tools/call` is cut out of the message before rmcp
//!   parses it, and travels beside the request as [`RawArguments`];
//! - out: a structured result travels as one string under a [`Marker`], and the text it holds is
//!   put in its place when the message is written.

use std::{borrow::Cow, sync::Arc};

use rmcp::{RoleServer, model::Extensions, service::RequestContext};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::{ServeError, random};

/// The arguments of a `tools/call` as they were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawArguments(pub(crate) Arc<str>);

/// As much of a message as has to be known before rmcp reads it.
#[derive(Deserialize)]
pub(crate) struct Head<'m> {
    #[serde(borrow)]
    method: Cow<'m, str>,
    #[serde(borrow, default)]
    params: Option<&'m RawValue>,
}

impl<'m> Head<'m> {
    /// The head of a request or a notification.
    pub(crate) fn of(message: &'m [u8]) -> Option<Self> {
        serde_json::from_slice(message).ok()
    }

    pub(crate) fn is_initialize(&self) -> bool {
        self.method == "initialize"
    }

    pub(crate) fn is_call(&self) -> bool {
        self.method == "tools/call"
    }
}

impl RawArguments {
    /// The arguments in a message; nothing where it is no `tools/call` with arguments.
    pub(crate) fn of_message(head: &Head<'_>) -> Option<Self> {
        #[derive(Deserialize)]
        struct Params<'a> {
            #[serde(borrow)]
            arguments: &'a RawValue,
        }
        let params = head.params.filter(|_| head.is_call())?;
        let params: Params<'_> = serde_json::from_str(params.get()).ok()?;
        Some(Self(params.arguments.get().into()))
    }

    /// The arguments that travel with a request.
    pub(crate) fn of_request(context: &RequestContext<RoleServer>) -> Option<Self> {
        Self::of_extensions(&context.extensions)
    }

    pub(crate) fn of_extensions(extensions: &Extensions) -> Option<Self> {
        // Over HTTP they are in the request's parts, which rmcp hands on.
        let parts = extensions.get::<http::request::Parts>();
        let found = parts.and_then(|parts| parts.extensions.get::<Self>());
        found.or_else(|| extensions.get::<Self>()).cloned()
    }
}

/// Marks strings of ours that hold JSON text. Unguessable, so that no result of a tool can pass
/// for one.
#[derive(Debug, Clone)]
pub(crate) struct Marker(Arc<str>);

impl Marker {
    pub(crate) fn new() -> Result<Self, ServeError> {
        let mut text = String::from("callgate-raw-");
        for byte in random::<16>()? {
            text.push_str(&format!("{byte:02x}"));
        }
        Ok(Self(text.into()))
    }

    /// JSON text as a value that [`splice`](Self::splice) puts back.
    ///
    /// An object stays an object in form, since rmcp leaves anything else out of what a legacy
    /// client gets.
    pub(crate) fn wrap(&self, json: &str) -> Value {
        // A line break between tokens would end the line of the transport.
        let text: String =
            json.chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }).collect();
        if text.trim_start().starts_with('{') {
            json!({ &*self.0: text })
        } else {
            Value::String(format!("{}{text}", self.0))
        }
    }

    /// A message with every wrapped text in its place.
    pub(crate) fn splice<'m>(&self, message: &'m [u8]) -> Cow<'m, [u8]> {
        let quoted = format!("\"{}", self.0);
        if memchr::memmem::find(message, quoted.as_bytes()).is_none() {
            return Cow::Borrowed(message);
        }
        let mut out = Vec::with_capacity(message.len());
        let mut rest = message;
        while let Some(at) = memchr::memmem::find(rest, quoted.as_bytes()) {
            let Some((start, text, end)) = self.wrapped_at(rest, at) else {
                // Not of our making: left as it is.
                out.extend_from_slice(&rest[..at + quoted.len()]);
                rest = &rest[at + quoted.len()..];
                continue;
            };
            out.extend_from_slice(&rest[..start]);
            out.extend_from_slice(text.as_bytes());
            rest = &rest[end..];
        }
        out.extend_from_slice(rest);
        Cow::Owned(out)
    }

    /// Where the wrapping around a marker begins and ends, and the text in it.
    fn wrapped_at(&self, message: &[u8], at: usize) -> Option<(usize, String, usize)> {
        let first = first_string(&message[at..])?;
        if first.text != *self.0 {
            let text = first.text.strip_prefix(&*self.0)?.to_owned();
            return Some((at, text, at + first.len));
        }
        // `{"MARKER":"…"}`, as serde_json writes it.
        let value = at + first.len + 1;
        let opens = at.checked_sub(1).filter(|open| message[*open] == b'{')?;
        if message.get(value - 1) != Some(&b':') {
            return None;
        }
        let second = first_string(message.get(value..)?)?;
        let close = value + second.len;
        (message.get(close) == Some(&b'}')).then_some((opens, second.text, close + 1))
    }
}

struct Quoted {
    text: String,
    len: usize,
}

/// The JSON string that a text begins with.
fn first_string(text: &[u8]) -> Option<Quoted> {
    let mut strings = serde_json::Deserializer::from_slice(text).into_iter::<String>();
    let text = strings.next()?.ok()?;
    Some(Quoted { text, len: strings.byte_offset() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: &str = r#"{"id":123456789012345678901234567890,"p":1.10,"e":1E+2,"u":18446744073709551615,"s":"a\"}\u00e9"}"#;

    #[test]
    fn arguments_are_cut_out_verbatim() {
        let message = |params: &str| {
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#)
        };
        let rows = [
            (message(&format!(r#"{{"name":"t","arguments":{LONG}}}"#)), Some(LONG)),
            (message(r#"{"name":"t","arguments": [1.0] }"#), Some("[1.0]")),
            (message(r#"{"name":"t","arguments":"x"}"#), Some("\"x\"")),
            (message(r#"{"name":"t"}"#), None),
            // Two of them: which one is meant is not for us to say.
            (message(r#"{"name":"t","arguments":{},"arguments":{"a":1}}"#), None),
            (r#"{"method":"tools/list","params":{"arguments":{}}}"#.to_owned(), None),
            ("[1,".to_owned(), None),
        ];
        for (message, expected) in rows {
            let found = Head::of(message.as_bytes()).and_then(|h| RawArguments::of_message(&h));
            assert_eq!(found.as_ref().map(|raw| &*raw.0), expected, "{message}");
        }
    }

    #[test]
    fn wrapped_texts_come_back_verbatim() {
        let marker = Marker::new().unwrap();
        for text in [LONG, "123456789012345678901234567890", "[1.0, 1.10]", "\"x\"", "null", "{}"] {
            let message =
                json!({ "result": { "structuredContent": marker.wrap(text), "b": [1, "{}"] } });
            let sent = message.to_string();
            let expected = format!(r#"{{"result":{{"structuredContent":{text},"b":[1,"{{}}"]}}}}"#);
            assert_eq!(String::from_utf8_lossy(&marker.splice(sent.as_bytes())), expected);
        }
        let lines = marker.wrap("{\n  \"a\": 1\r\n}").to_string();
        assert_eq!(&*marker.splice(lines.as_bytes()), b"{   \"a\": 1  }");
    }

    #[test]
    fn what_only_looks_wrapped_is_left_alone() {
        let marker = Marker::new().unwrap();
        let other = Marker::new().unwrap();
        for message in [
            other.wrap("{\"a\":1}").to_string(),
            format!("{{\"{}\":1}}", marker.0),
            format!("\"{}", marker.0),
            format!("[\"{}\"]", marker.0),
            "{}".to_owned(),
        ] {
            assert_eq!(&*marker.splice(message.as_bytes()), message.as_bytes());
        }
    }
}
