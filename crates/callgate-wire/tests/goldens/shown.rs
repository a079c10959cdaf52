//! Bodies and replies as text that a person reads, no digit changed.

use std::fmt::Write as _;

use callgate_wire::{AssistantPart, Delta, HttpBody, ProviderError, Reply, Stop};
use serde::{Deserialize, Deserializer, de};
use serde_json::value::RawValue;

/// An object's fields in order, each value as its text.
struct Fields(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> de::Visitor<'de> for Entries {
            type Value = Fields;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    fields.push(entry);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// A body, a line for each field and for each element of a list, then its notes.
pub(crate) fn body(post: &HttpBody) -> String {
    let mut out = format!("POST {}\n", post.path);
    for (name, value) in &post.headers {
        writeln!(out, "{name}: {value}").unwrap();
    }
    let fields: Fields = serde_json::from_slice(&post.body).unwrap();
    for (key, value) in fields.0 {
        match serde_json::from_str::<Vec<Box<RawValue>>>(value.get()) {
            Ok(items) => {
                for item in items {
                    writeln!(out, "  {key}[] {item}").unwrap();
                }
            }
            Err(_) => writeln!(out, "  {key} {value}").unwrap(),
        }
    }
    for note in &post.notes {
        writeln!(out, "  note {}", serde_json::to_string(note).unwrap()).unwrap();
    }
    out
}

/// A reply, a line for each part, or its error.
pub(crate) fn reply(reply: &Result<Reply, ProviderError>) -> String {
    let reply = match reply {
        Ok(reply) => reply,
        Err(error) => return format!("error {}\n", serde_json::to_string(error).unwrap()),
    };
    let mut out = String::new();
    for part in &reply.content {
        let line = match part {
            AssistantPart::Text { text } => format!("text {text:?}"),
            AssistantPart::Reasoning { text, opaque } => {
                let opaque = opaque.as_ref().map_or(String::new(), |own| format!(" {}", own.json));
                format!("reasoning {text:?}{opaque}")
            }
            AssistantPart::Call(call) => {
                let own = call.opaque.as_ref();
                let own = own.map_or(String::new(), |own| format!(" {}", own.json));
                format!("call {} {}({}){own}", call.id, call.name, call.arguments)
            }
            AssistantPart::Opaque(opaque) => format!("opaque {}", opaque.json),
        };
        writeln!(out, "{line}").unwrap();
    }
    if reply.stop != Stop::End {
        writeln!(out, "stop {:?}", reply.stop).unwrap();
    }
    let usage = reply.usage;
    writeln!(
        out,
        "usage in {} (cached {}) out {} (reasoning {})",
        usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.reasoning_tokens
    )
    .unwrap();
    if let Some(model) = &reply.model {
        writeln!(out, "model {model}").unwrap();
    }
    out
}

pub(crate) fn deltas(deltas: &[Delta]) -> String {
    let mut out = String::new();
    for delta in deltas {
        match delta {
            Delta::State(
                AssistantPart::Reasoning { opaque: Some(own), .. } | AssistantPart::Opaque(own),
            ) => writeln!(out, "~ State({})", own.json).unwrap(),
            _ => writeln!(out, "~ {delta:?}").unwrap(),
        }
    }
    out
}
