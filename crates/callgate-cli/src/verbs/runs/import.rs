//! `callgate runs import FILE…`: runs from elsewhere.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use callgate::engine::{self, Options, SqliteJournal, runfile::RunFile};
use serde_json::{Value, json};

use super::{
    cli::Import,
    recording::{in_folder, read},
};
use crate::{exit::Exit, failure::Failure, journal, out, verbs::block_on};

pub(super) fn go(import: &Import) -> Result<Exit, Failure> {
    let mut files: Vec<PathBuf> = Vec::new();
    for path in &import.files {
        if path.is_dir() { files.extend(in_folder(path)?) } else { files.push(path.clone()) }
    }
    // All of them are whole before the first one is taken in.
    let read = files.iter().map(|path| Ok((path, read(path)?)));
    let read: Vec<(&PathBuf, RunFile)> = read.collect::<Result<_, Failure>>()?;
    let folder = journal::folder(&import.within.project, &import.within.place);
    journal::make(&folder)?;
    let book = engine::Book::new(Arc::new(SqliteJournal::open(&folder, Options::default())?));
    let mut told: Vec<Value> = Vec::new();
    for (path, file) in &read {
        let is_new = block_on(take(&book, path, file))?;
        let run = &file.header.run;
        told.push(json!({ "run": run, "new": is_new, "events": file.lines.len() }));
        if !import.json {
            let what = if is_new { "imported" } else { "is there already:" };
            out::line(&format!("{what} {run}"))?;
        }
    }
    if import.json {
        out::line(&json!({ "imported": told }).to_string())?;
    }
    Ok(Exit::Done)
}

async fn take(book: &engine::Book, path: &Path, file: &RunFile) -> Result<bool, Failure> {
    let imported = book.import(file).await?;
    if !imported.is_whole {
        eprintln!(
            "warning: {}: its contracts are no longer those it was recorded with; it can be shown, not replayed or resumed",
            path.display()
        );
    }
    Ok(imported.is_new)
}
