//! OpenAI Chat Completions and Responses: one checker for both, and for `json_schema` answers.
//!
//! Strict: a closed object at the root, every property required, `anyOf` the only sum, references
//! alone in their node and only into `$defs`. `minLength` and `maxLength` are taken by some models
//! of the first party and refused elsewhere, so they are told in words.

use super::{
    super::{pass::Node, size::SchemaLimits},
    Dialect, Fate, GRAMMAR, KEEP, looks_around, text,
};

/// The formats that strict mode enforces; any other refuses the request.
pub(super) const FORMATS: &[&str] =
    &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

pub(super) const STRICT: Dialect = Dialect {
    fate: strict,
    // 5,000 properties, 10 levels, 1,000 enum values, 120,000 characters of names and values, and
    // 15,000 characters in one enum of more than 250 values.
    limits: Some(SchemaLimits {
        properties: 5_000,
        depth: 10,
        enum_values: 1_000,
        characters: 120_000,
        large_enum: 250,
        large_enum_characters: 15_000,
    }),
    ..GRAMMAR
};

fn strict(keyword: &str, node: &Node) -> Fate {
    match keyword {
        "title" | "multipleOf" | "minimum" | "maximum" | "exclusiveMinimum"
        | "exclusiveMaximum" | "minItems" | "maxItems" => Fate::Keep,
        "pattern" if !looks_around(text("pattern", node)) => Fate::Keep,
        "format" if FORMATS.contains(&text("format", node)) => Fate::Keep,
        // Told beside the arguments instead of within them: see `pass::keywords`.
        "format" => Fate::Drop,
        "patternProperties" | "propertyNames" => Fate::Refuse,
        keyword if super::is_mute(keyword) => Fate::Drop,
        _ => Fate::Describe,
    }
}

/// Without strict nothing is enforced, but the checker still wants a plain object at the root and
/// `items` in every array, and one tool that lacks them fails the whole request.
pub(super) const LOOSE: Dialect = Dialect {
    strict: Some(false),
    root: &["anyOf", "oneOf", "allOf", "enum", "const", "not", "if", "then", "else", "$ref"],
    items: true,
    fate: loose,
    ..KEEP
};

fn loose(keyword: &str, node: &Node) -> Fate {
    match keyword {
        "pattern" if looks_around(text("pattern", node)) => Fate::Describe,
        "patternProperties" | "propertyNames" | "uniqueItems" | "contains" | "minContains"
        | "maxContains" => Fate::Describe,
        _ => Fate::Keep,
    }
}
