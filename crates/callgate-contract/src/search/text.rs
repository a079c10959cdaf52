//! What of a tool is read in.

use serde_json::Value;

use super::words::stems;
use crate::Tool;

/// A part of a tool's contract, and what a word in it is worth.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub(super) weight: f32,
    /// How much a word loses in a long text: 0 nothing, 1 in proportion.
    pub(super) by_length: f32,
}

/// Name, description, parameters' names, parameters' descriptions and values, example requests.
pub(super) const FIELDS: [Field; 5] = [
    Field { weight: 3.0, by_length: 0.4 },
    Field { weight: 1.2, by_length: 0.6 },
    Field { weight: 0.8, by_length: 0.5 },
    Field { weight: 0.3, by_length: 0.5 },
    Field { weight: 1.2, by_length: 0.3 },
];

/// Words of one field that are read; a longer text says nothing new.
const MOST: usize = 600;

/// How deep parameters are looked for in parameters.
const DEPTH: usize = 4;

/// The stems of each field, in their order.
pub(super) fn fields(tool: &Tool) -> [Vec<String>; FIELDS.len()] {
    let (mut names, mut about) = (Vec::new(), Vec::new());
    parameters(tool.input.value(), DEPTH, &mut names, &mut about);
    let requests = tool.examples.iter().filter_map(|example| example.request.as_deref());
    [
        stems(&tool.name),
        bounded(stems(&tool.description)),
        names,
        about,
        bounded(requests.flat_map(stems).collect()),
    ]
}

fn bounded(mut words: Vec<String>) -> Vec<String> {
    words.truncate(MOST);
    words
}

/// Walks a schema without following references: what stands there is what is read.
fn parameters(schema: &Value, depth: usize, names: &mut Vec<String>, about: &mut Vec<String>) {
    if depth == 0 || names.len() > MOST || about.len() > MOST {
        return;
    }
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        for (name, property) in properties {
            names.extend(stems(name));
            if let Some(text) = property.get("description").and_then(Value::as_str) {
                about.extend(stems(text));
            }
            let values = property.get("enum").and_then(Value::as_array).into_iter().flatten();
            about.extend(values.filter_map(Value::as_str).flat_map(stems));
            parameters(property, depth - 1, names, about);
        }
    }
    if let Some(items) = schema.get("items") {
        parameters(items, depth - 1, names, about);
    }
    for word in ["anyOf", "oneOf", "allOf"] {
        for branch in schema.get(word).and_then(Value::as_array).into_iter().flatten() {
            parameters(branch, depth - 1, names, about);
        }
    }
}
