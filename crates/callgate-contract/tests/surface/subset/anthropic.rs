//! Section 3b.

use serde_json::Value;

use super::{
    closed_and_required, looks_around, nodes, only, recursive, reference, root_object, text,
};

const KEYWORDS: &[&str] = &[
    "type",
    "title",
    "description",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "anyOf",
    "allOf",
    "$ref",
    "$defs",
    "default",
    "format",
    "minItems",
    "pattern",
];

const FORMATS: &[&str] =
    &["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];

pub(crate) fn strict(schema: &Value, faults: &mut Vec<String>) {
    root_object(schema, &["oneOf", "anyOf", "allOf"], faults);
    for name in recursive(schema) {
        faults.push(format!("{name} is recursive"));
    }
    nodes(schema, faults, &mut |place, node, faults| {
        only(place, node, KEYWORDS, faults);
        reference(place, node, schema, false, faults);
        closed_and_required(place, node, false, faults);
        if text(node, "format").is_some_and(|format| !FORMATS.contains(&format)) {
            faults.push(format!("{place}: format {:?}", node["format"]));
        }
        if node.get("minItems").and_then(Value::as_u64).is_some_and(|n| n > 1) {
            faults.push(format!("{place}: minItems above 1"));
        }
        if let Some(pattern) = text(node, "pattern")
            && (looks_around(pattern) || pattern.contains("\\b"))
        {
            faults.push(format!("{place}: pattern {pattern}"));
        }
        if let Some(Value::Array(values)) = node.get("enum")
            && values.iter().any(|v| v.is_array() || v.is_object())
        {
            faults.push(format!("{place}: a complex enum"));
        }
    });
}

pub(crate) fn loose(schema: &Value, faults: &mut Vec<String>) {
    root_object(schema, &["oneOf", "anyOf", "allOf"], faults);
    if !jsonschema_2020(schema) {
        faults.push("JSON schema is invalid. It must match JSON Schema draft 2020-12".to_owned());
    }
}

/// Valid by 2020-12's own meta-schema, whatever `$schema` says, and every reference leads
/// somewhere.
fn jsonschema_2020(schema: &Value) -> bool {
    let mut schema = schema.clone();
    if let Value::Object(node) = &mut schema {
        node.shift_remove("$schema");
    }
    callgate_contract::schema::Schema::compile(schema).is_ok()
}
