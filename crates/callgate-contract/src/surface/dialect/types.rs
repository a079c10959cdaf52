//! What types of programming languages are made from: unions by `anyOf` alone, nothing to merge.
//!
//! No provider's: `export` reads its types from a schema in this form.

use super::{Dialect, KEEP};

pub(in super::super) const TYPES: Dialect =
    Dialect { merge_all_of: true, one_of_to_any_of: true, push_down: true, ..KEEP };
