//! `callgate compat OLD NEW`: what a new catalog asks of those who use the old one.

use callgate::contract::compat::{Change, Fate, Report, Step, compare};
use serde_json::Value;

use super::catalogs;
use crate::{
    cli::{Compat, LargestStep},
    exit::Exit,
    failure::Failure,
    out,
    show::words,
};

pub(super) fn go(compat: &Compat) -> Result<Exit, Failure> {
    let old = catalogs::read(&compat.old)?;
    let new = catalogs::read(&compat.new)?;
    let report = compare(&old, &new);
    let passes = |change: &Change| {
        change.step <= compat.max.step()
            || (compat.versions && change.versions.as_ref().is_some_and(|v| v.suffices))
    };
    let refused: Vec<&Change> = report.changes.iter().filter(|change| !passes(change)).collect();
    let exit = if refused.is_empty() { Exit::Done } else { Exit::Found };
    if compat.json {
        let mut told = serde_json::to_value(&report).unwrap_or_default();
        told["compatible"] = Value::Bool(refused.is_empty());
        out::line(&told.to_string())?;
        return Ok(exit);
    }
    for change in &report.changes {
        out::line(&told(change))?;
    }
    out::line(&summary(&report, &refused))?;
    Ok(exit)
}

impl LargestStep {
    fn step(self) -> Step {
        match self {
            Self::None => Step::None,
            Self::Patch => Step::Patch,
            Self::Minor => Step::Minor,
            Self::Major => Step::Major,
        }
    }
}

/// A change with its reasons, a line each.
fn told(change: &Change) -> String {
    let fate = match (change.fate, &change.was) {
        (Fate::Added, _) => "added, ".to_owned(),
        (Fate::Removed, _) => "removed, ".to_owned(),
        (Fate::Renamed, Some(was)) => format!("was {}, ", words::clean(was)),
        _ => String::new(),
    };
    let mut lines = vec![format!("{}: {fate}{}", words::clean(&change.tool), change.step.word())];
    for reason in &change.reasons {
        // That a tool came or went is said above.
        if matches!(change.fate, Fate::Added | Fate::Removed) {
            continue;
        }
        let relation = reason.relation.map_or_else(String::new, |r| format!(" {}", r.word()));
        lines.push(format!(
            "  {}{relation}: {}",
            reason.aspect.word(),
            words::clean(&reason.message)
        ));
        for (value, whose) in [(&reason.only_old, "old"), (&reason.only_new, "new")] {
            if let Some(value) = value {
                lines.push(format!(
                    "    only the {whose} one admits {}",
                    words::short(&value.to_string(), 200)
                ));
            }
        }
    }
    if let Some(versions) = change.versions.as_ref().filter(|versions| !versions.suffices) {
        lines.push(format!(
            "  version: {} to {} does not say so",
            words::clean(&versions.old),
            words::clean(&versions.new)
        ));
    }
    lines.join("\n")
}

fn summary(report: &Report, refused: &[&Change]) -> String {
    let changed = words::count(report.changes.len(), "change");
    let step = match report.step {
        Step::None => "nothing that anybody could notice".to_owned(),
        step => format!("this calls for a {} version", step.word()),
    };
    let verdict = match refused.len() {
        0 => String::new(),
        n => format!(
            ", and {} not allowed here",
            if n == 1 { "one is".to_owned() } else { format!("{n} are") }
        ),
    };
    format!("{changed}, {} unchanged: {step}{verdict}", report.unchanged)
}
