//! Anthropic Messages.
//!
//! Strict compiles a grammar from scalars, closed objects, `anyOf` and references without
//! recursion; optional properties stay optional. Bounds and lengths are refused, so they are told
//! in words. What is counted over the whole request is the planner's.

use super::{
    super::pass::Node, Dialect, Fate, GRAMMAR, KEEP, Optional, Recursion, is_simple, text,
};

const FORMATS: &[&str] =
    &["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];

pub(super) const STRICT: Dialect = Dialect {
    recursion: Recursion::Refuse,
    optional: Optional::Absent,
    declared_required: true,
    fate: strict,
    ..GRAMMAR
};

fn strict(keyword: &str, node: &Node) -> Fate {
    match keyword {
        "title" | "default" => Fate::Keep,
        "minItems" if node.get("minItems").and_then(|n| n.as_u64()).is_some_and(|n| n <= 1) => {
            Fate::Keep
        }
        "pattern" if is_simple(text("pattern", node)) => Fate::Keep,
        "format" if FORMATS.contains(&text("format", node)) => Fate::Keep,
        "patternProperties" | "propertyNames" => Fate::Refuse,
        keyword if super::is_mute(keyword) => Fate::Drop,
        _ => Fate::Describe,
    }
}

/// Plain JSON Schema 2020-12, except that no union may stand at the root.
pub(super) const LOOSE: Dialect = Dialect { root: &["anyOf", "oneOf", "allOf", "$ref"], ..KEEP };
