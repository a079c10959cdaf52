//! Where in a schema document the subschemas are.

use serde_json::Value;

use crate::document::push_token;

/// What stands at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    /// A schema.
    Schema,
    /// A map from names to schemas.
    Map,
    /// A list of schemas.
    List,
}

/// Keywords whose value is one schema.
const SCHEMA: &[&str] = &[
    "additionalItems",
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

/// Keywords whose value maps names to schemas.
const MAP: &[&str] = &[
    "$defs",
    "definitions",
    "dependencies",
    "dependentSchemas",
    "patternProperties",
    "properties",
];

/// Keywords whose value is a list of schemas.
const LIST: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems"];

/// What stands below a keyword, if schemas do.
pub(crate) fn position_below(keyword: &str, value: &Value) -> Option<Position> {
    match keyword {
        // draft-07 and older: a list of schemas by position.
        "items" if value.is_array() => Some(Position::List),
        k if SCHEMA.contains(&k) => Some(Position::Schema),
        k if MAP.contains(&k) => Some(Position::Map),
        k if LIST.contains(&k) => Some(Position::List),
        _ => None,
    }
}

/// Visits every subschema with its JSON Pointer, outermost first.
pub(crate) fn walk<'v>(schema: &'v Value, visit: &mut impl FnMut(&str, &'v Value)) {
    step(schema, Position::Schema, &mut String::new(), visit);
}

fn step<'v>(
    value: &'v Value,
    position: Position,
    pointer: &mut String,
    visit: &mut impl FnMut(&str, &'v Value),
) {
    let depth = pointer.len();
    match (position, value) {
        (Position::Schema, Value::Object(keywords)) => {
            visit(pointer, value);
            for (keyword, below) in keywords {
                if let Some(position) = position_below(keyword, below) {
                    push_token(pointer, keyword);
                    step(below, position, pointer, visit);
                    pointer.truncate(depth);
                }
            }
        }
        (Position::Schema, Value::Bool(_)) => visit(pointer, value),
        (Position::Map, Value::Object(members)) => {
            for (name, below) in members {
                // draft-07 `dependencies` may hold lists of names instead.
                if !below.is_array() {
                    push_token(pointer, name);
                    step(below, Position::Schema, pointer, visit);
                    pointer.truncate(depth);
                }
            }
        }
        (Position::List, Value::Array(items)) => {
            for (i, below) in items.iter().enumerate() {
                push_token(pointer, &i.to_string());
                step(below, Position::Schema, pointer, visit);
                pointer.truncate(depth);
            }
        }
        _ => {}
    }
}
