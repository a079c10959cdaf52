//! One keyword of OpenAPI's dialects, as 2020-12 has it.

use serde_json::{Map, Value, json};

use crate::{
    import::openapi::document::Notes,
    schema::{Position, keywords::KEYWORDS, position_below},
};

/// Said elsewhere, or only of use to people who read the document.
const QUIET: [&str; 9] = [
    "externalDocs",
    "xml",
    "nullable",
    "readOnly",
    "writeOnly",
    "$comment",
    "$schema",
    "$defs",
    "definitions",
];

/// Of 2020-12, but about other documents or other schemas than a contract has.
const FOREIGN: [&str; 11] = [
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$recursiveAnchor",
    "$recursiveRef",
    "$ref",
    "$vocabulary",
    "additionalItems",
    "dependencies",
    "id",
];

/// What stands below a keyword, where it is what has to stand there.
pub(super) fn place(word: &str, value: &Value) -> Option<Position> {
    if QUIET.contains(&word) || FOREIGN.contains(&word) {
        return None;
    }
    let position = position_below(word, value)?;
    let fits = match position {
        Position::Schema => value.is_object() || value.is_boolean(),
        Position::Map => value.is_object(),
        // A list of `items` is of dialects that OpenAPI never had.
        Position::List => value.is_array() && word != "items",
    };
    fits.then_some(position)
}

/// The keyword and value in 2020-12, if it has one.
pub(super) fn plain<'w>(
    word: &'w str,
    value: &Value,
    beside: &Map<String, Value>,
    at: &str,
    notes: &mut Notes,
) -> Option<(&'w str, Value)> {
    let excludes = |word: &str| beside.get(word) == Some(&Value::Bool(true));
    match word {
        "minimum" if excludes("exclusiveMinimum") => Some(("exclusiveMinimum", value.clone())),
        "maximum" if excludes("exclusiveMaximum") => Some(("exclusiveMaximum", value.clone())),
        "exclusiveMinimum" | "exclusiveMaximum" if value.is_boolean() => None,
        "example" if !beside.get("examples").is_some_and(Value::is_array) => {
            Some(("examples", json!([value])))
        }
        "example" => None,
        // OpenAPI's own examples, by name.
        "examples" if !value.is_array() => None,
        "discriminator" => {
            notes.add(at, "discriminator dropped: the branches say which is which");
            None
        }
        // `true` on a property, as draft-03 had it.
        "required" if value.is_boolean() => {
            notes.add(at, "`required` is a list of names in the object around: dropped");
            None
        }
        "type" if value == "file" => {
            notes.add(at, "`file` is no JSON type: a string is taken");
            Some(("type", json!("string")))
        }
        word if QUIET.contains(&word) || word.starts_with("x-") => None,
        "$ref" => None,
        word if FOREIGN.contains(&word) => {
            notes.add(at, format!("`{word}` dropped"));
            None
        }
        word if KEYWORDS.contains(&word) => {
            if position_below(word, value).is_some() {
                notes.add(at, format!("`{word}` has a value that it cannot have: dropped"));
                return None;
            }
            Some((word, value.clone()))
        }
        word => {
            notes.add(at, format!("`{word}` is no keyword of JSON Schema: dropped"));
            None
        }
    }
}
