//! JSON Schema: the one module that knows the `jsonschema` crate.
//!
//! A [`Schema`] is compiled once. The dialect is 2020-12 unless `$schema` names draft-04, -06,
//! -07 or 2019-09. `format` is asserted (a tool that asks for a date means it). A `$ref` reaches
//! only the schema's own document: nothing is ever fetched, from network or file.

pub mod canonical;
mod check;
pub(crate) mod dialect;
mod finding;
pub(crate) mod keywords;
mod parts;
mod walk;

use std::sync::Arc;

use jsonschema::{Draft, Validator};
use serde_json::Value;

pub use check::SchemaFault;
pub(crate) use check::{is_type, percent_decode};
pub(crate) use finding::{Expect, Finding};
pub(crate) use parts::{Parts, matches, refs_hide_siblings};
pub(crate) use walk::{Position, position_below, walk};

use crate::document::{Json, NodeRef};

/// A compiled JSON Schema. Cheap to clone.
#[derive(Clone)]
pub struct Schema(Arc<Inner>);

struct Inner {
    value: Value,
    validator: Validator<Json>,
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Schema").field(&self.0.value).finish()
    }
}

impl Schema {
    /// Compiles a schema.
    ///
    /// # Errors
    /// Every fault found, each with a JSON Pointer into the schema: an unsupported dialect,
    /// keywords with values they cannot have, a misspelt keyword, a `$ref` that leads nowhere or
    /// outside.
    pub fn compile(value: Value) -> Result<Self, Vec<SchemaFault>> {
        Self::compile_with(value, true)
    }

    /// Compiles a schema that somebody else wrote: a keyword that nobody knows is left alone, as
    /// JSON Schema has it, even where it looks like a slip.
    ///
    /// # Errors
    /// As [`compile`](Self::compile), but for misspelt keywords.
    pub fn compile_as_given(value: Value) -> Result<Self, Vec<SchemaFault>> {
        Self::compile_with(value, false)
    }

    fn compile_with(value: Value, is_ours: bool) -> Result<Self, Vec<SchemaFault>> {
        let draft = check::dialect(&value).map_err(|fault| vec![fault])?;
        let mut faults = check::against_meta_schema(&value, draft);
        faults.extend(check::by_walk(&value, is_ours));
        if !faults.is_empty() {
            faults.sort_by(|a, b| a.pointer.cmp(&b.pointer));
            faults.dedup_by(|a, b| a.pointer == b.pointer);
            return Err(faults);
        }
        match build(&value, draft) {
            Ok(validator) => Ok(Self(Arc::new(Inner { value, validator }))),
            Err(fault) => Err(vec![fault]),
        }
    }

    /// The schema as it was given.
    pub fn value(&self) -> &Value {
        &self.0.value
    }

    /// Whether a value is an instance.
    pub fn admits(&self, instance: NodeRef<'_>) -> bool {
        self.0.validator.is_valid(instance)
    }

    /// Everything that keeps a value from being an instance; empty if it is one.
    pub(crate) fn findings(&self, instance: NodeRef<'_>) -> Vec<Finding> {
        self.0.validator.iter_errors(instance).map(|error| Finding::of(&error)).collect()
    }

    /// The subschema at a JSON Pointer.
    pub(crate) fn at(&self, pointer: &str) -> Option<&Value> {
        self.0.value.pointer(pointer)
    }
}

fn build(value: &Value, draft: Draft) -> Result<Validator<Json>, SchemaFault> {
    jsonschema::options_for::<Json>()
        .with_draft(draft)
        .offline()
        .should_validate_formats(true)
        .build(value)
        .map_err(|error| check::build_fault(value, &error))
}
