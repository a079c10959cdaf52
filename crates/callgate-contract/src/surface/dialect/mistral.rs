//! Mistral: nothing is enforced unless strict, and strict is OpenAI's.

use super::{Dialect, KEEP, openai};

pub(super) const STRICT: Dialect = Dialect { ..openai::STRICT };

/// Only a plain object at the root, as every client sends it.
pub(super) const LOOSE: Dialect =
    Dialect { root: &["anyOf", "oneOf", "allOf", "$ref"], merge_all_of: true, ..KEEP };
