//! The document's schemas: validators, kinds, and what a text on the wire stands for.

use serde_json::{Map, Value, json};

use crate::document::Document;

/// Which way a value goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Request,
    Response,
}

impl Way {
    fn hides(self) -> &'static str {
        match self {
            Self::Request => "readOnly",
            Self::Response => "writeOnly",
        }
    }
}

/// What is wrong with a value, if anything. A schema that cannot be read says nothing.
pub(crate) fn refused(
    document: &Document,
    schema: &Value,
    value: &Value,
    way: Way,
) -> Option<String> {
    let validator = validator(document, schema, way)?;
    let error = validator.iter_errors(value).next()?;
    Some(format!("{error} (at {})", error.instance_path()))
}

fn validator(document: &Document, schema: &Value, way: Way) -> Option<jsonschema::Validator> {
    let mut bundle = Bundle { document, way, found: Vec::new(), written: Map::new() };
    let mut whole = json!({ "allOf": [bundle.rewrite(schema, &[])] });
    while let Some(next) = bundle.found.iter().find(|r| !bundle.written.contains_key(&key(r))) {
        let next = next.clone();
        let target = document.deref(&json!({ "$ref": next })).clone();
        let written = bundle.rewrite(&target, &[]);
        bundle.written.insert(key(&next), written);
    }
    whole["definitions"] = Value::Object(bundle.written);
    let draft = match document.is_3_0() {
        // The dialect of 3.0 is draft-04's: nothing counts beside a reference, exclusive bounds are
        // flags.
        true => jsonschema::Draft::Draft4,
        false => jsonschema::Draft::Draft202012,
    };
    jsonschema::options().with_draft(draft).should_validate_formats(false).build(&whole).ok()
}

fn key(reference: &str) -> String {
    reference.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// A schema with what it refers to, by itself.
struct Bundle<'d> {
    document: &'d Document,
    way: Way,
    found: Vec<String>,
    written: Map<String, Value>,
}

impl Bundle<'_> {
    fn rewrite(&mut self, schema: &Value, hidden: &[String]) -> Value {
        let members = match schema {
            Value::Object(members) => members,
            Value::Array(items) => {
                return items.iter().map(|item| self.rewrite(item, &[])).collect();
            }
            other => return other.clone(),
        };
        if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
            // A branch whose neighbours hide something is written out.
            if !hidden.is_empty() {
                let target = self.document.deref(schema).clone();
                return self.rewrite(&target, hidden);
            }
            self.found.push(reference.to_owned());
            let mut out = json!({ "$ref": format!("#/definitions/{}", key(reference)) });
            if !self.document.is_3_0() {
                let beside = members.iter().filter(|(name, _)| *name != "$ref");
                for (name, value) in
                    beside.map(|(n, v)| (n.clone(), self.rewrite(v, &[]))).collect::<Vec<_>>()
                {
                    out[name] = value;
                }
            }
            return out;
        }
        let mut hidden = hidden.to_vec();
        self.hidden(schema, &mut hidden, 6);
        let mut out = Map::new();
        for (name, value) in members {
            let rewritten = match name.as_str() {
                "discriminator" | "xml" | "example" | "examples" | "default" | "nullable"
                | "externalDocs" | "description" | "title" => continue,
                "enum" | "const" => value.clone(),
                "properties" => value
                    .as_object()
                    .into_iter()
                    .flatten()
                    .map(|(name, value)| (name.clone(), self.rewrite(value, &[])))
                    .collect::<Map<_, _>>()
                    .into(),
                "required" => value
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter(|name| !hidden.iter().any(|hidden| *name == hidden))
                    .cloned()
                    .collect::<Vec<_>>()
                    .into(),
                "allOf" => value
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(|branch| self.rewrite(branch, &hidden))
                    .collect::<Vec<_>>()
                    .into(),
                _ => self.rewrite(value, &[]),
            };
            // Draft-04 wants one name at least.
            if !(name == "required" && rewritten == json!([])) {
                out.insert(name.clone(), rewritten);
            }
        }
        match members.get("nullable") {
            Some(Value::Bool(true)) => json!({ "anyOf": [out, { "type": "null" }] }),
            _ => Value::Object(out),
        }
    }

    fn hidden(&self, schema: &Value, out: &mut Vec<String>, deeper: usize) {
        let schema = self.document.deref(schema);
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let flag = self.way.hides();
            if property[flag] == true || self.document.deref(property)[flag] == true {
                out.push(name.clone());
            }
        }
        if deeper > 0 {
            let branches = schema["allOf"].as_array().into_iter().flatten();
            branches.for_each(|branch| self.hidden(branch, out, deeper - 1));
        }
    }
}

/// What a schema stands for on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    List,
    Object,
    Other,
}

pub(crate) fn kind(document: &Document, schema: &Value) -> Kind {
    kind_within(document, schema, 6)
}

fn kind_within(document: &Document, schema: &Value, deeper: usize) -> Kind {
    let schema = document.deref(schema);
    let is = |word: &str| {
        schema["type"] == word
            || schema["type"].as_array().is_some_and(|a| a.iter().any(|t| t == word))
    };
    if is("object") || (schema["type"].is_null() && schema["properties"].is_object()) {
        return Kind::Object;
    }
    if is("array") || (schema["type"].is_null() && schema["items"].is_object()) {
        return Kind::List;
    }
    if deeper > 0 {
        for word in ["allOf", "anyOf", "oneOf"] {
            let branches = schema[word].as_array().into_iter().flatten();
            let kinds: Vec<Kind> =
                branches.map(|branch| kind_within(document, branch, deeper - 1)).collect();
            for kind in [Kind::Object, Kind::List] {
                if kinds.contains(&kind) {
                    return kind;
                }
            }
        }
    }
    Kind::Other
}

/// The names of an object's declared members.
pub(crate) fn declared(document: &Document, schema: &Value) -> Vec<String> {
    let schema = document.deref(schema);
    let own = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone());
    let mut all: Vec<String> = own.collect();
    for word in ["allOf", "anyOf", "oneOf"] {
        for branch in schema[word].as_array().into_iter().flatten() {
            all.extend(declared(document, branch));
        }
    }
    all
}

/// The schema of a member.
pub(crate) fn member<'d>(
    document: &'d Document,
    schema: &'d Value,
    name: &str,
) -> Option<&'d Value> {
    let schema = document.deref(schema);
    if let Some(found) = schema["properties"].get(name) {
        return Some(found);
    }
    for word in ["allOf", "anyOf", "oneOf"] {
        for branch in schema[word].as_array().into_iter().flatten() {
            if let Some(found) = member(document, branch, name) {
                return Some(found);
            }
        }
    }
    schema.get("additionalProperties").filter(|rest| rest.is_object())
}

/// Texts as the values that the schema means by them.
pub(crate) fn typed(document: &Document, schema: &Value, value: &Value) -> Value {
    let mut candidates = candidates(document, schema, value);
    if candidates.len() == 1 {
        return candidates.remove(0);
    }
    let fits = |candidate: &&Value| refused(document, schema, candidate, Way::Request).is_none();
    candidates.iter().find(fits).or(candidates.first()).cloned().unwrap_or(Value::Null)
}

fn candidates(document: &Document, schema: &Value, value: &Value) -> Vec<Value> {
    match value {
        Value::String(text) => {
            let read = serde_json::from_str(text).ok();
            match document.deref(schema)["type"].as_str() {
                Some("string") => vec![value.clone()],
                Some(_) => vec![read.unwrap_or_else(|| value.clone())],
                None => [Some(value.clone()), read].into_iter().flatten().collect(),
            }
        }
        Value::Array(items) => {
            let inner = items_of(document, schema).cloned().unwrap_or(json!({}));
            vec![items.iter().map(|item| typed(document, &inner, item)).collect()]
        }
        Value::Object(members) => {
            let all = members.iter().map(|(name, value)| {
                let schema = member(document, schema, name).cloned().unwrap_or(json!({}));
                (name.clone(), typed(document, &schema, value))
            });
            vec![Value::Object(all.collect())]
        }
        other => vec![other.clone()],
    }
}

fn items_of<'d>(document: &'d Document, schema: &'d Value) -> Option<&'d Value> {
    let schema = document.deref(schema);
    if schema["items"].is_object() {
        return Some(&schema["items"]);
    }
    ["allOf", "anyOf", "oneOf"].iter().find_map(|word| {
        schema[*word].as_array()?.iter().find_map(|branch| items_of(document, branch))
    })
}
