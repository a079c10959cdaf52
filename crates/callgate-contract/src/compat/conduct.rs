//! What changed beside the schemas: who may call, by what rules, and what is promised of a call.

use super::{Aspect, Reason, Step};
use crate::{
    Mode, Tool,
    rules::{Ask, Rule},
    tier::{Tier, TierPolicy},
};

pub(super) fn reasons(old: &Tool, new: &Tool, reasons: &mut Vec<Reason>) {
    reasons.extend(tier(&old.tier, &new.tier));
    rules(&old.rules, &new.rules, reasons);
    annotations(old, new, reasons);
    shape(old, new, reasons);
    mending(old, new, reasons);
}

fn tier(old: &TierPolicy, new: &TierPolicy) -> Option<Reason> {
    let of = |step, message: String| Some(Reason::new(Aspect::Tier, step, message));
    match (old, new) {
        (TierPolicy::Always(before), TierPolicy::Always(after)) if before == after => None,
        (TierPolicy::Always(before), TierPolicy::Always(after)) => {
            let step = if after > before { Step::Major } else { Step::Minor };
            of(step, format!("calls {}, where they {}", acts(*after), acted(*before)))
        }
        (TierPolicy::When(_), TierPolicy::When(_)) if cases(old) == cases(new) => None,
        _ => of(Step::Major, "what a call waits for is decided by other conditions".to_owned()),
    }
}

fn acts(tier: Tier) -> &'static str {
    match tier {
        Tier::Auto => "run by themselves",
        Tier::Approve => "wait for a person's approval",
        Tier::Block => "never run",
    }
}

fn acted(tier: Tier) -> &'static str {
    match tier {
        Tier::Auto => "ran by themselves",
        Tier::Approve => "waited for a person's approval",
        Tier::Block => "never ran",
    }
}

fn cases(policy: &TierPolicy) -> Vec<(Option<&str>, Tier)> {
    match policy {
        TierPolicy::Always(tier) => vec![(None, *tier)],
        TierPolicy::When(cases) => cases
            .iter()
            .map(|case| (case.when.as_ref().map(crate::rules::Condition::source), case.tier))
            .collect(),
    }
}

fn rules(old: &[Rule], new: &[Rule], reasons: &mut Vec<Reason>) {
    for rule in new {
        let id = &rule.id;
        match old.iter().find(|before| before.id == rule.id) {
            None => {
                let message =
                    format!("the rule \"{id}\" is new, and may refuse what passed before");
                reasons.push(Reason::new(Aspect::Rules, Step::Major, message));
            }
            Some(before) if asks(before) != asks(rule) => {
                let message = format!("the rule \"{id}\" asks something else than before");
                reasons.push(Reason::new(Aspect::Rules, Step::Major, message));
            }
            Some(before) if before.message != rule.message || before.hint != rule.hint => {
                let message = format!("the rule \"{id}\" says it in other words");
                reasons.push(Reason::new(Aspect::Rules, Step::Patch, message));
            }
            Some(_) => {}
        }
    }
    for rule in old.iter().filter(|rule| new.iter().all(|after| after.id != rule.id)) {
        let message = format!("the rule \"{}\" is gone, so more passes", rule.id);
        reasons.push(Reason::new(Aspect::Rules, Step::Minor, message));
    }
}

/// What a rule asks, as text.
fn asks(rule: &Rule) -> String {
    match &rule.ask {
        Ask::Check(condition) => condition.source().to_owned(),
        Ask::Lookup(lookup) => serde_json::to_string(lookup).unwrap_or_default(),
    }
}

fn annotations(old: &Tool, new: &Tool, reasons: &mut Vec<Reason>) {
    let (a, b) = (old.annotations, new.annotations);
    // What it was, what it is, whether being so is a promise, and the words for both.
    let rows = [
        (a.read_only, b.read_only, true, "it changes nothing", "it may change something"),
        (a.idempotent, b.idempotent, true, "it may be repeated", "it may not be repeated any more"),
        (a.destructive, b.destructive, false, "it may destroy something", "it destroys nothing"),
        (
            a.open_world,
            b.open_world,
            false,
            "it reaches beyond",
            "it does not reach beyond any more",
        ),
    ];
    for (before, after, is_promise, yes, no) in rows {
        if before != after {
            let step = if after == is_promise { Step::Minor } else { Step::Major };
            let message = if after { format!("{yes} now") } else { no.to_owned() };
            reasons.push(Reason::new(Aspect::Annotations, step, message));
        }
    }
}

fn shape(old: &Tool, new: &Tool, reasons: &mut Vec<Reason>) {
    let ((selects, items, bytes), (select_now, items_now, bytes_now)) =
        (old.shape.says(), new.shape.says());
    let mut add = |step, message: &str| reasons.push(Reason::new(Aspect::Result, step, message));
    if selects != select_now {
        add(Step::Major, "another part of the result is shown");
    }
    let most = |items: Option<usize>| items.unwrap_or(usize::MAX);
    if most(items_now) < most(items) || bytes_now < bytes {
        add(Step::Major, "less of a long result is shown");
    } else if items_now != items || bytes_now != bytes {
        add(Step::Minor, "more of a long result is shown");
    }
}

fn mending(old: &Tool, new: &Tool, reasons: &mut Vec<Reason>) {
    let is_strict = |tool: &Tool| tool.mode == Some(Mode::Strict);
    if is_strict(old) != is_strict(new) {
        let (step, message) = if is_strict(new) {
            (Step::Major, "the gate mends nothing any more")
        } else {
            (Step::Minor, "the gate mends what cannot change the meaning")
        };
        reasons.push(Reason::new(Aspect::Mode, step, message));
    }
    let lost = old.aliases.iter().find(|(name, to)| new.aliases.get(*name) != Some(to));
    if let Some((name, to)) = lost {
        let message = format!("\"{name}\" is no other name of \"{to}\" any more");
        reasons.push(Reason::new(Aspect::Mode, Step::Major, message));
    } else if old.aliases != new.aliases {
        let message = "arguments have more names than before";
        reasons.push(Reason::new(Aspect::Mode, Step::Minor, message));
    }
}
