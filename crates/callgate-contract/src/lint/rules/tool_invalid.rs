//! Listed tools that no catalog could load.

use super::{Check, Draft, Level, Rule, Seen};
use crate::lint::Form;

pub(super) const RULE: Rule = Rule {
    id: "tool-invalid",
    level: Level::Error,
    finds: "A listed tool without a name, without a schema of its arguments, or with one that is none.",
    why: "Hosts and providers refuse it, and some refuse the whole list because of it.",
    instead: "Correct it as the finding says.",
    fixes: false,
    check: Check::Tool(check),
};

fn check(tool: &Seen<'_>, found: &mut Vec<Draft>) {
    // Mistakes of contracts are told when they are loaded.
    if tool.form == Form::Contract {
        return;
    }
    if tool.name.is_empty() {
        found.push(Draft::new(
            tool.description_at.replace("description", "name"),
            "it has no name, so no call can mean it",
            "Give it a name of letters, figures, _ and -.",
        ));
    }
    let faults = tool.faults();
    if tool.input.is_none() && tool.form.needs_input() && faults.is_empty() {
        let at = if tool.form == Form::Mcp { "/inputSchema" } else { "/input_schema" };
        found.push(Draft::new(
            at,
            "it has no schema of its arguments, which the protocol asks for",
            format!("Add \"{}\": {{\"type\": \"object\", \"properties\": {{}}}}.", &at[1..]),
        ));
    }
    for (at, fault) in faults {
        let hint =
            fault.hint.unwrap_or_else(|| "Correct it by the dialect's meta-schema.".to_owned());
        found.push(Draft::new(at, format!("its schema is none: {}", fault.message), hint));
    }
}
