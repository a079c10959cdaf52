//! `callgate runs fork ID --at HOP`: a run that begins as another one did.

use std::sync::Arc;

use callgate::{
    engine::{Journal as _, Line},
    machine::fork::fork,
};
use serde_json::json;

use super::{Book, cli::Fork, resume, time};
use crate::{exit::Exit, failure::Failure, out, verbs::block_on};

pub(super) fn go(wanted: &Fork) -> Result<Exit, Failure> {
    let options = &wanted.options;
    let book = Book::of_run(options)?;
    let origin = book.find(&wanted.id)?;
    if let Some(parent) = book.summary(&origin)?.parent {
        let message =
            format!("run {origin} answers a call of run {parent}; it has no life of its own");
        return Err(Failure::configuration("delegated", message).hint(format!(
            "Fork the run that delegated: `{}`.",
            book.command("fork", &format!("{parent} --at HOP"))
        )));
    }
    let id = new_id();
    let records = fork(&book.records(&origin)?, wanted.at, &id)
        .map_err(|error| Failure::configuration("no_hop", error.to_string()))?;
    let lines = records.iter().map(Line::of).collect::<Result<Vec<_>, _>>()?;
    block_on(async { Ok(book.journal.import(&lines).await?) })?;
    let model = options.model.as_ref().map_or_else(String::new, |model| format!(" -m {model}"));
    let next = book.command("resume", &format!("{id}{model}"));
    let told = json!({ "run": id, "of": origin, "hop": wanted.at, "next": next });
    if wanted.resume {
        if options.json {
            out::line(
                &json!({ "type": "forked", "run": id, "of": origin, "hop": wanted.at }).to_string(),
            )?;
        }
        drop(book);
        return resume::go(&id, options);
    }
    if options.json {
        out::line(&told.to_string())?;
    } else {
        out::line(&id)?;
        eprintln!("go on with: {next}");
    }
    Ok(Exit::Done)
}

/// Sorts by time among the ids of runs, and is none of theirs.
fn new_id() -> Arc<str> {
    format!("run-{:011x}-{:x}-fork", time::now(), std::process::id()).into()
}
