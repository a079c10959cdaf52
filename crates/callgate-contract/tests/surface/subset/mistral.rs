//! Section 6: strict as OpenAI's; loose unenforced, with a plain object at the root.

use serde_json::Value;

use super::{openai, root_object};

pub(crate) fn strict(schema: &Value, faults: &mut Vec<String>) {
    openai::strict(schema, faults);
}

pub(crate) fn loose(schema: &Value, faults: &mut Vec<String>) {
    root_object(schema, &["oneOf", "anyOf", "allOf"], faults);
}
