//! Defaults that their own schema refuses.

use super::{Check, Draft, Level, Rule, Seen, example_refused::refusal};
use crate::lint::texts::short;

pub(super) const RULE: Rule = Rule {
    id: "default-refused",
    level: Level::Warning,
    finds: "A `default` that its own schema refuses.",
    why: "Models copy defaults; strict gates refuse each such call, although it did what it was told.",
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
            // What the gate in its lenient mode takes out again is not refused there.
            let is_dropped = default.is_null() && !spot.required;
            let (what_then, suggestion) = if is_dropped {
                (
                    "a model that copies it is refused by strict gates and other hosts",
                    "Take \"default\": null out: a parameter that is left out is absent, not null. \
                     If null is meant, add \"null\" to the type.",
                )
            } else {
                (
                    "a model that copies it is refused",
                    "Write a default that fits, or let the schema take this one.",
                )
            };
            found.push(Draft::new(
                format!("{}{}/default", part.at, spot.pointer),
                format!(
                    "the default {} does not fit its own schema: {why}; {what_then}",
                    short(&default.to_string(), 60)
                ),
                suggestion,
            ));
        });
    }
}
