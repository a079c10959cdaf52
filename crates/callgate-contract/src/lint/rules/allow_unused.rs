//! An allowance for what is not there any more.

use super::{Check, Finding, Level, Offered, Policy, Rule, Used, nearest_rule, rule};
use crate::lint::finding::Draft;

pub(super) const RULE: Rule = Rule {
    id: "allow-unused",
    level: Level::Note,
    finds: "An `allow` that nothing is found for, or of a rule that does not exist.",
    why: "It would hide the finding without a word when it comes back.",
    instead: "Take the entry out, or name the rule that is meant.",
    fixes: false,
    check: Check::Allows,
};

/// Entries of the contracts' own `lint`.
pub(in crate::lint) fn unused_in_contracts(
    offered: &Offered<'_>,
    policy: &Policy,
    used: &Used,
    found: &mut Vec<Finding>,
) {
    let Some(level) = policy.level(&RULE) else { return };
    for (index, tool) in offered.tools.iter().enumerate() {
        for (id, at) in tool.allows() {
            let Some((message, suggestion)) = verdict(id, policy, || {
                used.contracts.contains(&(tool.paper.file().to_owned(), id.to_owned()))
            }) else {
                continue;
            };
            found.push(Draft::new(at, message, suggestion).of(index).told(RULE.id, level, offered));
        }
    }
}

/// Entries of the project's settings. One for tools that were not judged is another run's.
pub(in crate::lint) fn unused_in_config(
    policy: &Policy,
    used: &Used,
    names: &[String],
    found: &mut Vec<Finding>,
) {
    let Some(level) = policy.level(&RULE).filter(|_| !policy.is_partial()) else { return };
    for (i, entry) in policy.allowed().iter().enumerate() {
        if !names.iter().any(|name| entry.covers(name)) {
            continue;
        }
        if let Some((message, suggestion)) =
            verdict(&entry.rule, policy, || used.config.contains(&i))
        {
            found.push(Finding {
                rule: RULE.id,
                level,
                tool: None,
                file: entry.place.file.clone(),
                line: entry.place.line,
                column: entry.place.column,
                pointer: entry.place.pointer.clone(),
                message,
                suggestion,
                fix: None,
            });
        }
    }
}

fn verdict(id: &str, policy: &Policy, is_used: impl Fn() -> bool) -> Option<(String, String)> {
    let Some(known) = rule(id) else {
        let near = nearest_rule(id).unwrap_or_else(|| "Take the entry out.".to_owned());
        return Some((format!("there is no rule \"{id}\", so this allows nothing"), near));
    };
    // A rule that was not asked says nothing about its allowance.
    if policy.level(known).is_none() || is_used() {
        return None;
    }
    let message = format!(
        "{id} finds nothing here any more; this entry would hide it without a word if it came back"
    );
    Some((message, "Take the entry out.".to_owned()))
}
