//! Arguments as HTTP headers: `x-mcp-header` (SEP-2243, revision 2026-07-28).
//!
//! A property of an input schema that is annotated `"x-mcp-header": "owner"` travels as
//! `Mcp-Param-owner` as well, so that a proxy can route by it without reading bodies. Headers are
//! made from the arguments' text: digits stay as they are.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use callgate_contract::document::{Document, Kind};
use serde_json::Value;

/// One annotated property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Param {
    /// The whole header name.
    header: String,
    /// JSON Pointer into the arguments.
    pointer: String,
}

/// An annotation that breaks its rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BadParam {
    /// JSON Pointer into the input schema.
    pub(super) pointer: String,
    pub(super) reason: String,
}

const KEY: &str = "x-mcp-header";

/// Every annotated property of an input schema.
///
/// # Errors
/// The first annotation that is no token, names a header twice, stands on anything but a string, an
/// integer or a boolean, or cannot be reached from the root by properties alone.
pub(super) fn params(schema: &Value) -> Result<Vec<Param>, BadParam> {
    let mut found = Vec::new();
    walk(schema, &mut String::new(), Some(""), false, &mut found)?;
    for (i, param) in found.iter().enumerate() {
        let same = |other: &Param| other.header.eq_ignore_ascii_case(&param.header);
        if found[..i].iter().any(same) {
            return Err(BadParam {
                pointer: param.pointer.clone(),
                reason: format!("a second property wants the header {}", param.header),
            });
        }
    }
    Ok(found)
}

/// Below `properties` the keys are names; everywhere else they are keywords.
fn walk(
    schema: &Value,
    place: &mut String,
    argument: Option<&str>,
    is_property: bool,
    found: &mut Vec<Param>,
) -> Result<(), BadParam> {
    let bad =
        |place: &str, reason: String| Err(BadParam { pointer: format!("{place}/{KEY}"), reason });
    let depth = place.len();
    match schema {
        Value::Object(members) => {
            if let Some(name) = members.get(KEY) {
                let (Some(pointer), true) = (argument, is_property) else {
                    return bad(place, "it cannot be reached by properties alone".to_owned());
                };
                let Some(name) = name.as_str().filter(|name| is_token(name)) else {
                    return bad(place, format!("{name} is no header name"));
                };
                match members.get("type").and_then(Value::as_str) {
                    Some("string" | "integer" | "boolean") => {}
                    _ => {
                        let reason = "only a string, an integer or a boolean can be a header";
                        return bad(place, reason.to_owned());
                    }
                }
                let header = format!("Mcp-Param-{name}");
                found.push(Param { header, pointer: pointer.to_owned() });
            }
            for (keyword, value) in members {
                let token = escape(keyword);
                place.push('/');
                place.push_str(&token);
                match (keyword.as_str(), value) {
                    ("properties", Value::Object(properties)) => {
                        let inner = place.len();
                        for (name, property) in properties {
                            let token = escape(name);
                            place.push('/');
                            place.push_str(&token);
                            let argument = argument.map(|a| format!("{a}/{token}"));
                            walk(property, place, argument.as_deref(), true, found)?;
                            place.truncate(inner);
                        }
                    }
                    // Values, not schemas.
                    ("const" | "default" | "enum" | "examples", _) => {}
                    _ => walk(value, place, None, false, found)?,
                }
                place.truncate(depth);
            }
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                place.push_str(&format!("/{i}"));
                walk(item, place, None, false, found)?;
                place.truncate(depth);
            }
        }
        _ => {}
    }
    Ok(())
}

fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// A token (RFC 9110 5.6.2).
fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// The headers of one call. Arguments that are absent or `null` have none.
pub(super) fn of(params: &[Param], arguments: &str) -> Vec<(String, String)> {
    if params.is_empty() {
        return Vec::new();
    }
    // Admitted arguments are a document.
    let Ok(document) = Document::parse(arguments) else { return Vec::new() };
    let header = |param: &Param| {
        let node = document.pointer(&param.pointer)?;
        let value = match node.kind() {
            Kind::Null => return None,
            Kind::String => encode(node.string()?),
            // `1.0` is an integer in JSON Schema; a header has it in decimal.
            Kind::Number => whole(node.raw()).to_owned(),
            _ => node.raw().to_owned(),
        };
        Some((param.header.clone(), value))
    };
    params.iter().filter_map(header).collect()
}

fn whole(digits: &str) -> &str {
    match digits.split_once('.') {
        Some((whole, zeros)) if zeros.bytes().all(|b| b == b'0') => whole,
        _ => digits,
    }
}

/// A value that a header can hold: as it is, or as `=?base64?…?=` where it could not come through
/// whole. A value that looks so itself is encoded as well.
pub(super) fn encode(value: &str) -> String {
    let is_encoded = value.starts_with("=?base64?") && value.ends_with("?=");
    let is_padded = value.starts_with(' ') || value.ends_with(' ');
    let plain = value.bytes().all(|b| matches!(b, b' '..=b'~')) && !is_padded && !is_encoded;
    if plain { value.to_owned() } else { format!("=?base64?{}?=", BASE64_STANDARD.encode(value)) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values() {
        // argument, header
        let rows = [
            ("us-west1", "us-west1"),
            ("", ""),
            ("a b", "a b"),
            (" a", "=?base64?IGE=?="),
            ("a\t", "=?base64?YQk=?="),
            ("a\tb", "=?base64?YQli?="),
            ("日本", "=?base64?5pel5pys?="),
            ("a\r\nX: y", "=?base64?YQ0KWDogeQ==?="),
            ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
        ];
        for (value, header) in rows {
            assert_eq!(encode(value), header, "{value:?}");
        }
    }

    #[test]
    fn the_headers_of_a_call() {
        let schema = json!({ "type": "object", "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "n": { "type": "integer", "x-mcp-header": "N" },
            "on": { "type": "boolean", "x-mcp-header": "On" },
            "deep": { "type": "object", "properties": {
                "a/b": { "type": "string", "x-mcp-header": "Deep" } } },
            "gone": { "type": "string", "x-mcp-header": "Gone" },
            "x-mcp-header": { "type": "string" },
        } });
        let params = params(&schema).unwrap();
        let arguments = r#"{"region":"eu","n":12345678901234567890123,"on":false,"deep":{"a/b":"x"},"gone":null}"#;
        let expected = [
            ("Mcp-Param-Region", "eu"),
            ("Mcp-Param-N", "12345678901234567890123"),
            ("Mcp-Param-On", "false"),
            ("Mcp-Param-Deep", "x"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(of(&params, arguments), expected);
        assert_eq!(of(&params, r#"{"n":2.0}"#), [("Mcp-Param-N".to_owned(), "2".to_owned())]);
    }

    #[test]
    fn annotations_that_break_their_rules() {
        // property schema, place, words
        let rows = [
            (
                json!({ "type": "string", "x-mcp-header": "" }),
                "/properties/p/x-mcp-header",
                "no header name",
            ),
            (
                json!({ "type": "string", "x-mcp-header": "a b" }),
                "/properties/p/x-mcp-header",
                "no header name",
            ),
            (
                json!({ "type": "string", "x-mcp-header": "a\r\nb" }),
                "/properties/p/x-mcp-header",
                "no header name",
            ),
            (
                json!({ "type": "string", "x-mcp-header": 1 }),
                "/properties/p/x-mcp-header",
                "no header name",
            ),
            (
                json!({ "type": "number", "x-mcp-header": "A" }),
                "/properties/p/x-mcp-header",
                "only a string",
            ),
            (
                json!({ "type": "array", "x-mcp-header": "A" }),
                "/properties/p/x-mcp-header",
                "only a string",
            ),
            (json!({ "x-mcp-header": "A" }), "/properties/p/x-mcp-header", "only a string"),
            (
                json!({ "type": "array", "items": { "type": "string", "x-mcp-header": "A" } }),
                "/properties/p/items/x-mcp-header",
                "properties alone",
            ),
            (
                json!({ "anyOf": [{ "type": "string", "x-mcp-header": "A" }] }),
                "/properties/p/anyOf/0/x-mcp-header",
                "properties alone",
            ),
        ];
        for (property, place, words) in rows {
            let schema = json!({ "type": "object", "properties": { "p": property } });
            let bad = params(&schema).unwrap_err();
            assert_eq!(bad.pointer, place, "{schema}");
            assert!(bad.reason.contains(words), "{schema}: {}", bad.reason);
        }
        let twice = json!({ "properties": {
            "a": { "type": "string", "x-mcp-header": "X" }, "b": { "type": "string", "x-mcp-header": "x" } } });
        assert!(params(&twice).unwrap_err().reason.contains("second property"));
        let root = json!({ "type": "string", "x-mcp-header": "X" });
        assert!(params(&root).is_err());
        assert_eq!(
            params(&json!({ "properties": { "a": { "default": { "x-mcp-header": 1 } } } })),
            Ok(vec![])
        );
    }
}
