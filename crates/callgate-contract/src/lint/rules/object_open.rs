//! Objects that take members which they do not list.

use serde_json::Value;

use super::{Check, Draft, Level, Rule, Seen};
use crate::lint::texts::count;

pub(super) const RULE: Rule = Rule {
    id: "object-open",
    level: Level::Warning,
    finds: "An object of the arguments that lists its members and takes any other too.",
    why: "A misspelt optional argument passes every gate unseen, and what was meant is not done; strict decoding needs closed objects.",
    instead: "Add `\"additionalProperties\": false`.",
    fixes: false,
    check: Check::Tool(check),
};

fn check(tool: &Seen<'_>, found: &mut Vec<Draft>) {
    let Some(input) = &tool.input else { return };
    let mut open: Vec<(String, bool)> = Vec::new();
    let mut has_optional = false;
    input.reach(&mut |spot| {
        let listed = spot.get("properties").and_then(Value::as_object);
        if spot.negative || spot.composed || listed.is_none_or(|members| members.is_empty()) {
            return;
        }
        let combined = ["allOf", "anyOf", "oneOf", "$ref", "if", "patternProperties"];
        let closes = ["unevaluatedProperties", "propertyNames", "maxProperties"];
        if combined.iter().chain(&closes).any(|keyword| spot.get(keyword).is_some()) {
            return;
        }
        let said = match spot.get("additionalProperties") {
            None => false,
            Some(Value::Bool(true)) => true,
            // A schema for other members is a map that was meant; false closes.
            Some(_) => return,
        };
        let required = spot.get("required").and_then(Value::as_array).map_or(0, Vec::len);
        has_optional |= listed.is_some_and(|members| members.len() > required);
        open.push((spot.pointer.clone(), said));
    });
    let Some((first, said)) = open.first() else { return };
    let more = match open.len() - 1 {
        0 => String::new(),
        n => format!(" (and {} more)", count(n, "object")),
    };
    let how = if *said { "it says that it takes" } else { "it takes" };
    let slips = if has_optional {
        "a misspelt optional argument passes every gate unseen"
    } else {
        "what a model makes up beside them passes every gate unseen"
    };
    found.push(Draft::new(
        format!("{}{first}", input.at),
        format!("{how} any member beside those it lists{more}: {slips}"),
        "Add \"additionalProperties\": false, unless other members are meant.",
    ));
}
