//! Section 4b: the OpenAPI subset, and the JSON Schema subset.

use serde_json::{Value, json};

use super::{Node, nodes, only, recursive, reference, root_object};

const PARAMETERS: &[&str] = &[
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "items",
    "minItems",
    "maxItems",
    "properties",
    "required",
    "propertyOrdering",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "anyOf",
    "default",
    "example",
];

const TYPES: &[&str] = &["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"];

pub(crate) fn parameters(schema: &Value, faults: &mut Vec<String>) {
    // A tool without arguments has no parameters.
    if schema.is_null() {
        return;
    }
    root_object(schema, &["anyOf"], faults);
    nodes(schema, faults, &mut |place, node, faults| {
        only(place, node, PARAMETERS, faults);
        if node.contains_key("anyOf") && node.len() > 1 {
            faults.push(format!("{place}: when using any_of, it must be the only field set"));
        }
        let kind = match node.get("type") {
            None if node.contains_key("anyOf") => return,
            Some(Value::String(kind)) => kind.to_ascii_uppercase(),
            other => {
                faults.push(format!("{place}: type {other:?}"));
                return;
            }
        };
        if !TYPES.contains(&kind.as_str()) {
            faults.push(format!("{place}: type {kind}"));
        }
        if kind == "STRING" && node.get("format").is_some_and(|f| f != "enum" && f != "date-time") {
            faults.push(format!("{place}: only 'enum' and 'date-time' are supported"));
        }
        if let Some(values) = node.get("enum") {
            let strings = values.as_array().is_some_and(|values| {
                !values.is_empty()
                    && values.iter().all(|v| v.as_str().is_some_and(|v| !v.is_empty()))
            });
            if !strings || kind != "STRING" {
                faults.push(format!("{place}: enum {values}"));
            }
        }
        if kind == "ARRAY" && !node.get("items").is_some_and(Value::is_object) {
            faults.push(format!("{place}: items: missing field"));
        }
        if node.get("properties").and_then(Value::as_object).is_some_and(Node::is_empty) {
            faults.push(format!("{place}: should be non-empty for OBJECT type"));
        }
        for name in node.get("required").and_then(Value::as_array).into_iter().flatten() {
            let name = name.as_str().unwrap_or_default();
            if node.get("properties").and_then(|p| p.get(name)).is_none() {
                faults.push(format!("{place}: property {name} is not defined"));
            }
        }
    });
}

const JSON_SCHEMA: &[&str] = &[
    "$id",
    "$defs",
    "$ref",
    "$anchor",
    "type",
    "format",
    "title",
    "description",
    "enum",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "anyOf",
    "oneOf",
    "properties",
    "additionalProperties",
    "required",
    "propertyOrdering",
];

pub(crate) fn json_schema(schema: &Value, faults: &mut Vec<String>) {
    root_object(schema, &[], faults);
    for name in recursive(schema) {
        faults.push(format!("{name} is recursive"));
    }
    nodes(schema, faults, &mut |place, node, faults| {
        only(place, node, JSON_SCHEMA, faults);
        reference(place, node, schema, true, faults);
        if let Some(Value::Array(values)) = node.get("enum")
            && values.iter().any(|v| !v.is_string() && !v.is_number())
        {
            faults.push(format!("{place}: enum of {values:?}"));
        }
    });
}

/// The OpenAPI subset as JSON Schema.
pub(crate) fn meaning(schema: &Value) -> Value {
    let Value::Object(node) = schema else { return json!({"type": "object"}) };
    let mut out = Node::new();
    let nullable = node.get("nullable") == Some(&json!(true));
    for (keyword, value) in node {
        match (keyword.as_str(), value) {
            ("nullable" | "propertyOrdering" | "example", _) => {}
            ("format", Value::String(format)) if format == "enum" => {}
            ("type", Value::String(kind)) => {
                let kind = kind.to_ascii_lowercase();
                out.insert(
                    "type".into(),
                    if nullable { json!([kind, "null"]) } else { json!(kind) },
                );
            }
            ("enum", Value::Array(values)) if nullable => {
                let mut values = values.clone();
                values.push(Value::Null);
                out.insert("enum".into(), values.into());
            }
            ("items", items) => {
                out.insert("items".into(), meaning(items));
            }
            ("properties", Value::Object(map)) => {
                let map: Node = map.iter().map(|(k, v)| (k.clone(), meaning(v))).collect();
                out.insert("properties".into(), map.into());
            }
            ("anyOf", Value::Array(branches)) => {
                out.insert("anyOf".into(), branches.iter().map(meaning).collect());
            }
            (_, value) => {
                out.insert(keyword.clone(), value.clone());
            }
        }
    }
    Value::Object(out)
}
