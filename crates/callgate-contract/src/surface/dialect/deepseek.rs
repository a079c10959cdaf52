//! DeepSeek's strict mode (only under a base URL that ends in `/beta`).
//!
//! As OpenAI's, and narrower: type lists of scalars only, no reference as a bare branch of `anyOf`,
//! no empty objects below the root. Without strict it takes what OpenAI takes without strict.

use serde_json::Value;

use super::{super::pass::Node, Dialect, Fate, GRAMMAR, TypeLists, looks_around, text};

const FORMATS: &[&str] = &["email", "hostname", "ipv4", "ipv6", "uuid"];

pub(super) const STRICT: Dialect =
    Dialect { type_lists: TypeLists::ScalarAndNull, fate: strict, ..GRAMMAR };

fn strict(keyword: &str, node: &Node) -> Fate {
    let number = matches!(node.get("type").and_then(Value::as_str), Some("number" | "integer"))
        || node.get("type").is_some_and(Value::is_array);
    match keyword {
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf"
            if number =>
        {
            Fate::Keep
        }
        "pattern" if !looks_around(text("pattern", node)) => Fate::Keep,
        "format" if FORMATS.contains(&text("format", node)) => Fate::Keep,
        "patternProperties" | "propertyNames" => Fate::Refuse,
        "title" => Fate::Drop,
        keyword if super::is_mute(keyword) => Fate::Drop,
        _ => Fate::Describe,
    }
}
