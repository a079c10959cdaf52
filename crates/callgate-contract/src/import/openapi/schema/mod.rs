//! Schemas of an OpenAPI document as JSON Schema 2020-12 that stands by itself.
//!
//! - References are followed. What is small, or used once, is written where it is used; what is
//!   cyclic, or large and used more often, stands once under `$defs` (`survey`).
//! - The 3.0 dialect becomes 2020-12: `nullable`, boolean `exclusiveMinimum`, `example`; in 3.0
//!   nothing beside a `$ref` counts but its description. `discriminator` is dropped with a note:
//!   the branches say the same. Keywords that nobody knows are dropped.
//! - `readOnly` properties are no input, `writeOnly` ones no output, required or not.

mod convert;
mod keyword;
mod survey;

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Map, Value};

use super::{
    Skipped,
    document::{At, Doc, Notes},
};
use survey::Survey;

/// Which way the values go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// Arguments.
    Input,
    /// Results.
    Output,
}

impl Direction {
    /// The flag of properties that do not go this way.
    fn hides(self) -> &'static str {
        match self {
            Self::Input => "readOnly",
            Self::Output => "writeOnly",
        }
    }
}

/// Converts the schemas of one operation, in one direction.
pub(super) struct Converter<'a, 'd> {
    doc: &'a Doc<'d>,
    direction: Direction,
    /// References that become `$defs`.
    survey: Survey,
    /// Their names there, by where they are in the document.
    names: BTreeMap<String, String>,
    open: VecDeque<(String, At<'d>)>,
    /// Titles, descriptions and examples of inner schemas are left out.
    pub(super) brief: bool,
    pub(super) notes: Notes,
}

impl<'a, 'd> Converter<'a, 'd> {
    /// `roots` are all the schemas that will be converted; together with what they refer to they
    /// may have `limit` bytes. Those of an input that have more are converted without the words of
    /// their inner schemas; `None` where they have more even so.
    pub(super) fn new(
        doc: &'a Doc<'d>,
        direction: Direction,
        roots: &[At<'d>],
        limit: usize,
    ) -> Option<Self> {
        let (survey, brief) = match Survey::of(doc, roots, limit, false) {
            Some(survey) => (survey, false),
            None if direction == Direction::Input => (Survey::of(doc, roots, limit, true)?, true),
            None => return None,
        };
        Some(Self {
            doc,
            direction,
            survey,
            names: BTreeMap::new(),
            open: VecDeque::new(),
            brief,
            notes: Notes::default(),
        })
    }

    /// The `$defs` that the converted schemas refer to.
    pub(super) fn definitions(&mut self) -> Result<Map<String, Value>, Skipped> {
        let mut out = Map::new();
        while let Some((name, at)) = self.open.pop_front() {
            let schema = self.schema(&at)?;
            out.insert(name, schema);
        }
        Ok(out)
    }

    /// Whether a property does not go this way: it says so itself, or what it refers to does.
    pub(super) fn is_hidden(&self, property: &At<'d>) -> bool {
        let flag = self.direction.hides();
        property.is(flag) || self.doc.resolve(property.clone()).is_ok_and(|at| at.is(flag))
    }
}
