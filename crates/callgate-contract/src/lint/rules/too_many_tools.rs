//! More tools at once than a model chooses well among.

use super::{Check, Draft, Level, Offered, Rule};

pub(super) const RULE: Rule = Rule {
    id: "too-many-tools",
    level: Level::Warning,
    finds: "More than 20 tools offered at once.",
    why: "Providers advise fewer than 20: beyond that models choose worse, and every definition is paid for with every request.",
    instead: "Defer what is rarely needed (`\"defer\": true`), offer fewer, or put families of tools into one.",
    fixes: false,
    check: Check::Catalog(check),
};

const MOST: usize = 20;

fn check(offered: &Offered<'_>, found: &mut Vec<Draft>) {
    let at_once: Vec<usize> = offered
        .tools
        .iter()
        .enumerate()
        .filter(|(_, tool)| !tool.is_deferred())
        .map(|(index, _)| index)
        .collect();
    let Some(first_too_many) = at_once.get(MOST) else { return };
    let draft = Draft::new(
        "",
        format!(
            "{} tools are offered at once: beyond {MOST} models choose worse, and all definitions \
             are paid for with every request",
            at_once.len()
        ),
        "Set \"defer\": true on what is rarely needed, so that a search finds it; offer fewer to \
         an agent; or put a family of tools into one with an action.",
    );
    // In one list it is about the list; of several contracts the first one too many stands for all.
    found.push(if offered.papers.len() > 1 { draft.of(*first_too_many) } else { draft });
}
