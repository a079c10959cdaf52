//! One schema of the document, as it stands in a contract.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{Converter, keyword};
use crate::{
    import::openapi::{
        Skip, Skipped,
        document::{At, below},
    },
    schema::Position,
};

/// The deepest nesting of schemas, references that are written out included.
const DEEPEST: usize = 96;

/// How many `allOf` within `allOf` are looked into for hidden properties.
const BRANCHES: usize = 8;

/// Keywords that say nothing about which values are right.
const ANNOTATIONS: [&str; 5] = ["title", "description", "default", "examples", "deprecated"];

/// What is left out of inner schemas that would be too large with it.
const WORDS: [&str; 4] = ["title", "description", "example", "examples"];

type Names = BTreeSet<String>;

impl<'d> Converter<'_, 'd> {
    /// Converts a schema.
    pub(in crate::import::openapi) fn schema(&mut self, at: &At<'d>) -> Result<Value, Skipped> {
        self.convert(at, 0, &Names::new())
    }

    /// `hidden` are properties that the schema around this one has taken out.
    fn convert(&mut self, at: &At<'d>, depth: usize, hidden: &Names) -> Result<Value, Skipped> {
        if depth > DEEPEST {
            return Err(at.skip(Skip::TooDeep));
        }
        match at.value {
            Value::Bool(any) => Ok(Value::Bool(*any)),
            Value::Object(members) => match members.get("$ref").and_then(Value::as_str) {
                Some(reference) => self.reference(at, members, reference, depth, hidden),
                None => self.keywords(at, members, depth, hidden),
            },
            other => {
                let message = format!("{} is no schema: anything is taken", kind(other));
                self.notes.add(&*at.pointer, message);
                Ok(json!({}))
            }
        }
    }

    fn reference(
        &mut self,
        at: &At<'d>,
        members: &'d Map<String, Value>,
        reference: &str,
        depth: usize,
        hidden: &Names,
    ) -> Result<Value, Skipped> {
        let target = self.doc.target(reference, &at.pointer)?;
        let referred = if self.survey.keeps(&target.pointer) {
            json!({ "$ref": format!("#/$defs/{}", self.name(target)) })
        } else {
            self.convert(&target, depth + 1, hidden)?
        };
        let mut beside = Map::new();
        for (name, value) in members {
            let counts = if self.doc.is_3_0 { name == "description" } else { name != "$ref" };
            if counts {
                beside.insert(name.clone(), value.clone());
            }
        }
        if beside.is_empty() {
            return Ok(referred);
        }
        let beside = match self.doc.is_3_0 {
            true => Value::Object(beside),
            false => self.keywords(at, members, depth, hidden)?,
        };
        Ok(joined(referred, beside))
    }

    /// The name of a definition under `$defs`.
    fn name(&mut self, target: At<'d>) -> String {
        if let Some(name) = self.names.get(&target.pointer) {
            return name.clone();
        }
        let last = target.pointer.rsplit('/').next().unwrap_or_default();
        let clean: String = last
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '_' })
            .collect();
        let taken = |name: &str| self.names.values().any(|other| other == name);
        let mut name = clean.clone();
        for next in 2.. {
            if !name.is_empty() && !taken(&name) {
                break;
            }
            name = format!("{clean}_{next}");
        }
        self.names.insert(target.pointer.clone(), name.clone());
        self.open.push_back((name.clone(), target));
        name
    }

    fn keywords(
        &mut self,
        at: &At<'d>,
        members: &'d Map<String, Value>,
        depth: usize,
        hidden: &Names,
    ) -> Result<Value, Skipped> {
        let mut hidden = hidden.clone();
        self.collect_hidden(at, BRANCHES, &mut hidden);
        let mut out = Map::new();
        for (word, value) in members {
            // Words for people, where there are too many of them.
            if self.brief && depth > 0 && WORDS.contains(&word.as_str()) {
                continue;
            }
            let here = At { value, pointer: below(&at.pointer, word) };
            match keyword::place(word, value) {
                Some(Position::Schema) => {
                    out.insert(word.clone(), self.convert(&here, depth + 1, &Names::new())?);
                }
                Some(Position::Map) => {
                    let mut map = Map::new();
                    for (name, sub) in here.members() {
                        if word == "properties" && self.is_hidden(&sub) {
                            continue;
                        }
                        map.insert(name.to_owned(), self.convert(&sub, depth + 1, &Names::new())?);
                    }
                    out.insert(word.clone(), Value::Object(map));
                }
                Some(Position::List) => {
                    let passed = if word == "allOf" { hidden.clone() } else { Names::new() };
                    let list: Vec<Value> = here
                        .items()
                        .map(|sub| self.convert(&sub, depth + 1, &passed))
                        .collect::<Result<_, _>>()?;
                    if !list.is_empty() {
                        out.insert(word.clone(), Value::Array(list));
                    }
                }
                None => {
                    if let Some((word, value)) =
                        keyword::plain(word, value, members, &here.pointer, &mut self.notes)
                    {
                        out.insert(word.to_owned(), value);
                    }
                }
            }
        }
        if let Some(Value::Array(names)) = out.get_mut("required") {
            names.retain(|name| name.as_str().is_none_or(|name| !hidden.contains(name)));
            let mut seen = BTreeSet::new();
            names.retain(|name| seen.insert(name.to_string()));
            if names.is_empty() {
                out.remove("required");
            }
        }
        let nullable = members.get("nullable") == Some(&Value::Bool(true));
        Ok(if nullable { with_null(out) } else { Value::Object(out) })
    }

    /// The properties of a schema, and of its `allOf` branches, that do not go this way.
    fn collect_hidden(&self, at: &At<'d>, deeper: usize, hidden: &mut Names) {
        let Ok(at) = self.doc.resolve(at.clone()) else { return };
        if let Some(properties) = at.get("properties") {
            for (name, property) in properties.members() {
                if self.is_hidden(&property) {
                    hidden.insert(name.to_owned());
                }
            }
        }
        if deeper > 0
            && let Some(branches) = at.get("allOf")
        {
            branches.items().for_each(|branch| self.collect_hidden(&branch, deeper - 1, hidden));
        }
    }
}

/// A referred schema with what stands beside the reference.
fn joined(referred: Value, beside: Value) -> Value {
    let (mut out, beside) = match (referred, beside) {
        (Value::Object(out), Value::Object(beside)) => (out, beside),
        (referred, _) => return referred,
    };
    let is_reference = out.contains_key("$ref");
    let clash = |name: &String| !ANNOTATIONS.contains(&name.as_str()) && out.contains_key(name);
    // `additionalProperties` and its like look at their neighbours: they stay with their own.
    let looks_around = |map: &Map<String, Value>| {
        ["properties", "additionalProperties", "items", "if", "unevaluatedProperties"]
            .iter()
            .any(|name| map.contains_key(*name))
    };
    if beside.keys().any(clash) || (!is_reference && looks_around(&beside)) {
        return json!({ "allOf": [out, beside] });
    }
    out.extend(beside);
    Value::Object(out)
}

/// `nullable`: the same, or null.
fn with_null(mut schema: Map<String, Value>) -> Value {
    let others = ["$ref", "allOf", "anyOf", "oneOf", "not", "const", "if"];
    if others.iter().any(|word| schema.contains_key(*word)) {
        let mut out = Map::new();
        for word in ANNOTATIONS {
            if let Some(value) = schema.remove(word) {
                out.insert(word.to_owned(), value);
            }
        }
        out.insert("anyOf".to_owned(), json!([schema, {"type": "null"}]));
        return Value::Object(out);
    }
    if let Some(types) = schema.get_mut("type") {
        match types {
            Value::String(one) if one != "null" => *types = json!([one, "null"]),
            Value::Array(all) if !all.iter().any(|t| t == "null") => all.push(json!("null")),
            _ => {}
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    Value::Object(schema)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
