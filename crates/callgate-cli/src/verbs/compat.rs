//! `callgate compat OLD NEW`: what a new catalog asks of those who use the old one.

use std::{path::Path, sync::Arc};

use callgate::contract::{
    Catalog,
    compat::{Change, Fate, Report, Step, compare},
};
use serde_json::Value;

use super::catalogs;
use crate::{
    cli::{Compat, InDir, LargestStep, Opened},
    exit::Exit,
    failure::Failure,
    out, project,
    show::words,
    signals::Stop,
};

pub(super) fn go(compat: &Compat) -> Result<Exit, Failure> {
    let (old, new) = sides(compat)?;
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

/// One side, as it was given.
enum Side<'a> {
    Path(&'a Path),
    /// A server of the project, asked now: `mcp:NAME`.
    Server(&'a str),
}

impl<'a> Side<'a> {
    fn of(given: &'a Path) -> Self {
        match given.to_str().and_then(|text| text.strip_prefix("mcp:")) {
            Some(name) if !given.exists() => Self::Server(name),
            _ => Self::Path(given),
        }
    }
}

fn sides(compat: &Compat) -> Result<(Catalog, Catalog), Failure> {
    let (old, new) = (Side::of(&compat.old), Side::of(&compat.new));
    if let (Side::Path(old), Side::Path(new)) = (&old, &new) {
        return Ok((catalogs::read(old)?, catalogs::read(new)?));
    }
    let opened = Opened { project: InDir { dir: compat.project.dir.clone() }, frozen: false };
    // What is pinned stays what it is: this only looks.
    project::unpinned(&opened, &Arc::new(Stop::default()), async |project| {
        let read = async |side: &Side<'_>, other: &Side<'_>| match (side, other) {
            (Side::Server(name), _) => catalogs::told(project, name).await,
            (Side::Path(path), Side::Server(name)) => {
                Ok(catalogs::beside(catalogs::read(path)?, name))
            }
            (Side::Path(path), Side::Path(_)) => catalogs::read(path),
        };
        Ok((read(&old, &new).await?, read(&new, &old).await?))
    })
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
