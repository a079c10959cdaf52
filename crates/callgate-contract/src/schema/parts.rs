//! The parts of a schema, each judged by itself: which branch of a union takes a value?

use jsonschema::ValidatorMap;
use serde_json::Value;

use super::{Schema, check};
use crate::document::{Document, Json};

/// Every subschema of a schema as a validator of its own, by JSON Pointer.
///
/// A part under an `$id` of its own is judged as if its references started from the root, so what
/// it says there is a guess: whoever builds on it has the last word from [`Schema`].
pub(crate) struct Parts(ValidatorMap<Json>);

impl Parts {
    /// Compiles all parts; nothing where the whole does not compile as a map.
    pub(crate) fn of(schema: &Schema) -> Option<Self> {
        let draft = check::dialect(schema.value()).ok()?;
        jsonschema::options_for::<Json>()
            .with_draft(draft)
            .offline()
            .should_validate_formats(true)
            .build_map(schema.value())
            .ok()
            .map(Self)
    }

    /// Whether the part at a JSON Pointer admits a value; nothing if no part is there.
    pub(crate) fn admits(&self, pointer: &str, value: &Value) -> Option<bool> {
        let part = self.0.get(&format!("#{pointer}"))?;
        let text = value.to_string();
        let doc = Document::parse(&text).ok()?;
        Some(part.is_valid(doc.root()))
    }
}

/// Whether a text matches a pattern, by the validator's own engine.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    jsonschema::options_for::<Json>()
        .offline()
        .build(&serde_json::json!({"pattern": pattern}))
        .is_ok_and(|validator| validator.is_valid(crate::document::NodeRef::Name(text)))
}

/// Whether `$ref` hides the keywords beside it, as it does up to draft-07.
pub(crate) fn refs_hide_siblings(schema: &Schema) -> bool {
    use jsonschema::Draft;
    matches!(check::dialect(schema.value()), Ok(Draft::Draft4 | Draft::Draft6 | Draft::Draft7))
}
