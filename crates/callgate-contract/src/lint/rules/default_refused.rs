//! Defaults that their own schema refuses.

use serde_json::Value;

use super::{Check, Draft, Level, Rule, Seen, example_refused::refusal};
use crate::lint::texts::short;

pub(super) const RULE: Rule = Rule {
    id: "default-refused",
    level: Level::Error,
    finds: "A `default` that its own schema refuses.",
    why: "Models copy defaults; each such call is refused, although it did what it was told.",
    instead: "Write a default that fits, or let the schema take this one.",
    fixes: false,
    check: Check::Tool(check),
};

fn check(tool: &Seen<'_>, found: &mut Vec<Draft>) {
    for part in tool.parts() {
        let root = part.schema.value();
        part.reach(&mut |spot| {
            let Some(default) = spot.get("default").filter(|_| !spot.negative) else { return };
            let Some(why) = refusal(root, spot.value, default) else { return };
            let suggestion = match (default, spot.required) {
                (Value::Null, _) => {
                    "Take \"default\": null out; a parameter that is left out is absent, not null. \
                     If null is meant, add \"null\" to the type."
                }
                _ => "Write a default that fits, or let the schema take this one.",
            };
            found.push(Draft::new(
                format!("{}{}/default", part.at, spot.pointer),
                format!(
                    "the default {} does not fit its own schema: {why}. A model that copies it is \
                     refused",
                    short(&default.to_string(), 60)
                ),
                suggestion,
            ));
        });
    }
}
