//! `--explain`: a rule in full, or all of them in a line each.

use callgate::contract::lint::{RULES, Rule};

use super::rule;
use crate::{exit::Exit, failure::Failure, out, show::paint::Paint};

pub(super) fn go(id: &str) -> Result<Exit, Failure> {
    if id.is_empty() {
        let width = RULES.iter().map(|rule| rule.id.len()).max().unwrap_or(0);
        for rule in RULES {
            let line = format!("{:<width$}  {:<7}  {}", rule.id, rule.level.word(), rule.finds);
            out::line(&line)?;
        }
        return Ok(Exit::Done);
    }
    out::line(&text(rule(id)?))?;
    Ok(Exit::Done)
}

fn text(rule: &Rule) -> String {
    let paint = Paint::stdout();
    let fixes = if rule.fixes { "\n\n--fix mends it: the meaning stays the same." } else { "" };
    format!(
        "{} ({})\n\n{}\n\n{} {}\n\n{} {}{fixes}\n\nMeant to be so? In the contract: \"lint\": \
         {{\"allow\": [{{\"rule\": \"{}\", \"reason\": \"…\"}}]}}; for other tools the same, with \
         \"tools\", under \"allow\" in callgate.check.json.",
        paint.bold(rule.id),
        rule.level,
        rule.finds,
        paint.bold("Why:"),
        rule.why,
        paint.bold("Instead:"),
        rule.instead,
        rule.id,
    )
}
