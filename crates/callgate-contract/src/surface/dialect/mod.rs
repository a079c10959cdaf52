//! What each provider's schema language can hold, one file a provider, as data.
//!
//! A dialect says of each construct what becomes of it; the passes in [`super::pass`] do it and
//! the lens in [`super::lens`] undoes what changes the instances. A new surface is a new table.
//! Sources are the providers' documents and what mature clients observe; where two limits are
//! given, the smaller one counts.

mod anthropic;
mod compatible;
mod deepseek;
mod gemini;
mod mcp;
mod mistral;
mod ollama;
mod openai;
mod types;

use serde_json::Value;

use super::{Surface, pass::Node, size::SchemaLimits};

pub(super) use types::TYPES;

/// What a surface does with each construct.
pub(super) struct Dialect {
    /// The `strict` flag on the wire.
    pub strict: Option<bool>,
    /// Nothing is changed at all.
    pub identity: bool,
    /// Keywords that may not stand at the root.
    pub root: &'static [&'static str],
    /// `$ref`.
    pub refs: Refs,
    /// A `$ref` that leads back to itself.
    pub recursion: Recursion,
    /// `allOf` is merged into its node.
    pub merge_all_of: bool,
    /// `oneOf` becomes `anyOf`.
    pub one_of_to_any_of: bool,
    /// What stands beside `anyOf` moves into its branches.
    pub push_down: bool,
    /// `const` becomes an `enum` of one.
    pub const_to_enum: bool,
    /// Every node says its type.
    pub typed: bool,
    /// `type` as a list.
    pub type_lists: TypeLists,
    /// `enum`.
    pub enums: Enums,
    /// `additionalProperties`.
    pub objects: Objects,
    /// Objects with names that the schema does not know.
    pub maps: Maps,
    /// `prefixItems`.
    pub tuples: Tuples,
    /// An array says its items, if only `{}`.
    pub items: bool,
    /// A node that takes anything.
    pub any: Any,
    /// How a property that may be missing is told.
    pub optional: Optional,
    /// Names under `required` that `properties` does not have are dropped.
    pub declared_required: bool,
    /// Every other keyword, by its name and node.
    pub fate: fn(&str, &Node) -> Fate,
    /// What one schema may hold.
    pub limits: Option<SchemaLimits>,
    /// The last step: the provider's own spelling.
    pub spell: Option<fn(Value) -> Value>,
}

/// What becomes of a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It stays.
    Keep,
    /// It goes into the description.
    Describe,
    /// It goes.
    Drop,
    /// The schema cannot be told in this dialect.
    Refuse,
}

/// What becomes of `$ref`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refs {
    /// Kept as they are.
    Keep,
    /// Kept, but nothing may stand beside one.
    Alone,
    /// Inlined.
    Inline,
}

/// What becomes of recursion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recursion {
    Keep,
    Refuse,
    /// Unrolled a little, then anything goes.
    Cut,
}

/// What becomes of `type` lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TypeLists {
    Keep,
    /// One type and `null`; others become `anyOf`.
    OneAndNull,
    /// One scalar type and `null`; others become `anyOf`.
    ScalarAndNull,
    /// Always `anyOf`.
    Never,
}

/// What becomes of `enum`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Enums {
    Keep,
    /// Scalars of one type; others become `anyOf`, lists and objects are refused.
    ByType,
    /// Strings and numbers of one type; what cannot be told so is described.
    StringsAndNumbers,
    /// Strings that stand for the values.
    Strings,
}

/// What becomes of `additionalProperties`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Objects {
    Keep,
    /// `false` on every object.
    Closed,
    /// Never told.
    Drop,
}

/// What becomes of maps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Maps {
    Keep,
    Refuse,
    /// JSON text in a string.
    Text,
}

/// What becomes of tuples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tuples {
    Keep,
    Refuse,
    /// Arrays of any of the elements' schemas.
    Items,
    /// Arrays.
    Drop,
}

/// What becomes of a schema that admits anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Any {
    Keep,
    Refuse,
    /// JSON text in a string.
    Text,
}

/// How optional properties are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Optional {
    /// By not being `required`.
    Absent,
    /// All are `required`; `null` stands for absence.
    Null,
}

/// The dialect of a surface.
pub(super) fn of(surface: Surface) -> &'static Dialect {
    match surface {
        Surface::OpenAiStrict => &openai::STRICT,
        Surface::OpenAiLoose => &openai::LOOSE,
        Surface::AnthropicStrict => &anthropic::STRICT,
        Surface::AnthropicLoose => &anthropic::LOOSE,
        Surface::GeminiParameters => &gemini::PARAMETERS,
        Surface::GeminiJsonSchema => &gemini::JSON_SCHEMA,
        Surface::DeepSeekStrict => &deepseek::STRICT,
        Surface::MistralStrict => &mistral::STRICT,
        Surface::MistralLoose => &mistral::LOOSE,
        Surface::Ollama => &ollama::CHAT,
        Surface::Compatible => &compatible::LOOSE,
        Surface::Mcp => &mcp::IDENTITY,
    }
}

/// The base of the loose dialects: everything stays.
pub(super) const KEEP: Dialect = Dialect {
    strict: None,
    identity: false,
    root: &[],
    refs: Refs::Keep,
    recursion: Recursion::Keep,
    merge_all_of: false,
    one_of_to_any_of: false,
    push_down: false,
    const_to_enum: false,
    typed: false,
    type_lists: TypeLists::Keep,
    enums: Enums::Keep,
    objects: Objects::Keep,
    maps: Maps::Keep,
    tuples: Tuples::Keep,
    items: false,
    any: Any::Keep,
    optional: Optional::Absent,
    declared_required: false,
    fate: |_, _| Fate::Keep,
    limits: None,
    spell: None,
};

/// The base of the strict dialects: what a grammar can be made of.
pub(super) const GRAMMAR: Dialect = Dialect {
    strict: Some(true),
    identity: false,
    root: &["anyOf", "oneOf", "allOf", "enum", "const", "not", "if", "then", "else", "$ref"],
    refs: Refs::Alone,
    recursion: Recursion::Keep,
    merge_all_of: true,
    one_of_to_any_of: true,
    push_down: true,
    const_to_enum: false,
    typed: true,
    type_lists: TypeLists::OneAndNull,
    enums: Enums::ByType,
    objects: Objects::Closed,
    maps: Maps::Refuse,
    tuples: Tuples::Refuse,
    items: true,
    any: Any::Refuse,
    optional: Optional::Null,
    declared_required: false,
    fate: |_, _| Fate::Describe,
    limits: None,
    spell: None,
};

/// Keywords that say nothing about instances and that no model needs.
pub(super) fn is_mute(keyword: &str) -> bool {
    matches!(
        keyword,
        "deprecated"
            | "readOnly"
            | "writeOnly"
            | "discriminator"
            | "xml"
            | "externalDocs"
            | "enumNames"
            | "markdownDescription"
            | "example"
            | "nullable"
            | "contentEncoding"
            | "contentMediaType"
            | "contentSchema"
    )
}

/// The string under a keyword.
pub(super) fn text<'n>(keyword: &str, node: &'n Node) -> &'n str {
    node.get(keyword).and_then(Value::as_str).unwrap_or_default()
}

/// Whether a pattern looks around, which the providers' engines cannot.
pub(super) fn looks_around(pattern: &str) -> bool {
    ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|start| pattern.contains(start))
}

/// Whether a pattern is made of literals, classes, groups and plain quantifiers only.
pub(super) fn is_simple(pattern: &str) -> bool {
    if looks_around(pattern) {
        return false;
    }
    let mut chars = pattern.chars().peekable();
    let mut in_class = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                // Back references, boundaries and properties.
                Some('b' | 'B' | 'k' | 'p' | 'P' | '1'..='9') | None => return false,
                Some(_) => {}
            },
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class && chars.peek() == Some(&'?') => {
                chars.next();
                if chars.peek() != Some(&':') {
                    return false;
                }
            }
            '{' if !in_class => {
                let mut bounds = String::new();
                for c in chars.by_ref() {
                    if c == '}' {
                        break;
                    }
                    bounds.push(c);
                }
                // {n} and {n,m} of moderate size; more makes the grammar explode.
                let small = bounds
                    .split(',')
                    .all(|n| n.is_empty() || n.parse::<u32>().is_ok_and(|n| n <= 100));
                if !small {
                    return false;
                }
            }
            _ => {}
        }
    }
    true
}
