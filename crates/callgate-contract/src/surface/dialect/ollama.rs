//! Ollama's native chat: the server reads a few keywords of a property and forgets the rest, so
//! references are inlined and what would be forgotten is told in words.

use super::{super::pass::Node, Dialect, Fate, KEEP, Objects, Recursion, Refs, Tuples};

pub(super) const CHAT: Dialect = Dialect {
    root: &[
        "anyOf",
        "oneOf",
        "allOf",
        "enum",
        "const",
        "not",
        "if",
        "then",
        "else",
        "$ref",
        "description",
    ],
    refs: Refs::Inline,
    recursion: Recursion::Cut,
    merge_all_of: true,
    one_of_to_any_of: true,
    push_down: true,
    const_to_enum: true,
    objects: Objects::Drop,
    tuples: Tuples::Drop,
    fate,
    ..KEEP
};

fn fate(keyword: &str, _: &Node) -> Fate {
    match keyword {
        "title" => Fate::Drop,
        keyword if super::is_mute(keyword) => Fate::Drop,
        _ => Fate::Describe,
    }
}
