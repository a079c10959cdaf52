//! Servers that speak OpenAI's dialect, by the least of them: llama.cpp's schema to grammar
//! converter.
//!
//! It skips unknown keywords without a word, joins no `properties` with an `anyOf` beside them and
//! gets tuples wrong; what it would skip is told in words instead. It closes every object that
//! does not say otherwise.

use serde_json::Value;

use super::{super::pass::Node, Dialect, Fate, KEEP, Tuples, looks_around, openai, text};

const FORMATS: &[&str] = &["date", "time", "date-time", "uuid"];

pub(super) const LOOSE: Dialect = Dialect {
    strict: None,
    root: openai::LOOSE.root,
    items: true,
    one_of_to_any_of: true,
    push_down: true,
    tuples: Tuples::Items,
    fate,
    ..KEEP
};

fn fate(keyword: &str, node: &Node) -> Fate {
    let integer = node.get("type").and_then(Value::as_str) == Some("integer");
    match keyword {
        "minimum" | "maximum" if !integer => Fate::Describe,
        "pattern" => {
            let pattern = text("pattern", node);
            let whole = pattern.starts_with('^') && pattern.ends_with('$');
            if whole && !looks_around(pattern) { Fate::Keep } else { Fate::Describe }
        }
        "format" if FORMATS.contains(&text("format", node)) => Fate::Keep,
        "format"
        | "exclusiveMinimum"
        | "exclusiveMaximum"
        | "multipleOf"
        | "uniqueItems"
        | "contains"
        | "minContains"
        | "maxContains"
        | "not"
        | "if"
        | "then"
        | "else"
        | "dependentRequired"
        | "dependentSchemas"
        | "patternProperties"
        | "propertyNames"
        | "unevaluatedItems"
        | "unevaluatedProperties" => Fate::Describe,
        _ => Fate::Keep,
    }
}
