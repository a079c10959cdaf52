//! One dialect of JSON Schema to start from: 2020-12, with what older drafts say in its words.
//!
//! Exact, so nothing here is a loss. References by anchor or id become pointers; what names the
//! document itself (`$schema`, `$id`, `$comment`) goes.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{AT, Below, Node, nothing};
use crate::document::{push_token, unescape_token};

/// The schema in the words of 2020-12, every node marked with its place.
pub(in super::super) fn normalise(schema: &Value) -> Value {
    let draft = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
    let old = ["draft-04", "draft-06", "draft-07"].iter().any(|d| draft.contains(d));
    let mut names = BTreeMap::new();
    gather(schema, &mut String::new(), &mut names);
    let job = Job { root: schema, refs_stand_alone: old, names };
    job.schema(schema, &mut String::new())
}

struct Job<'s> {
    root: &'s Value,
    /// Up to draft-07 nothing counts beside a `$ref`.
    refs_stand_alone: bool,
    /// Anchors and ids, to pointers.
    names: BTreeMap<String, String>,
}

fn gather(value: &Value, at: &mut String, names: &mut BTreeMap<String, String>) {
    let Value::Object(node) = value else { return };
    for keyword in ["$anchor", "$dynamicAnchor"] {
        if let Some(name) = node.get(keyword).and_then(Value::as_str) {
            names.entry(format!("#{name}")).or_insert_with(|| at.clone());
        }
    }
    for keyword in ["$id", "id"] {
        if let Some(id) = node.get(keyword).and_then(Value::as_str) {
            let id = id.trim_end_matches('#');
            names.entry(id.to_owned()).or_insert_with(|| at.clone());
            if let Some((_, last)) = id.rsplit_once('/') {
                names.entry(last.to_owned()).or_insert_with(|| at.clone());
            }
        }
    }
    let depth = at.len();
    crate::schema::walk(value, &mut |pointer, below| {
        if !pointer.is_empty() && below.is_object() {
            for keyword in ["$anchor", "$dynamicAnchor", "$id", "id"] {
                let Some(name) = below.get(keyword).and_then(Value::as_str) else { continue };
                let key = if keyword.ends_with("nchor") {
                    format!("#{name}")
                } else {
                    name.trim_end_matches('#').to_owned()
                };
                names.entry(key).or_insert_with(|| pointer.to_owned());
            }
        }
    });
    at.truncate(depth);
}

impl Job<'_> {
    fn schema(&self, value: &Value, at: &mut String) -> Value {
        match value {
            Value::Object(node) => Value::Object(self.node(node, at)),
            Value::Bool(true) => json!({ AT: at.as_str() }),
            Value::Bool(false) => Value::Object(nothing(at)),
            other => other.clone(),
        }
    }

    fn node(&self, node: &Node, at: &mut String) -> Node {
        let depth = at.len();
        let mut out = Node::new();
        out.insert(AT.to_owned(), at.as_str().into());
        let alone = self.refs_stand_alone && node.contains_key("$ref");
        for (keyword, value) in node {
            push_token(at, keyword);
            let stays = !alone
                || matches!(
                    keyword.as_str(),
                    "$ref" | "title" | "description" | "default" | "definitions" | "$defs"
                );
            if stays {
                self.keyword(keyword, value, node, at, &mut out);
            }
            at.truncate(depth);
        }
        out
    }

    fn keyword(&self, keyword: &str, value: &Value, node: &Node, at: &mut String, out: &mut Node) {
        match (keyword, value) {
            (
                "$schema" | "$id" | "$comment" | "$vocabulary" | "$anchor" | "$dynamicAnchor"
                | "$recursiveAnchor",
                _,
            )
            | ("id", Value::String(_)) => {}
            (AT, _) => {}
            ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(target)) => {
                out.insert("$ref".to_owned(), self.target(target).into());
            }
            ("definitions" | "$defs", Value::Object(map)) => {
                let map = self.map(map, at);
                match out.get_mut("$defs") {
                    Some(Value::Object(defs)) => defs.extend(map),
                    _ => {
                        out.insert("$defs".to_owned(), map.into());
                    }
                }
            }
            ("exclusiveMinimum" | "exclusiveMaximum", Value::Bool(exclusive)) => {
                let bound = if keyword == "exclusiveMinimum" { "minimum" } else { "maximum" };
                if let (true, Some(limit)) = (exclusive, node.get(bound)) {
                    out.insert(keyword.to_owned(), limit.clone());
                    out.shift_remove(bound);
                }
            }
            ("minimum" | "maximum", _) => {
                let exclusive =
                    if keyword == "minimum" { "exclusiveMinimum" } else { "exclusiveMaximum" };
                if node.get(exclusive) != Some(&Value::Bool(true)) {
                    out.insert(keyword.to_owned(), value.clone());
                }
            }
            ("items", Value::Array(list)) => {
                out.insert("prefixItems".to_owned(), self.list(list, at));
            }
            ("additionalItems", _) if node.get("items").is_none_or(|items| !items.is_array()) => {}
            ("additionalItems", Value::Bool(_)) => {
                out.insert("items".to_owned(), value.clone());
            }
            ("additionalItems", _) => {
                out.insert("items".to_owned(), self.schema(value, at));
            }
            ("dependencies", Value::Object(map)) => self.dependencies(map, at, out),
            (
                "additionalProperties" | "items" | "unevaluatedProperties" | "unevaluatedItems",
                _,
            ) if value.is_boolean() => {
                out.insert(keyword.to_owned(), value.clone());
            }
            _ => {
                let value = match (super::below(keyword), value) {
                    (Some(Below::Schema), value) => self.schema(value, at),
                    (Some(Below::Map), Value::Object(map)) => self.map(map, at).into(),
                    (Some(Below::List), Value::Array(list)) => self.list(list, at),
                    _ => value.clone(),
                };
                out.insert(keyword.to_owned(), value);
            }
        }
    }

    fn dependencies(&self, map: &Map<String, Value>, at: &mut String, out: &mut Node) {
        let (mut required, mut schemas) = (Node::new(), Node::new());
        let depth = at.len();
        for (name, value) in map {
            push_token(at, name);
            if value.is_array() {
                required.insert(name.clone(), value.clone());
            } else {
                schemas.insert(name.clone(), self.schema(value, at));
            }
            at.truncate(depth);
        }
        if !required.is_empty() {
            out.insert("dependentRequired".to_owned(), required.into());
        }
        if !schemas.is_empty() {
            out.insert("dependentSchemas".to_owned(), schemas.into());
        }
    }

    fn map(&self, map: &Map<String, Value>, at: &mut String) -> Map<String, Value> {
        let depth = at.len();
        let mut out = Map::new();
        for (name, value) in map {
            push_token(at, name);
            out.insert(name.clone(), self.schema(value, at));
            at.truncate(depth);
        }
        out
    }

    fn list(&self, list: &[Value], at: &mut String) -> Value {
        let depth = at.len();
        let mut out = Vec::with_capacity(list.len());
        for (i, value) in list.iter().enumerate() {
            push_token(at, &i.to_string());
            out.push(self.schema(value, at));
            at.truncate(depth);
        }
        Value::Array(out)
    }

    /// A reference as a pointer into the normalised schema, or as it was where it leads outside.
    fn target(&self, target: &str) -> String {
        let pointer = match target.strip_prefix('#') {
            Some(pointer) if pointer.is_empty() || pointer.starts_with('/') => pointer.to_owned(),
            Some(_) => match self.names.get(target) {
                Some(pointer) => pointer.clone(),
                None => return target.to_owned(),
            },
            None => {
                let (id, fragment) = target.split_once('#').unwrap_or((target, ""));
                let last = id.rsplit('/').next().unwrap_or_default();
                match self.names.get(id).or_else(|| self.names.get(last)) {
                    Some(base) => format!("{base}{fragment}"),
                    None => return target.to_owned(),
                }
            }
        };
        format!("#{}", self.renamed(&pointer))
    }

    /// The pointer with the keywords that normalising renames.
    fn renamed(&self, pointer: &str) -> String {
        let mut out = String::with_capacity(pointer.len());
        let mut here = Some(self.root);
        let mut name_next = false;
        for token in pointer.split('/').skip(1) {
            let name = unescape_token(token);
            let renamed = match name.as_ref() {
                _ if name_next => token,
                "definitions" => "$defs",
                "items" if here.and_then(|h| h.get("items")).is_some_and(Value::is_array) => {
                    "prefixItems"
                }
                "additionalItems" => "items",
                "dependencies" => "dependentSchemas",
                _ => token,
            };
            name_next =
                !name_next && matches!(super::below(renamed), Some(Below::Map | Below::List));
            here = here.and_then(|h| match h {
                Value::Array(list) => list.get(name.parse::<usize>().ok()?),
                other => other.get(name.as_ref()),
            });
            out.push('/');
            out.push_str(renamed);
        }
        out
    }
}
