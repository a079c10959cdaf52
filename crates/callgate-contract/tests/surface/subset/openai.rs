//! Section 1b: one checker for Chat, Responses and `json_schema` answers.

use serde_json::Value;

use super::{
    Node, closed_and_required, kinds, looks_around, nodes, only, reference, root_object, text,
    visit,
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
    "$ref",
    "$defs",
    "pattern",
    "format",
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minItems",
    "maxItems",
];

const FORMATS: &[&str] =
    &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

pub(crate) fn strict(schema: &Value, faults: &mut Vec<String>) {
    root_object(schema, &["anyOf"], faults);
    nodes(schema, faults, &mut |place, node, faults| {
        only(place, node, KEYWORDS, faults);
        if node.contains_key("$defs") && !place.is_empty() {
            faults.push(format!("{place}: definitions below the root"));
        }
        check(place, node, schema, faults);
    });
    limits(schema, faults);
}

pub(crate) fn check(place: &str, node: &Node, root: &Value, faults: &mut Vec<String>) {
    reference(place, node, root, true, faults);
    let typed = ["type", "anyOf", "$ref"].iter().any(|keyword| node.contains_key(*keyword));
    if !typed {
        faults.push(format!("{place}: schema must have a 'type' key"));
    }
    closed_and_required(place, node, true, faults);
    let kinds = kinds(node);
    if kinds.iter().filter(|kind| **kind != "null").count() > 1 {
        faults.push(format!("{place}: a list of types"));
    }
    if kinds.contains(&"array")
        && node.get("items").and_then(Value::as_object).is_none_or(Node::is_empty)
    {
        faults.push(format!("{place}: array schema missing items"));
    }
    if text(node, "format").is_some_and(|format| !FORMATS.contains(&format)) {
        faults.push(format!("{place}: format {:?}", node["format"]));
    }
    if text(node, "pattern").is_some_and(looks_around) {
        faults.push(format!("{place}: regex lookaround"));
    }
    let scalars = node.get("enum").and_then(Value::as_array).is_none_or(|values| {
        !values.is_empty() && values.iter().all(|v| !v.is_array() && !v.is_object())
    });
    if !scalars {
        faults.push(format!("{place}: enum of {:?}", node["enum"]));
    }
    if node.get("anyOf").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        faults.push(format!("{place}: anyOf of nothing"));
    }
}

fn limits(schema: &Value, faults: &mut Vec<String>) {
    let (mut properties, mut values, mut characters, mut deepest) = (0, 0, 0, 0);
    visit(schema, "", &mut |place, schema| {
        let levels = place.split('/').filter(|t| *t == "properties" || *t == "items").count();
        deepest = deepest.max(levels);
        if let Some(map) = schema.get("properties").and_then(Value::as_object) {
            properties += map.len();
            characters += map.keys().map(String::len).sum::<usize>();
        }
        if let Some(map) = schema.get("$defs").and_then(Value::as_object) {
            characters += map.keys().map(String::len).sum::<usize>();
        }
        if let Some(list) = schema.get("enum").and_then(Value::as_array) {
            values += list.len();
            let length: usize =
                list.iter().map(|v| v.as_str().map_or(v.to_string().len(), str::len)).sum();
            characters += length;
            if list.len() > 250 && length > 15_000 {
                faults.push("an enum of more than 15,000 characters".to_owned());
            }
        }
    });
    for (what, count, limit) in [
        ("properties", properties, 5_000),
        ("enum values", values, 1_000),
        ("characters", characters, 120_000),
        ("levels", deepest, 10),
    ] {
        if count > limit {
            faults.push(format!("{count} {what}"));
        }
    }
}

pub(crate) fn loose(schema: &Value, faults: &mut Vec<String>) {
    root_object(schema, &["oneOf", "anyOf", "allOf", "enum", "const", "not"], faults);
    if !schema["properties"].is_object() {
        faults.push("object schema missing properties".to_owned());
    }
    visit(schema, "", &mut |place, schema| {
        let Value::Object(node) = schema else { return };
        if kinds(node).contains(&"array")
            && !node.contains_key("items")
            && !node.contains_key("prefixItems")
        {
            faults.push(format!("{place}: array schema missing items"));
        }
        if text(node, "pattern").is_some_and(looks_around) {
            faults.push(format!("{place}: regex lookaround"));
        }
        if node.contains_key("propertyNames") {
            faults.push(format!("{place}: 'propertyNames' is not permitted"));
        }
    });
}
