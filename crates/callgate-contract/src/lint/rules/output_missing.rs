//! Results that nothing judges.

use super::{Check, Draft, Level, Rule, Seen};
use crate::{lint::Form, listed::below};

pub(super) const RULE: Rule = Rule {
    id: "output-missing",
    level: Level::Note,
    finds: "A contract or MCP tool without a schema of its result.",
    why: "The gate out has nothing to judge by: an error page or an empty body reaches the model as if it were a result.",
    instead: "Add `output` (in MCP `outputSchema`), if only with what is always there.",
    fixes: false,
    check: Check::Tool(check),
};

fn check(tool: &Seen<'_>, found: &mut Vec<Draft>) {
    let at = match tool.form {
        Form::Contract => "/output",
        Form::Mcp => "/outputSchema",
        // There is no place for one.
        Form::OpenAi | Form::Anthropic | Form::Gemini => return,
    };
    if below(tool.node, at).is_none() && !tool.stands_for_another() {
        found.push(Draft::new(
            at,
            "no schema says what comes back: whatever the backend brings, an error page too, \
             reaches the model as a result",
            format!("Add \"{}\" with the members that are always there.", &at[1..]),
        ));
    }
}
