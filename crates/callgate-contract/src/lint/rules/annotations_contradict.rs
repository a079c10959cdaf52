//! Read-only and destructive at once.

use super::{Check, Draft, Level, Rule, Seen};

pub(super) const RULE: Rule = Rule {
    id: "annotations-contradict",
    level: Level::Error,
    finds: "Annotations that say both read-only and destructive.",
    why: "Hosts run read-only tools without asking and ask before destructive ones; nobody can do both.",
    instead: "Take out the one that is not true.",
    fixes: false,
    check: Check::Tool(check),
};

fn check(tool: &Seen<'_>, found: &mut Vec<Draft>) {
    let read_only = tool.annotation("readOnly", "readOnlyHint") == Some(true);
    let destructive = tool.annotation("destructive", "destructiveHint") == Some(true);
    if read_only && destructive {
        found.push(Draft::new(
            "/annotations",
            "it says that it changes nothing and that it may destroy something: hosts run the one \
             without asking and ask before the other",
            "Take out the annotation that is not true.",
        ));
    }
}
