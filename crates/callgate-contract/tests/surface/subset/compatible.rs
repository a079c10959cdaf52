//! Section 8.1: what llama.cpp's converter to grammars reads.

use serde_json::Value;

use super::{kinds, nodes, root_object, text};

pub(crate) fn loose(schema: &Value, faults: &mut Vec<String>) {
    root_object(schema, &["oneOf", "anyOf", "allOf", "enum", "const", "not"], faults);
    if !schema["properties"].is_object() {
        faults.push("no properties".to_owned());
    }
    let mut bools = Vec::new();
    nodes(schema, &mut bools, &mut |place, node, _| {
        if node.contains_key("properties")
            && (node.contains_key("anyOf") || node.contains_key("oneOf"))
        {
            faults.push(format!("{place}: properties beside a union"));
        }
        for keyword in [
            "prefixItems",
            "patternProperties",
            "uniqueItems",
            "contains",
            "not",
            "if",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
        ] {
            if node.contains_key(keyword) {
                faults.push(format!("{place}: '{keyword}' is skipped silently"));
            }
        }
        if kinds(node) != ["integer"]
            && (node.contains_key("minimum") || node.contains_key("maximum"))
        {
            faults.push(format!("{place}: bounds of no integer"));
        }
        if text(node, "pattern").is_some_and(|p| !p.starts_with('^') || !p.ends_with('$')) {
            faults.push(format!("{place}: pattern {:?}", node["pattern"]));
        }
        if text(node, "format").is_some_and(|f| !["date", "time", "date-time", "uuid"].contains(&f))
        {
            faults.push(format!("{place}: format {:?}", node["format"]));
        }
        if let Some(target) = node.get("$ref").and_then(Value::as_str)
            && !target.starts_with('#')
        {
            faults.push(format!("{place}: a remote reference"));
        }
        if kinds(node).contains(&"array") && !node.contains_key("items") {
            faults.push(format!("{place}: no items"));
        }
    });
}
