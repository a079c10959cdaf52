//! `callgate runs rm`: forgets runs, and those that they delegated.

use std::{collections::BTreeSet, sync::Arc};

use callgate::engine::{Filter, Journal as _, JournalError, RunSummary};
use serde_json::json;

use super::{Book, cli::Rm, time};
use crate::{ask::Terminal, exit::Exit, failure::Failure, out, show::words, verbs::block_on};

pub(super) fn go(rm: &Rm) -> Result<Exit, Failure> {
    let book = Book::open(&rm.within)?;
    let mut runs: BTreeSet<Arc<str>> = BTreeSet::new();
    for id in &rm.ids {
        runs.insert(book.find(id)?);
    }
    if rm.ids.is_empty() {
        let filter = Filter {
            states: rm.state.clone(),
            before: rm.older_than.map(|age| time::now().saturating_sub(age)),
            ..Filter::default()
        };
        // Age alone ends nothing that somebody may still want to go on with.
        let is_meant = |run: &RunSummary| !rm.state.is_empty() || run.state.is_over();
        let found = book.journal.list(&filter)?.into_iter().filter(is_meant);
        runs.extend(found.map(|run| run.run));
    }
    for run in runs.clone() {
        runs.extend(book.delegates(&run)?.into_iter().map(|child| child.run));
    }
    let count = words::count(runs.len(), "run");
    if !runs.is_empty() && !rm.yes {
        sure(&count, &runs)?;
    }
    block_on(async {
        for run in &runs {
            match book.journal.remove(run).await {
                // Somebody else was at it.
                Ok(()) | Err(JournalError::UnknownRun { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    })?;
    if rm.json {
        out::line(&json!({ "removed": runs }).to_string())?;
    } else {
        out::line(&format!("removed {count}"))?;
    }
    Ok(Exit::Done)
}

fn sure(count: &str, runs: &BTreeSet<Arc<str>>) -> Result<(), Failure> {
    let Some(terminal) = Terminal::own() else {
        let message = format!("this removes {count} for good, and nobody can be asked here");
        return Err(Failure::configuration("not_asked", message).hint("--yes does not ask."));
    };
    let shown: Vec<&str> = runs.iter().take(10).map(|run| &**run).collect();
    let more = if runs.len() > shown.len() { ", …" } else { "" };
    let prompt = format!("remove {count} for good ({}{more})? [y]es, [n]o ", shown.join(", "));
    let answer = block_on(async { Ok(terminal.line(&prompt).await) })?;
    match answer.as_deref().map(str::trim) {
        Some("y" | "Y" | "yes") => Ok(()),
        _ => Err(Failure::new(Exit::Cancelled, "cancelled", "nothing was removed")),
    }
}
