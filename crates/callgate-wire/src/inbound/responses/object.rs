//! The response object.

use std::sync::Arc;

use serde_json::value::RawValue;

use crate::{
    Usage,
    inbound::{Received, Stamp, json::Object},
};

/// What the object says beside its output, its status and its cost.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) stamp: Stamp,
    /// Fields of the request.
    fields: Vec<(&'static str, Arc<RawValue>)>,
}

/// Fields that are always there, with what they are unless the request says otherwise.
const DEFAULTS: [(&str, &str); 11] = [
    ("instructions", "null"),
    ("max_output_tokens", "null"),
    ("metadata", "{}"),
    ("parallel_tool_calls", "true"),
    ("reasoning", r#"{"effort":null,"summary":null}"#),
    ("temperature", "null"),
    ("text", r#"{"format":{"type":"text"}}"#),
    ("tool_choice", r#""auto""#),
    ("tools", "[]"),
    ("top_p", "null"),
    ("user", "null"),
];

impl Frame {
    pub(super) fn new(received: &Received, stamp: &Stamp) -> Self {
        Self { stamp: stamp.clone(), fields: received.echo.fields.clone() }
    }

    pub(super) fn id(&self) -> String {
        format!("resp_{}", self.stamp.id)
    }

    pub(super) fn write<'t>(
        &self,
        o: &mut Object<'_>,
        status: &str,
        incomplete: Option<&str>,
        output: impl IntoIterator<Item = &'t str>,
        usage: Option<&Usage>,
    ) {
        o.string("id", &self.id());
        o.string("object", "response");
        o.number("created_at", self.stamp.created);
        o.string("status", status);
        o.raw("background", "false");
        o.raw("error", "null");
        match incomplete {
            Some(reason) => o.object("incomplete_details", |o| o.string("reason", reason)),
            None => o.raw("incomplete_details", "null"),
        }
        o.string("model", &self.stamp.model);
        o.list("output", output);
        o.raw("previous_response_id", "null");
        o.raw("store", "false");
        o.string("truncation", "disabled");
        for (name, value) in &self.fields {
            o.raw(name, value.get());
        }
        for (name, value) in DEFAULTS {
            if !self.fields.iter().any(|(said, _)| *said == name) {
                o.raw(name, value);
            }
        }
        match usage {
            Some(usage) => o.object("usage", |o| self::usage(o, usage)),
            None => o.raw("usage", "null"),
        }
    }
}

fn usage(o: &mut Object<'_>, usage: &Usage) {
    o.number("input_tokens", usage.input_tokens);
    o.object("input_tokens_details", |o| o.number("cached_tokens", usage.cached_tokens));
    o.number("output_tokens", usage.output_tokens);
    o.object("output_tokens_details", |o| {
        o.number("reasoning_tokens", usage.reasoning_tokens);
    });
    o.number("total_tokens", usage.total());
}
