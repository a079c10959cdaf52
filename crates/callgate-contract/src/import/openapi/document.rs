//! The document: its dialect, and the places that references lead to.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Skip, Skipped, Unreadable};
use crate::document::push_token;

/// The deepest nesting that is read. The JSON parser stops there as well.
pub(super) const DEEPEST: usize = 128;

/// References that lead to references, at most.
const HOPS: usize = 32;

/// A document that can be read.
pub(super) struct Doc<'d> {
    pub(super) root: &'d Value,
    /// OpenAPI 3.0, whose schemas are a dialect of their own.
    pub(super) is_3_0: bool,
    pub(super) paths: &'d Map<String, Value>,
}

/// A value with its place in the document.
#[derive(Debug, Clone)]
pub(super) struct At<'d> {
    pub(super) value: &'d Value,
    pub(super) pointer: String,
}

impl<'d> At<'d> {
    pub(super) fn get(&self, name: &str) -> Option<At<'d>> {
        let value = self.value.get(name)?;
        Some(At { value, pointer: below(&self.pointer, name) })
    }

    pub(super) fn text(&self, name: &str) -> Option<&'d str> {
        self.value.get(name)?.as_str().map(str::trim).filter(|text| !text.is_empty())
    }

    pub(super) fn is(&self, name: &str) -> bool {
        self.value.get(name) == Some(&Value::Bool(true))
    }

    /// The elements of an array, or nothing.
    pub(super) fn items(&self) -> impl Iterator<Item = At<'d>> + use<'d> {
        let pointer = self.pointer.clone();
        let items = self.value.as_array().map(Vec::as_slice).unwrap_or_default();
        items
            .iter()
            .enumerate()
            .map(move |(i, value)| At { value, pointer: format!("{pointer}/{i}") })
    }

    /// The members of an object, or nothing.
    pub(super) fn members(&self) -> impl Iterator<Item = (&'d str, At<'d>)> + use<'d> {
        let pointer = self.pointer.clone();
        self.value
            .as_object()
            .into_iter()
            .flatten()
            .map(move |(name, value)| (name.as_str(), At { value, pointer: below(&pointer, name) }))
    }

    pub(super) fn skip(&self, why: Skip) -> Skipped {
        Skipped { pointer: self.pointer.clone(), why }
    }
}

pub(super) fn below(pointer: &str, name: &str) -> String {
    let mut out = pointer.to_owned();
    push_token(&mut out, name);
    out
}

impl<'d> Doc<'d> {
    pub(super) fn of(root: &'d Value) -> Result<Self, Unreadable> {
        let Value::Object(members) = root else { return Err(Unreadable::NotAnObject) };
        if is_deeper_than(root, DEEPEST) {
            return Err(Unreadable::TooDeep);
        }
        let is_3_0 = match (members.get("openapi"), members.get("swagger")) {
            (Some(Value::String(version)), _) => match minor(version) {
                Some(0) => true,
                Some(1 | 2) => false,
                _ => return Err(Unreadable::Version { found: format!("\"{version}\"") }),
            },
            (Some(other), _) => return Err(Unreadable::Version { found: other.to_string() }),
            (None, Some(version)) => {
                let version = version.as_str().map_or_else(|| version.to_string(), str::to_owned);
                return Err(Unreadable::Swagger { version });
            }
            (None, None) => return Err(Unreadable::Version { found: "absent".to_owned() }),
        };
        let paths = members.get("paths").and_then(Value::as_object).ok_or(Unreadable::NoPaths)?;
        Ok(Self { root, is_3_0, paths })
    }

    pub(super) fn at_root(&self) -> At<'d> {
        At { value: self.root, pointer: String::new() }
    }

    /// What a `$ref` leads to.
    pub(super) fn target(&self, reference: &str, from: &str) -> Result<At<'d>, Skipped> {
        let skipped = |why| Skipped { pointer: below(from, "$ref"), why };
        let Some(fragment) = reference.strip_prefix('#') else {
            return Err(skipped(Skip::External { reference: reference.to_owned() }));
        };
        let pointer = crate::schema::percent_decode(fragment);
        let dangling = || skipped(Skip::Dangling { reference: reference.to_owned() });
        let value = self.root.pointer(&pointer).ok_or_else(dangling)?;
        Ok(At { value, pointer })
    }

    /// The value itself, after all references.
    pub(super) fn resolve(&self, at: At<'d>) -> Result<At<'d>, Skipped> {
        let mut at = at;
        for _ in 0..HOPS {
            match at.value.get("$ref").and_then(Value::as_str) {
                Some(reference) => at = self.target(reference, &at.pointer)?,
                None => return Ok(at),
            }
        }
        Err(at.skip(Skip::Circular))
    }
}

/// The minor version of `3.x.y`.
fn minor(version: &str) -> Option<u32> {
    version.trim().strip_prefix("3.")?.split('.').next()?.parse().ok()
}

/// Without recursion: the caller may have made the value by other means than a parser.
fn is_deeper_than(value: &Value, deepest: usize) -> bool {
    let mut open: Vec<(&Value, usize)> = vec![(value, 0)];
    while let Some((value, depth)) = open.pop() {
        if depth > deepest {
            return true;
        }
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => open.extend(members.values().map(|m| (m, depth + 1))),
            _ => {}
        }
    }
    false
}

/// Notes, each place and message once.
#[derive(Debug, Default)]
pub(super) struct Notes(BTreeMap<(String, String), usize>);

impl Notes {
    pub(super) fn add(&mut self, pointer: impl Into<String>, message: impl Into<String>) {
        let next = self.0.len();
        self.0.entry((pointer.into(), message.into())).or_insert(next);
    }

    pub(super) fn append(&mut self, other: Self) {
        let mut all: Vec<_> = other.0.into_iter().collect();
        all.sort_by_key(|(_, order)| *order);
        for ((pointer, message), _) in all {
            self.add(pointer, message);
        }
    }

    /// In the order in which they were made.
    pub(super) fn told(self) -> Vec<super::Note> {
        let mut all: Vec<_> = self.0.into_iter().collect();
        all.sort_by_key(|(_, order)| *order);
        all.into_iter().map(|((pointer, message), _)| super::Note { pointer, message }).collect()
    }
}
