//! `callgate runs fork ID --at HOP`: a run that begins as another one did.

use std::sync::Arc;

use callgate::engine::BookError;
use serde_json::json;

use super::{Book, cli::Fork, resume, time};
use crate::{exit::Exit, failure::Failure, out, verbs::block_on};

pub(super) fn go(wanted: &Fork) -> Result<Exit, Failure> {
    let options = &wanted.options;
    let book = Book::of_run(options)?;
    let origin = book.find(&wanted.id)?;
    let id = new_id();
    let forked = block_on(async { Ok(book.runs.fork(&origin, wanted.at, &id).await) })?;
    forked.map_err(|error| match error {
        BookError::Delegated { ref parent, .. } => {
            let command = book.command("fork", &format!("{parent} --at HOP"));
            Failure::from(error).hint(format!("Fork the run that delegated: `{command}`."))
        }
        error => error.into(),
    })?;
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
