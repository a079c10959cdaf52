//! Tools without a description.

use super::{Check, Draft, Level, Rule, Seen};

pub(super) const RULE: Rule = Rule {
    id: "description-missing",
    level: Level::Warning,
    finds: "A tool without a description.",
    why: "The model has the name alone to tell what the tool does, when to call it and when not.",
    instead: "Say what it does, when to use it and when not, what it needs and its limits.",
    fixes: false,
    check: Check::Tool(check),
};

fn check(tool: &Seen<'_>, found: &mut Vec<Draft>) {
    // An empty one of its own is no description, whatever the server says.
    let is_taken_over = tool.stands_for_another() && tool.node.get("description").is_none();
    if tool.description.is_none() && !is_taken_over {
        found.push(Draft::new(
            tool.description_at,
            "it has no description: the model has the name alone to tell what it does and when to \
             call it",
            "Say what it does, when to use it and when not, what it needs and its limits, in three \
             or four sentences.",
        ));
    }
}
