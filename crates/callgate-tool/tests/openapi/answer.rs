//! What the server answers: an instance of the response's schema, made here and judged by it.

use std::cell::Cell;

use serde_json::{Map, Value, json};

use crate::{
    document::{Document, Operation},
    schema::{Way, refused},
};

/// How many schemas are looked into for one value.
const FUEL: u32 = 3_000;

#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) media: Option<String>,
    pub(crate) body: String,
    /// The value, where it is JSON.
    pub(crate) value: Option<Value>,
}

/// The answer of the first success that is described; `None` where no instance of it was found.
pub(crate) fn answer(document: &Document, operation: &Operation) -> Option<Answer> {
    let success = operation.responses.iter().find(|(status, _)| status.starts_with('2'));
    let Some((status, response)) = success else {
        return Some(Answer { status: 204, media: None, body: String::new(), value: None });
    };
    let status = status.parse().unwrap_or(200);
    let empty = Answer { status, media: None, body: String::new(), value: None };
    if operation.method == "HEAD" || matches!(status, 204 | 205) {
        return Some(empty);
    }
    let Some(content) = document.deref(response)["content"].as_object().filter(|c| !c.is_empty())
    else {
        return Some(empty);
    };
    let json = content.iter().find(|(media, _)| media.split(';').next().unwrap().ends_with("json"));
    let Some((media, described)) = json else {
        let (media, _) = content.iter().next()?;
        if media.contains('*') {
            return None;
        }
        let media =
            if media.starts_with("text/") { media.clone() } else { "text/plain".to_owned() };
        return Some(Answer { status, media: Some(media), body: "a text".to_owned(), value: None });
    };
    let schema = &described["schema"];
    let value = [0, 1, 2]
        .into_iter()
        .map(|how| make(document, schema, 12, how, &Cell::new(FUEL)))
        .find(|value| refused(document, schema, value, Way::Response).is_none())?;
    Some(Answer { status, media: Some(media.clone()), body: value.to_string(), value: Some(value) })
}

/// A value: required members, the first branch, the least that there can be. `how` tries another
/// way: the document's own example, or every member.
fn make(document: &Document, schema: &Value, deeper: usize, how: u8, fuel: &Cell<u32>) -> Value {
    let schema = document.deref(schema);
    fuel.set(fuel.get().saturating_sub(1));
    if deeper == 0 || fuel.get() == 0 || !schema.is_object() {
        return json!({});
    }
    if how == 1
        && let Some(example) = schema.get("example").or_else(|| schema["examples"].get(0))
    {
        return example.clone();
    }
    if let Some(value) = schema.get("const").or_else(|| schema["enum"].get(0)) {
        return value.clone();
    }
    for word in ["oneOf", "anyOf"] {
        if let Some(first) = schema[word].get(0) {
            return merged(
                make(document, first, deeper - 1, how, fuel),
                own(document, schema, deeper, how, fuel),
            );
        }
    }
    if let Some(all) = schema["allOf"].as_array() {
        let parts = all.iter().map(|part| make(document, part, deeper - 1, how, fuel));
        return parts.fold(own(document, schema, deeper, how, fuel), merged);
    }
    own(document, schema, deeper, how, fuel)
}

fn merged(into: Value, more: Value) -> Value {
    match (into, more) {
        (Value::Object(mut into), Value::Object(more)) => {
            into.extend(more);
            into.into()
        }
        (into, Value::Object(more)) if more.is_empty() => into,
        (_, more) => more,
    }
}

fn own(document: &Document, schema: &Value, deeper: usize, how: u8, fuel: &Cell<u32>) -> Value {
    let kind = match &schema["type"] {
        Value::Array(all) => all.first().and_then(Value::as_str).unwrap_or("object"),
        Value::String(one) => one,
        _ if schema["items"].is_object() => "array",
        _ => "object",
    };
    let least = |word: &str| schema[word].as_u64().unwrap_or(0) as usize;
    match kind {
        "string" => match schema["format"].as_str() {
            Some("date-time") => json!("2020-01-02T03:04:05Z"),
            Some("date") => json!("2020-01-02"),
            Some("uuid") => json!("00000000-0000-4000-8000-000000000000"),
            Some("uri") => json!("https://a.example/"),
            Some("email") => json!("a@b.example"),
            _ => json!("a".repeat(least("minLength").max(1))),
        },
        "integer" => json!(schema["minimum"].as_i64().unwrap_or(1)),
        "number" => json!(schema["minimum"].as_f64().unwrap_or(1.5)),
        "boolean" => json!(true),
        "null" => Value::Null,
        "array" => {
            let count = least("minItems").max(usize::from(deeper > 6));
            (0..count).map(|_| make(document, &schema["items"], deeper - 1, how, fuel)).collect()
        }
        _ => {
            let required: Vec<&str> = schema["required"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            let mut out = Map::new();
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                let hidden = document.deref(property)["writeOnly"] == true;
                if !hidden && (required.contains(&&**name) || (how == 2 && deeper > 8)) {
                    out.insert(name.clone(), make(document, property, deeper - 1, how, fuel));
                }
            }
            out.into()
        }
    }
}
