//! `callgate runs verify`: reads the whole journal, says what is damaged, and saves what can still
//! be read.

use std::{collections::BTreeSet, path::Path, sync::Arc};

use callgate::{
    engine::{Journal as _, Options, Salvage, SqliteJournal, contracts::named},
    machine::Record,
};
use serde_json::json;

use super::cli::Verify;
use crate::{exit::Exit, failure::Failure, journal, out, show::words, verbs::block_on};

pub(super) fn go(verify: &Verify) -> Result<Exit, Failure> {
    let folder = journal::folder(&verify.within.project, &verify.within.place);
    if !journal::is_there(&folder) {
        let message = format!("there is no journal in {}", folder.display());
        return Err(Failure::configuration("no_journal", message));
    }
    let found = SqliteJournal::examine(&folder)?;
    let findings: Vec<String> = found.findings.iter().map(ToString::to_string).collect();
    let saved = verify.salvage.as_deref().map(|to| salvage(&folder, to)).transpose()?;
    let (runs, events) = (found.runs, found.events);
    if verify.json {
        let told = json!({ "runs": runs, "events": events, "findings": findings, "saved": saved });
        out::line(&told.to_string())?;
    } else {
        for finding in &findings {
            out::line(&words::clean(finding))?;
        }
        let events = words::count(usize::try_from(events).unwrap_or(usize::MAX), "event");
        let read = format!("{}, {events}", words::count(runs, "run"));
        if findings.is_empty() {
            out::line(&format!("{read}: everything is as it was written"))?;
        }
        if let (Some(saved), Some(to)) = (saved, &verify.salvage) {
            out::line(&format!("{} are in {}", words::count(saved, "run"), to.display()))?;
        }
    }
    if findings.is_empty() {
        return Ok(Exit::Done);
    }
    let message =
        format!("{} is damaged in {}", folder.display(), words::count(findings.len(), "place"));
    let failure =
        Failure::new(Exit::Found, "journal_damaged", message).with("findings", json!(findings));
    Err(match verify.salvage {
        Some(_) => failure,
        None => failure.hint("--salvage DIR puts what can still be read into a new journal."),
    })
}

/// Puts what can be read into a journal of its own; how many runs that are.
fn salvage(from: &Path, to: &Path) -> Result<usize, Failure> {
    if journal::is_there(to) {
        let message = format!("there is a journal in {} already", to.display());
        return Err(Failure::configuration("journal_there", message).hint("Give a new folder."));
    }
    let Salvage { runs, .. } = SqliteJournal::salvage(from)?;
    // Contracts are kept by their hash: one that was changed is not found.
    let old = SqliteJournal::open(from, Options::default()).ok();
    journal::make(to)?;
    let new = SqliteJournal::open(to, Options::default())?;
    let mut saved = 0;
    let mut lost: BTreeSet<Arc<str>> = BTreeSet::new();
    for run in runs.iter().filter(|run| !run.lines.is_empty()) {
        let records: Vec<Record> = run.lines.iter().filter_map(|line| line.record().ok()).collect();
        block_on(async {
            for hash in named(&records) {
                let text = old.as_ref().and_then(|old| old.kept(&hash).ok().flatten());
                match text {
                    Some(text) if *new.keep(&text).await? == *hash => {}
                    _ => drop(lost.insert(hash)),
                }
            }
            Ok(new.import(&run.lines).await?)
        })?;
        saved += 1;
    }
    if !lost.is_empty() {
        eprintln!(
            "warning: the contracts of some runs are lost ({}); these runs can be shown as JSON, not replayed or resumed",
            lost.into_iter().collect::<Vec<_>>().join(", ")
        );
    }
    Ok(saved)
}
