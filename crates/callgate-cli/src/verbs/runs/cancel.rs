//! `callgate runs cancel|pause ID`: a message to whoever drives the run.
//!
//! A run that nobody drives is ended here.

use callgate::engine::{Inbox, Journal as _};
use serde_json::json;

use super::{Book, cli::Stop, who};
use crate::{exit::Exit, failure::Failure, out, verbs::block_on};

pub(super) fn cancel(stop: &Stop) -> Result<Exit, Failure> {
    let book = Book::open(&stop.within)?;
    let run = book.find(&stop.id)?;
    book.going(&run)?;
    let by = who(stop.by.as_deref());
    let driver = block_on(async { Ok(book.runs.cancel(&run, Some(by), None).await?) })?;
    let told = match driver {
        Some(pid) => format!("told process {pid}, which drives run {run}, to cancel it"),
        None => format!("cancelled run {run}"),
    };
    say(stop, &run, driver, "cancel", &told)
}

pub(super) fn pause(stop: &Stop) -> Result<Exit, Failure> {
    let book = Book::open(&stop.within)?;
    let run = book.find(&stop.id)?;
    book.going(&run)?;
    let by = who(stop.by.as_deref());
    let driver = block_on(async {
        let driver = book.driver(&run)?;
        if driver.is_some() {
            book.journal.send(&run, Inbox::Pause { by: Some(by) }).await?;
        }
        Ok(driver)
    })?;
    let resume = book.command("resume", &run);
    let told = match driver {
        Some(pid) => format!(
            "told process {pid}, which drives run {run}, to let it wait; go on with: {resume}"
        ),
        None => format!("nobody drives run {run}: it waits until `{resume}`"),
    };
    say(stop, &run, driver, "pause", &told)
}

fn say(
    stop: &Stop,
    run: &str,
    driver: Option<u32>,
    what: &str,
    told: &str,
) -> Result<Exit, Failure> {
    if stop.json {
        out::line(&json!({ "run": run, "said": what, "drivenBy": driver }).to_string())?;
    } else {
        out::line(told)?;
    }
    Ok(Exit::Done)
}
