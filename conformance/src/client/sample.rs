//! The least that an object schema asks for.

use serde_json::{Map, Value, json};

/// A value for each required property that has no default.
pub(super) fn arguments(schema: &Value) -> Map<String, Value> {
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let names = required.iter().filter_map(Value::as_str);
    names
        .filter_map(|name| {
            let property = &schema["properties"][name];
            property.get("default").is_none().then(|| (name.to_owned(), value(property)))
        })
        .collect()
}

fn value(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    match schema["type"].as_str() {
        Some("number") => json!(1.5),
        Some("integer") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => Value::Object(arguments(schema)),
        Some("null") => Value::Null,
        _ => json!("test"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_required_and_no_more() {
        let schema = json!({
            "type": "object",
            "properties": {
                "a": { "type": "number" },
                "b": { "type": "string", "enum": ["x", "y"] },
                "c": { "type": "object", "properties": { "d": {} }, "required": ["d"] },
                "e": { "type": "integer", "default": 3 },
                "f": { "type": "boolean" },
            },
            "required": ["a", "b", "c", "e"],
        });
        let wanted = json!({ "a": 1.5, "b": "x", "c": { "d": "test" } });
        assert_eq!(Value::Object(arguments(&schema)), wanted);
        assert!(arguments(&json!({ "type": "object" })).is_empty());
    }
}
