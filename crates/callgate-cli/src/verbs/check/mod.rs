//! `callgate check`: every mistake in a project or in contract files at once, and what a model
//! will stumble over in what is right.

mod explain;
mod files;
mod mend;
mod report;
mod sarif;
mod text;

use std::collections::BTreeSet;

use callgate::contract::lint::{self, Level, Rule};

use crate::{
    cli::{self, Deny, ReportFormat},
    exit::Exit,
    failure::Failure,
    out, project,
};
use files::Files;
use report::Report;

pub(super) fn go(check: &cli::Check) -> Result<Exit, Failure> {
    if let Some(id) = &check.explain {
        return explain::go(id);
    }
    let policy = files::policy(check)?.only(known(&check.rules)?).without(known(&check.allow)?);
    // The project's settings speak of all its tools, of which these may be a few.
    let is_partial = !check.paths.is_empty() && check.config.is_none();
    let policy = if is_partial { policy.partial() } else { policy };
    let mut files = Files::find(check)?;
    let mut report = Report::of(&files, &policy)?;
    if check.fix {
        let (mended, fixed) = mend::mend(&mut files, report, &policy)?;
        report = mended;
        report.fixed = Some(fixed);
    }
    let exit = exit(&report, check.deny);
    report.findings.retain(|finding| finding.level >= check.level.map_or(Level::Note, Level::from));
    let as_json = check.json || check.format == ReportFormat::Json;
    project::tell_unpinned(report.unpinned.iter().map(String::as_str), as_json);
    let format = if check.json { ReportFormat::Json } else { check.format };
    match format {
        ReportFormat::Text => text::say(&report)?,
        ReportFormat::Json => out::line(&report.to_json().to_string())?,
        ReportFormat::Sarif => out::line(&format!("{:#}", sarif::log(&report)))?,
    }
    Ok(exit)
}

/// Mistakes and errors always count, the rest where it is asked.
fn exit(report: &Report, deny: Option<Deny>) -> Exit {
    let least = match deny {
        None => Level::Error,
        Some(Deny::Warnings) => Level::Warning,
        Some(Deny::Notes) => Level::Note,
    };
    let is_bad = report.findings.iter().any(|finding| finding.level >= least);
    if is_bad || !report.mistakes.is_empty() { Exit::Configuration } else { Exit::Done }
}

fn known(ids: &[String]) -> Result<BTreeSet<String>, Failure> {
    ids.iter().map(|id| rule(id).map(|rule| rule.id.to_owned())).collect()
}

fn rule(id: &str) -> Result<&'static Rule, Failure> {
    lint::rule(id).ok_or_else(|| {
        let ids: Vec<&str> = lint::RULES.iter().map(|rule| rule.id).collect();
        let hint = match callgate::contract::nearest(id, &ids) {
            Some(near) => format!("Did you mean \"{near}\"?"),
            None => "callgate check --explain lists them.".to_owned(),
        };
        Failure::configuration("unknown_rule", format!("there is no rule \"{id}\"")).hint(hint)
    })
}

impl From<cli::LeastLevel> for Level {
    fn from(level: cli::LeastLevel) -> Self {
        match level {
            cli::LeastLevel::Note => Self::Note,
            cli::LeastLevel::Warning => Self::Warning,
            cli::LeastLevel::Error => Self::Error,
        }
    }
}

/// `1 error, 2 warnings and 3 notes`; nothing where there is none.
fn counted(report: &Report) -> Option<String> {
    let parts: Vec<String> = [Level::Error, Level::Warning, Level::Note]
        .into_iter()
        .map(|level| (report.count(level), level.word()))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| crate::show::words::count(count, word))
        .collect();
    match parts.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        [first @ .., last] => Some(format!("{} and {last}", first.join(", "))),
    }
}
