//! One keyword of OpenAPI's dialects, as 2020-12 has it.

use serde_json::{Map, Value, json};

use crate::{import::openapi::document::Notes, schema::keywords::KEYWORDS};

/// What stands below a keyword.
pub(super) enum Place {
    Schema,
    Map,
    List,
    /// No schema.
    Plain,
}

const SCHEMA: [&str; 11] = [
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
const MAP: [&str; 3] = ["dependentSchemas", "patternProperties", "properties"];
const LIST: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];

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

pub(super) fn place(word: &str, value: &Value) -> Place {
    let is_schema = value.is_object() || value.is_boolean();
    match word {
        word if SCHEMA.contains(&word) && is_schema => Place::Schema,
        word if MAP.contains(&word) && value.is_object() => Place::Map,
        word if LIST.contains(&word) && value.is_array() => Place::List,
        _ => Place::Plain,
    }
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
            let is_wrong = SCHEMA.contains(&word) || MAP.contains(&word) || LIST.contains(&word);
            if is_wrong {
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
