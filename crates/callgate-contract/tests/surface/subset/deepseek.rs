//! Section 5b.

use serde_json::Value;

use super::{closed_and_required, kinds, looks_around, nodes, only, reference, root_object, text};

const KEYWORDS: &[&str] = &[
    "type",
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
];

const FORMATS: &[&str] = &["email", "hostname", "ipv4", "ipv6", "uuid"];

pub(crate) fn strict(schema: &Value, faults: &mut Vec<String>) {
    root_object(schema, &["anyOf"], faults);
    nodes(schema, faults, &mut |place, node, faults| {
        only(place, node, KEYWORDS, faults);
        reference(place, node, schema, true, faults);
        closed_and_required(place, node, true, faults);
        let typed = ["type", "anyOf", "$ref"].iter().any(|keyword| node.contains_key(*keyword));
        if !typed {
            faults.push(format!("{place}: an untyped schema"));
        }
        let kinds = kinds(node);
        if kinds.len() > 1 && kinds.iter().any(|kind| matches!(*kind, "object" | "array")) {
            faults.push(format!("{place}: a type list with object or array"));
        }
        if kinds.contains(&"object")
            && !place.is_empty()
            && node.get("properties").and_then(Value::as_object).is_none_or(|p| p.is_empty())
        {
            faults.push(format!("{place}: an empty nested object"));
        }
        let bare = node.get("anyOf").and_then(Value::as_array);
        if bare.into_iter().flatten().any(|branch| branch.get("$ref").is_some()) {
            faults.push(format!("{place}: a bare $ref as a branch"));
        }
        if text(node, "format").is_some_and(|format| !FORMATS.contains(&format)) {
            faults.push(format!("{place}: format {:?}", node["format"]));
        }
        if text(node, "pattern").is_some_and(looks_around) {
            faults.push(format!("{place}: regex lookaround"));
        }
    });
}
