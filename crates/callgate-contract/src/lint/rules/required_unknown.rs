//! Required names that no schema describes.

use std::collections::HashSet;

use serde_json::Value;

use super::{Check, Draft, Level, Rule, Seen};
use crate::{
    lint::reach::{Role, target_of},
    suggest,
};

pub(super) const RULE: Rule = Rule {
    id: "required-unknown",
    level: Level::Error,
    finds: "A name under `required` that is no property.",
    why: "The model has to send something it is told nothing about; in a closed object no call can ever be right.",
    instead: "Describe the property, or correct the name.",
    fixes: false,
    check: Check::Tool(check),
};

fn check(tool: &Seen<'_>, found: &mut Vec<Draft>) {
    let Some(input) = &tool.input else { return };
    let root = input.schema.value();
    // The members known to an object are those of all schemas that judge it: a branch's `required`
    // may name what stands beside the union.
    let mut judged: HashSet<String> = HashSet::new();
    input.reach(&mut |spot| {
        if spot.negative || spot.role == Role::Branch || spot.beside.is_some() {
            return;
        }
        let mut known = Known::default();
        gather(root, spot.value, &spot.pointer, &mut known, 0);
        if known.open_ended || known.names.is_empty() {
            return;
        }
        let names: Vec<&str> = known.names.iter().copied().collect();
        for (at, name) in &known.required {
            if known.names.contains(name) || !judged.insert(format!("{at} {name}")) {
                continue;
            }
            let suggestion = match suggest::nearest(name, &names) {
                Some(near) => format!("Did you mean \"{near}\"?"),
                None => format!(
                    "Describe it under \"properties\": the object has {}.",
                    names.join(", ")
                ),
            };
            found.push(Draft::new(
                format!("{}{at}", input.at),
                format!(
                    "\"{name}\" is required and is no property: a model must send it and is told \
                     nothing about it"
                ),
                suggestion,
            ));
        }
    });
}

#[derive(Default)]
struct Known<'s> {
    names: std::collections::BTreeSet<&'s str>,
    required: Vec<(String, &'s str)>,
    /// Names come by pattern, or from where this cannot see.
    open_ended: bool,
}

fn gather<'s>(root: &'s Value, schema: &'s Value, at: &str, known: &mut Known<'s>, depth: usize) {
    let Value::Object(keywords) = schema else { return };
    if depth > 8 {
        known.open_ended = true;
        return;
    }
    let properties = keywords.get("properties").and_then(Value::as_object);
    known
        .names
        .extend(properties.into_iter().flat_map(|members| members.keys().map(String::as_str)));
    for keyword in ["patternProperties", "propertyNames", "$dynamicRef", "$recursiveRef"] {
        known.open_ended |= keywords.contains_key(keyword);
    }
    // Other members are described by a schema: a map with some names that must be there.
    known.open_ended |= matches!(keywords.get("additionalProperties"), Some(Value::Object(_)));
    let required = keywords.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        known.required.push((format!("{at}/required"), name));
    }
    if let Some(target) = keywords.get("$ref").and_then(Value::as_str) {
        match target_of(root, target) {
            Some((at, value)) => gather(root, value, &at, known, depth + 1),
            None => known.open_ended = true,
        }
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let branches = keywords.get(keyword).and_then(Value::as_array);
        for (i, branch) in branches.into_iter().flatten().enumerate() {
            gather(root, branch, &format!("{at}/{keyword}/{i}"), known, depth + 1);
        }
    }
    for keyword in ["then", "else"] {
        if let Some(branch) = keywords.get(keyword) {
            gather(root, branch, &format!("{at}/{keyword}"), known, depth + 1);
        }
    }
    let dependent = keywords.get("dependentSchemas").and_then(Value::as_object);
    for (name, branch) in dependent.into_iter().flatten() {
        gather(root, branch, &format!("{at}/dependentSchemas/{name}"), known, depth + 1);
    }
}
