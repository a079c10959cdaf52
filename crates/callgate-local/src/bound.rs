//! A tool's schema made into one that a small model can be held to.
//!
//! Every change narrows: what the grammar lets through, the schema lets through too. The gate judges
//! by the contract's schema afterwards, as it does any model.
//!
//! - Strings get a `maxLength`: a model that does not find its closing quote would never stop.
//! - Objects that list their properties get `additionalProperties: false`: small models invent
//!   members otherwise.

use serde_json::{Map, Value, json};

/// Characters of a string whose schema sets no limit, and the most where it sets a larger one. A
/// string that reaches it counts as cut ([`reached`]), never as meant.
pub(crate) const FREE_TEXT: u64 = 1200;

/// Keywords whose value is one schema.
const ONE: [&str; 6] = ["items", "contains", "additionalProperties", "propertyNames", "not", "if"];
/// Keywords whose value is a list of schemas.
const MANY: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
/// Keywords whose value is an object of schemas.
const NAMED: [&str; 4] = ["properties", "patternProperties", "$defs", "definitions"];
/// Keywords that speak about the same object from another place: closing the one would shut out
/// what the other admits.
const COMPOSED: [&str; 8] =
    ["allOf", "anyOf", "oneOf", "$ref", "if", "then", "else", "dependentSchemas"];

/// The schema with every string bounded and every plain object closed.
pub(crate) fn bounded(mut schema: Value) -> Value {
    let referenced_in_part = mentions_partial_reference(&schema);
    walk(&mut schema, Closing { here: true, definitions: !referenced_in_part });
    schema
}

/// Whether some string ran into [`FREE_TEXT`].
pub(crate) fn reached(value: &Value) -> bool {
    match value {
        Value::String(text) => text.chars().count() as u64 >= FREE_TEXT,
        Value::Array(items) => items.iter().any(reached),
        Value::Object(members) => members.values().any(reached),
        _ => false,
    }
}

/// Where objects may be closed.
#[derive(Clone, Copy)]
struct Closing {
    here: bool,
    definitions: bool,
}

fn walk(schema: &mut Value, closing: Closing) {
    let Some(object) = schema.as_object_mut() else { return };
    let composed = COMPOSED.iter().any(|keyword| object.contains_key(*keyword));
    let lists_properties = object.get("properties").is_some_and(Value::is_object);
    if closing.here && lists_properties && !composed && !object.contains_key("patternProperties") {
        object.entry("additionalProperties").or_insert(Value::Bool(false));
    }
    if is_string(object) {
        // A minimum beyond our bound keeps its right to be met.
        let least = object.get("minLength").and_then(Value::as_u64).unwrap_or(0);
        let most = FREE_TEXT.max(least);
        let limit = object.get("maxLength").and_then(Value::as_u64).unwrap_or(most);
        object.insert("maxLength".to_owned(), json!(limit.min(most)));
    }
    for (keyword, value) in object.iter_mut() {
        let keyword = keyword.as_str();
        let inner = match keyword {
            // Members of allOf see each other's properties; branches see their parent's.
            "allOf" | "not" | "if" => Closing { here: false, ..closing },
            "anyOf" | "oneOf" => Closing { here: closing.here && !lists_properties, ..closing },
            "$defs" | "definitions" => Closing { here: closing.definitions, ..closing },
            _ => Closing { here: true, ..closing },
        };
        if ONE.contains(&keyword) {
            // Narrowing what must not match would widen the whole.
            if keyword != "not" && keyword != "if" {
                walk(value, inner);
            }
        } else if MANY.contains(&keyword) {
            value.as_array_mut().into_iter().flatten().for_each(|schema| walk(schema, inner));
        } else if NAMED.contains(&keyword) {
            value.as_object_mut().into_iter().flatten().for_each(|(_, schema)| walk(schema, inner));
        }
    }
}

fn is_string(schema: &Map<String, Value>) -> bool {
    let fixed = schema.contains_key("enum") || schema.contains_key("const");
    let named = match schema.get("type") {
        Some(Value::String(name)) => name == "string",
        Some(Value::Array(names)) => names.iter().any(|name| name == "string"),
        _ => schema.contains_key("pattern") || schema.contains_key("format"),
    };
    // A format has a length of its own, and the grammar of most formats takes no limit beside it.
    named && !fixed && !schema.contains_key("format")
}

/// Whether a `$ref` stands inside `allOf` or beside other keywords: then a definition is one part of
/// an object, and must stay open.
fn mentions_partial_reference(schema: &Value) -> bool {
    fn look(value: &Value, in_all_of: bool) -> bool {
        match value {
            Value::Object(object) => {
                let partial = object.contains_key("$ref") && (in_all_of || object.len() > 1);
                let annotations_only = object
                    .keys()
                    .all(|k| matches!(k.as_str(), "$ref" | "description" | "title" | "default"));
                (partial && (in_all_of || !annotations_only))
                    || object.iter().any(|(keyword, value)| look(value, keyword == "allOf"))
            }
            Value::Array(items) => items.iter().any(|item| look(item, in_all_of)),
            _ => false,
        }
    }
    look(schema, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "the table reads better")]
    fn becomes(schema: Value, expected: Value) {
        assert_eq!(bounded(schema), expected);
    }

    #[test]
    fn strings_are_bounded() {
        becomes(json!({"type": "string"}), json!({"type": "string", "maxLength": FREE_TEXT}));
        becomes(
            json!({"type": "string", "maxLength": 9}),
            json!({"type": "string", "maxLength": 9}),
        );
        becomes(
            json!({"type": "string", "maxLength": 99999}),
            json!({"type": "string", "maxLength": FREE_TEXT}),
        );
        becomes(
            json!({"type": ["string", "null"]}),
            json!({"type": ["string", "null"], "maxLength": FREE_TEXT}),
        );
        becomes(
            json!({"type": "array", "items": {"type": "string", "minLength": 5000}}),
            json!({"type": "array", "items": {"type": "string", "minLength": 5000, "maxLength": 5000}}),
        );
        for untouched in [
            json!({"enum": ["a", "b"]}),
            json!({"type": "string", "const": "a"}),
            json!({"type": "string", "format": "date"}),
            json!({"type": "integer"}),
            json!(true),
        ] {
            becomes(untouched.clone(), untouched);
        }
    }

    #[test]
    fn plain_objects_are_closed() {
        becomes(
            json!({"type": "object", "properties": {"n": {"type": "integer"}}}),
            json!({"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": false}),
        );
        becomes(
            json!({"oneOf": [{"properties": {"a": {"type": "integer"}}}]}),
            json!({"oneOf": [{"properties": {"a": {"type": "integer"}}, "additionalProperties": false}]}),
        );
        for open in [
            json!({"type": "object"}),
            json!({"type": "object", "properties": {}, "additionalProperties": {"type": "integer"}}),
            json!({"properties": {"a": {"type": "integer"}}, "anyOf": [{"properties": {"b": {"type": "integer"}}}]}),
            json!({"allOf": [{"properties": {"a": {"type": "integer"}}}, {"properties": {"b": {"type": "integer"}}}]}),
            json!({"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"properties": {"b": {"type": "integer"}}}}}),
        ] {
            becomes(open.clone(), open);
        }
    }

    #[test]
    fn a_string_at_the_bound_was_cut() {
        let long = "é".repeat(FREE_TEXT as usize);
        assert!(reached(&json!({"a": [long]})));
        assert!(!reached(&json!({"a": ["short"], "n": 1})));
    }
}
