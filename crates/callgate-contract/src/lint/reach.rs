//! The subschemas that an instance can meet: references followed, definitions nobody names left
//! out.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::document::push_token;

/// How an instance comes to a subschema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role<'s> {
    /// It is the whole.
    Root,
    /// It is a member of this name.
    Property(&'s str),
    /// It is an element.
    Element,
    /// It is a member of any other name.
    Member,
    /// It is the same instance, judged by one more schema.
    Branch,
}

/// A subschema and what is around it.
#[derive(Debug, Clone)]
pub(crate) struct Spot<'s> {
    /// JSON Pointer from the schema's root: where it is written.
    pub pointer: String,
    /// The subschema, an object or a boolean.
    pub value: &'s Value,
    /// How an instance comes here.
    pub role: Role<'s>,
    /// Judged together with others that see the same object: closing it would shut their members
    /// out.
    pub composed: bool,
    /// Below `not` or `if`: a constraint here is none.
    pub negative: bool,
    /// Its member must be there.
    pub required: bool,
    /// What stands beside the reference that led here.
    pub beside: Option<&'s Map<String, Value>>,
}

impl<'s> Spot<'s> {
    /// Its keywords; none for a boolean.
    pub(crate) fn get(&self, keyword: &str) -> Option<&'s Value> {
        self.value.get(keyword)
    }

    /// A keyword's text.
    pub(crate) fn text(&self, keyword: &str) -> Option<&'s str> {
        self.get(keyword).and_then(Value::as_str)
    }

    /// Whether the schema says that its instances are all of one of these types.
    pub(crate) fn is_of(&self, types: &[&str]) -> bool {
        match self.get("type") {
            Some(Value::String(one)) => types.contains(&one.as_str()),
            Some(Value::Array(several)) => {
                let mut named = several.iter().filter_map(Value::as_str);
                let mut other = named.clone().filter(|t| *t != "null");
                named.any(|t| types.contains(&t)) && other.all(|t| types.contains(&t))
            }
            _ => false,
        }
    }
}

/// Visits what can be met, outermost first, each subschema once.
pub(crate) fn reach<'s>(root: &'s Value, visit: &mut dyn FnMut(&Spot<'s>)) {
    let spot = Spot {
        pointer: String::new(),
        value: root,
        role: Role::Root,
        composed: false,
        negative: false,
        required: true,
        beside: None,
    };
    Walk { root, seen: HashSet::new(), visit }.step(&spot);
}

struct Walk<'s, 'v> {
    root: &'s Value,
    seen: HashSet<String>,
    visit: &'v mut dyn FnMut(&Spot<'s>),
}

impl<'s> Walk<'s, '_> {
    fn step(&mut self, spot: &Spot<'s>) {
        if !self.seen.insert(spot.pointer.clone()) {
            return;
        }
        (self.visit)(spot);
        let Value::Object(keywords) = spot.value else { return };
        if let Some(target) = keywords.get("$ref").and_then(Value::as_str)
            && let Some((pointer, value)) = target_of(self.root, target)
        {
            let alone = keywords.keys().all(|k| k == "$ref" || is_annotation(k));
            let composed = spot.composed || !alone;
            let beside = Some(keywords);
            self.step(&Spot { pointer, value, composed, beside, ..spot.clone() });
        }
        let below = |tokens: &[&str]| {
            let mut pointer = spot.pointer.clone();
            tokens.iter().for_each(|token| push_token(&mut pointer, token));
            pointer
        };
        let child = |pointer: String, value: &'s Value, role: Role<'s>| Spot {
            pointer,
            value,
            role,
            composed: false,
            negative: spot.negative,
            required: false,
            beside: None,
        };
        let required = keywords.get("required").and_then(Value::as_array);
        for (name, value) in members(keywords, "properties") {
            let mut spot = child(below(&["properties", name]), value, Role::Property(name));
            spot.required = required.is_some_and(|names| names.iter().any(|n| n == name));
            self.step(&spot);
        }
        for (name, value) in members(keywords, "patternProperties") {
            self.step(&child(below(&["patternProperties", name]), value, Role::Member));
        }
        for keyword in ["additionalProperties", "unevaluatedProperties"] {
            if let Some(value) = keywords.get(keyword) {
                self.step(&child(below(&[keyword]), value, Role::Member));
            }
        }
        for keyword in ["items", "prefixItems", "additionalItems", "contains"] {
            match keywords.get(keyword) {
                Some(Value::Array(list)) => {
                    for (i, value) in list.iter().enumerate() {
                        self.step(&child(below(&[keyword, &i.to_string()]), value, Role::Element));
                    }
                }
                Some(value) => self.step(&child(below(&[keyword]), value, Role::Element)),
                None => {}
            }
        }
        // A branch alone in its node may close itself; one beside members may not.
        let shares = keywords.contains_key("properties") || spot.composed;
        for keyword in ["allOf", "anyOf", "oneOf"] {
            let Some(Value::Array(list)) = keywords.get(keyword) else { continue };
            for (i, value) in list.iter().enumerate() {
                let mut branch = child(below(&[keyword, &i.to_string()]), value, Role::Branch);
                branch.composed = keyword == "allOf" || shares;
                self.step(&branch);
            }
        }
        for keyword in ["then", "else", "if", "not"] {
            if let Some(value) = keywords.get(keyword) {
                let mut branch = child(below(&[keyword]), value, Role::Branch);
                branch.composed = true;
                branch.negative |= matches!(keyword, "if" | "not");
                self.step(&branch);
            }
        }
        for (name, value) in members(keywords, "dependentSchemas") {
            let mut branch = child(below(&["dependentSchemas", name]), value, Role::Branch);
            branch.composed = true;
            self.step(&branch);
        }
    }
}

fn members<'s>(
    keywords: &'s Map<String, Value>,
    keyword: &str,
) -> impl Iterator<Item = (&'s String, &'s Value)> + use<'s> {
    keywords.get(keyword).and_then(Value::as_object).into_iter().flatten()
}

/// A local reference's pointer and schema.
pub(crate) fn target_of<'s>(root: &'s Value, target: &str) -> Option<(String, &'s Value)> {
    let pointer = target.strip_prefix('#')?;
    if pointer.contains('%') || !(pointer.is_empty() || pointer.starts_with('/')) {
        return None;
    }
    Some((pointer.to_owned(), root.pointer(pointer)?))
}

/// Whether a keyword only speaks about instances.
pub(crate) fn is_annotation(keyword: &str) -> bool {
    matches!(
        keyword,
        "title"
            | "description"
            | "default"
            | "examples"
            | "example"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
            | "$comment"
            | "$schema"
            | "$id"
    )
}

/// A subschema as a schema of its own, with the definitions of its root where it refers to them.
pub(crate) fn alone(root: &Value, value: &Value) -> Value {
    let (Value::Object(root), Value::Object(own)) = (root, value) else { return value.clone() };
    let mut whole = own.clone();
    if let Some(dialect) = root.get("$schema") {
        whole.entry("$schema").or_insert_with(|| dialect.clone());
    }
    if has_refs(value) {
        for keyword in ["$defs", "definitions"] {
            if let Some(definitions) = root.get(keyword) {
                whole.insert(keyword.to_owned(), definitions.clone());
            }
        }
    }
    Value::Object(whole)
}

fn has_refs(value: &Value) -> bool {
    match value {
        Value::Object(members) => {
            members.contains_key("$ref")
                || members.contains_key("$dynamicRef")
                || members.values().any(has_refs)
        }
        Value::Array(items) => items.iter().any(has_refs),
        _ => false,
    }
}
