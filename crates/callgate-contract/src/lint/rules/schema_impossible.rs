//! Schemas that no value fits.

use serde_json::Value;

use super::{Check, Draft, Level, Rule, Seen};
use crate::{
    lint::{
        reach::{Role, Spot, alone, is_annotation},
        seen::Part,
    },
    schema::canonical,
};

pub(super) const RULE: Rule = Rule {
    id: "schema-impossible",
    level: Level::Error,
    finds: "A schema that no value fits, proved.",
    why: "No call, or no result, can ever be right: the model tries until its budget is used up.",
    instead: "Take out one of the constraints that shut each other out.",
    fixes: false,
    check: Check::Tool(check),
};

fn check(tool: &Seen<'_>, found: &mut Vec<Draft>) {
    for part in tool.parts() {
        in_part(part, found);
    }
}

fn in_part(part: &Part, found: &mut Vec<Draft>) {
    let root = part.schema.value();
    let mut spots: Vec<Spot<'_>> = Vec::new();
    part.reach(&mut |spot| {
        // A literal false says what it means.
        if spot.value.is_object() && !spot.negative && may_conflict(spot) {
            spots.push(spot.clone());
        }
    });
    // Inner ones first: what holds an impossible part is impossible because of it.
    let mut told: Vec<String> = Vec::new();
    for spot in spots.iter().rev() {
        let holds = |pointer: &String| pointer.starts_with(&spot.pointer);
        if told.iter().any(holds) || (spot.role == Role::Root && !told.is_empty()) {
            continue;
        }
        if !canonical::is_impossible(&alone(root, spot.value)) {
            continue;
        }
        told.push(spot.pointer.clone());
        let what = match spot.role {
            Role::Root if part.at.contains("utput") || part.at.contains("esponse") => {
                "no result fits this schema".to_owned()
            }
            Role::Root => "no arguments fit this schema".to_owned(),
            Role::Property(name) if spot.required => {
                format!("no value fits \"{name}\", which is required: no call can be right")
            }
            Role::Property(name) => format!("no value fits \"{name}\""),
            Role::Element => "no value fits as an element".to_owned(),
            Role::Member => "no value fits as a member".to_owned(),
            Role::Branch => "no value fits this branch".to_owned(),
        };
        found.push(Draft::new(
            format!("{}{}", part.at, spot.pointer),
            format!("{what} (proved): {}", conflict(spot)),
            "Take out one of the constraints that shut each other out.",
        ));
    }
}

/// Whether constraints stand together that can shut each other out.
fn may_conflict(spot: &Spot<'_>) -> bool {
    if spot.role == Role::Root {
        return true;
    }
    let Value::Object(keywords) = spot.value else { return false };
    let plain = ["type", "properties", "required", "additionalProperties", "items", "format"];
    keywords.keys().any(|keyword| !plain.contains(&keyword.as_str()) && !is_annotation(keyword))
        && keywords.keys().filter(|keyword| !is_annotation(keyword)).count() > 1
        || ["required", "not", "allOf", "enum"]
            .iter()
            .any(|keyword| keywords.contains_key(*keyword))
}

/// The constraints by name.
fn conflict(spot: &Spot<'_>) -> String {
    let Value::Object(keywords) = spot.value else { return String::new() };
    let names: Vec<String> = keywords
        .iter()
        .filter(|(keyword, _)| !is_annotation(keyword) && !keyword.starts_with('$'))
        .map(|(keyword, value)| match value {
            Value::Object(_) | Value::Array(_) => keyword.clone(),
            value => format!("{keyword} {value}"),
        })
        .collect();
    format!("{} cannot all hold", crate::lint::texts::listed(&names, 6))
}
