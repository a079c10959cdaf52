//! Limits that only the description knows.

use serde_json::Value;

use super::{Check, Draft, Level, Rule, Seen};
use crate::lint::{
    reach::Spot,
    texts::{Bound, bounds, is_measure, listed, short},
};

pub(super) const RULE: Rule = Rule {
    id: "bound-in-text",
    level: Level::Warning,
    finds: "A limit that a parameter's description names and its schema does not hold.",
    why: "No gate refuses a value beyond it and no decoder is kept from one: the tool's own error is all that is left.",
    instead: "Write the limit as `maximum`, `minimum`, `maxLength` or `maxItems` too.",
    fixes: false,
    check: Check::Tool(check),
};

fn check(tool: &Seen<'_>, found: &mut Vec<Draft>) {
    let Some(input) = &tool.input else { return };
    input.reach(&mut |spot| {
        if spot.negative {
            return;
        }
        let Some(text) = spot.text("description") else { return };
        let mut said: Vec<String> = Vec::new();
        let mut missing: Vec<String> = Vec::new();
        for (bound, keyword) in keywords(spot, text) {
            let partner = format!("exclusive{}{}", keyword[..1].to_uppercase(), &keyword[1..]);
            let holds = [keyword, partner.as_str(), "enum", "const", "anyOf", "oneOf", "$ref"];
            if holds.iter().any(|keyword| spot.get(keyword).is_some()) {
                continue;
            }
            let words = format!("\"{}\"", short(&bound.said, 60));
            if !said.contains(&words) {
                said.push(words);
            }
            missing.push(format!("\"{keyword}\": {}", figure(bound.figure)));
        }
        if missing.is_empty() {
            return;
        }
        found.push(Draft::new(
            format!("{}{}", input.at, spot.pointer),
            format!(
                "the description says {} and the schema does not: a value beyond the limit passes \
                 every gate",
                listed(&said, 3)
            ),
            format!("Add {}.", listed(&missing, 4)),
        ));
    });
}

#[allow(clippy::cast_possible_truncation)]
fn figure(figure: f64) -> Value {
    if figure.fract() == 0.0 && figure.abs() < 1e15 {
        Value::from(figure as i64)
    } else {
        Value::from(figure)
    }
}

/// The bounds of a text that are bounds of the value itself, with the keyword that holds each.
pub(super) fn keywords(spot: &Spot<'_>, text: &str) -> Vec<(Bound, &'static str)> {
    let unit_of = |units: &[&str], bound: &Bound| units.contains(&bound.unit.as_str());
    bounds(text)
        .into_iter()
        .filter_map(|mut bound| {
            let keyword = if spot.is_of(&["integer", "number"]) {
                // A figure in another measure than the value's is not to be compared.
                if is_measure(&bound.unit) || bound.unit == "characters" {
                    return None;
                }
                if bound.is_most { "maximum" } else { "minimum" }
            } else if spot.is_of(&["string"]) {
                if !unit_of(&["character", "characters", "chars"], &bound) {
                    return None;
                }
                bound.said = format!("{} {}", bound.said, bound.unit);
                if bound.is_most { "maxLength" } else { "minLength" }
            } else if spot.is_of(&["array"]) {
                let units = ["item", "items", "element", "elements", "entry", "entries", "values"];
                if !unit_of(&units, &bound) {
                    return None;
                }
                bound.said = format!("{} {}", bound.said, bound.unit);
                if bound.is_most { "maxItems" } else { "minItems" }
            } else {
                return None;
            };
            Some((bound, keyword))
        })
        .collect()
}
