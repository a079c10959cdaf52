//! Parameters that nothing is said about.

use serde_json::Value;

use super::{Check, Draft, Level, Rule, Seen};
use crate::lint::{
    reach::{Role, Spot},
    texts::listed,
};

pub(super) const RULE: Rule = Rule {
    id: "parameter-undescribed",
    level: Level::Warning,
    finds: "Parameters without a description.",
    why: "The model has the name and the type alone: ids, units, date forms and defaults are guessed.",
    instead: "Say what it is, in which form and unit, with an example, and what happens without it.",
    fixes: false,
    check: Check::Tool(check),
};

fn check(tool: &Seen<'_>, found: &mut Vec<Draft>) {
    let Some(input) = &tool.input else { return };
    let text = tool.description.unwrap_or_default();
    let mut silent: Vec<(String, String)> = Vec::new();
    let mut described = 0;
    input.reach(&mut |spot| {
        let Role::Property(name) = spot.role else { return };
        // What a reference leads to is judged where the reference stands.
        if spot.negative || spot.beside.is_some() {
            return;
        }
        if is_described(spot, input.schema.value()) || is_named(text, name) || is_told(spot) {
            described += 1;
        } else {
            silent.push((spot.pointer.clone(), format!("\"{name}\"")));
        }
    });
    let Some((first, _)) = silent.first() else { return };
    let mut names: Vec<String> = Vec::new();
    for (_, name) in &silent {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let all = silent.len() + described;
    let (which, own) = match silent.len() {
        1 if all == 1 => (format!("the parameter {} has", names[0]), "its own"),
        1 => (format!("of {all} parameters {} has", names[0]), "its own"),
        n => (format!("{n} of {all} parameters ({}) have", listed(&names, 5)), "their own"),
    };
    found.push(Draft::new(
        format!("{}{first}", input.at),
        format!("{which} no description of {own}: what to send has to be inferred"),
        "Say of each what it is, in which form and unit, and what happens without it.",
    ));
}

/// A description of its own, or of what it refers to or may be.
fn is_described(spot: &Spot<'_>, root: &Value) -> bool {
    fn says(value: &Value, root: &Value, depth: usize) -> bool {
        let said = value.get("description").and_then(Value::as_str);
        if said.is_some_and(|text| !text.trim().is_empty()) {
            return true;
        }
        if depth == 0 {
            return false;
        }
        let target = value.get("$ref").and_then(Value::as_str);
        let target = target.and_then(|target| crate::lint::reach::target_of(root, target));
        target.is_some_and(|(_, target)| says(target, root, depth - 1))
            || ["anyOf", "oneOf", "allOf"].iter().any(|keyword| {
                let branches = value.get(keyword).and_then(Value::as_array);
                branches.into_iter().flatten().any(|branch| says(branch, root, depth - 1))
            })
            || value.get("items").is_some_and(|items| says(items, root, depth - 1))
    }
    says(spot.value, root, 4)
}

/// Its values say it, or its members, which are judged themselves.
fn is_told(spot: &Spot<'_>) -> bool {
    let has_members = |schema: &Value| {
        let members = schema.get("properties").and_then(Value::as_object);
        members.is_some_and(|members| !members.is_empty())
    };
    spot.get("enum").is_some()
        || spot.get("const").is_some()
        || spot.value.is_boolean()
        || has_members(spot.value)
        || spot.get("items").is_some_and(has_members)
}

/// The tool's own description speaks of it: by its name in quotes, or by a name that is no word.
fn is_named(text: &str, name: &str) -> bool {
    let quoted =
        ['`', '\'', '"'].iter().any(|quote| text.contains(&format!("{quote}{name}{quote}")));
    let is_word = name.chars().all(|c| c.is_ascii_lowercase());
    quoted || (!is_word && name.len() > 3 && text.contains(name))
}
