//! `1.0` where an integer is asked for.
//!
//! `data` is `google.protobuf.Value` to the official SDKs, so their clients send `1.0` for 1. It is
//! an integer by JSON Schema, but not to every tool. What the schema calls an integer is written as
//! one; nothing else changes.

use callgate_tool::a2a::wire::{Array, Members, Object};
use serde_json::{Value, value::RawValue};

/// The arguments, with whole numbers written as such where their schema says `integer`.
pub(super) fn whole(arguments: &RawValue, schema: &Value) -> String {
    let text = arguments.get();
    match text.as_bytes().first() {
        Some(b'{') => object(text, schema).unwrap_or_else(|| text.to_owned()),
        Some(b'[') => array(text, schema).unwrap_or_else(|| text.to_owned()),
        _ if is_integer(schema) => number(text).unwrap_or(text).to_owned(),
        _ => text.to_owned(),
    }
}

fn object(text: &str, schema: &Value) -> Option<String> {
    let properties = schema.get("properties")?;
    let members = Members::read_text(text, "").ok()?;
    let mut out = Object::new();
    let mut changed = false;
    for (name, raw) in members.iter() {
        let now = properties.get(name).map(|schema| whole(raw, schema));
        changed |= now.as_deref().is_some_and(|now| now != raw.get());
        out = out.raw(name, now.as_deref().unwrap_or(raw.get()));
    }
    // Byte for byte, where nothing had to change.
    changed.then(|| out.end())
}

fn array(text: &str, schema: &Value) -> Option<String> {
    let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    let each = schema.get("items").filter(|items| items.is_object())?;
    let now: Vec<String> = items.iter().map(|raw| whole(raw, each)).collect();
    let changed = now.iter().zip(&items).any(|(now, raw)| now != raw.get());
    changed.then(|| now.iter().fold(Array::new(), |array, item| array.raw(item)).end())
}

fn is_integer(schema: &Value) -> bool {
    match schema.get("type") {
        Some(Value::String(one)) => one == "integer",
        Some(Value::Array(several)) => {
            several.iter().any(|one| one == "integer") && !several.iter().any(|one| one == "number")
        }
        _ => false,
    }
}

/// `-12.000` as `-12`.
fn number(text: &str) -> Option<&str> {
    let (whole, fraction) = text.split_once('.')?;
    let digits = whole.strip_prefix('-').unwrap_or(whole);
    let is_whole = !fraction.is_empty() && fraction.bytes().all(|b| b == b'0');
    (is_whole && !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_schema_calls_an_integer() {
        let schema = serde_json::json!({ "properties": {
            "i": { "type": "integer" }, "n": { "type": "number" }, "o": { "type": ["integer", "null"] },
            "l": { "items": { "type": "integer" } }, "d": { "properties": { "i": { "type": "integer" } } } } });
        let rows = [
            (r#"{"i":1.0}"#, r#"{"i":1}"#),
            (r#"{"i":-20.000,"n":1.0}"#, r#"{"i":-20,"n":1.0}"#),
            (r#"{"o":3.0,"l":[1.0,2],"d":{"i":4.0}}"#, r#"{"o":3,"l":[1,2],"d":{"i":4}}"#),
            (r#"{"i" : 9007199254740993}"#, r#"{"i" : 9007199254740993}"#),
            (r#"{"i":1.5}"#, r#"{"i":1.5}"#),
            (r#"{"i":1e3}"#, r#"{"i":1e3}"#),
            (r#"{"x":1.0}"#, r#"{"x":1.0}"#),
            ("[1.0]", "[1.0]"),
            ("7.0", "7.0"),
        ];
        for (text, expected) in rows {
            assert_eq!(whole(serde_json::from_str(text).unwrap(), &schema), expected, "{text}");
        }
    }
}
