//! Runs as files, with the contracts that they went by.

use std::{collections::BTreeSet, sync::Arc};

use callgate_machine::Record;
use serde_json::{Map, Value};

use super::{Book, BookError};
use crate::{
    contracts::named,
    runfile::{self, Header, Mask, RunFile},
};

/// The member of a run file's first line with the texts of further catalogs, by their hash.
pub const DOCUMENTS: &str = "documents";

/// A run as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// The file.
    pub bytes: Vec<u8>,
    /// Contracts that are gone, by the hash of their text: the run cannot be replayed elsewhere.
    pub gone: Vec<Arc<str>>,
    /// Contracts whose kept text is no catalog, by its hash. The text is in the file as it is kept,
    /// and the run cannot be replayed with it.
    pub harmed: Vec<Arc<str>>,
}

/// A run that was taken in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The run.
    pub run: Arc<str>,
    /// Whether it was new; else the same one was there already.
    pub is_new: bool,
    /// Its events.
    pub events: usize,
    /// Whether its contracts are those it was recorded with; if not, it can be shown, not replayed
    /// or resumed.
    pub is_whole: bool,
}

impl Book {
    /// A run as one file, secrets masked.
    ///
    /// # Errors
    /// There is no such run, or it cannot be read.
    pub fn export(&self, run: &str, mask: &Mask) -> Result<Exported, BookError> {
        let records = self.records(run)?;
        let agent = self.summary(run)?.agent;
        let mut catalog: Vec<Value> = Vec::new();
        let mut documents = Map::new();
        let (mut gone, mut harmed) = (Vec::new(), Vec::new());
        for (i, hash) in named(&records).into_iter().enumerate() {
            let Some(text) = self.journal.kept(&hash)? else {
                gone.push(hash);
                continue;
            };
            let parsed = match serde_json::from_str::<Vec<Value>>(&text) {
                Ok(parsed) => parsed,
                Err(error) => {
                    tracing::warn!(run, catalog = %hash, %error, "the contracts of a run are no catalog");
                    documents.insert(hash.to_string(), Value::from(&*text));
                    harmed.push(hash);
                    continue;
                }
            };
            // What stands in the header already is not said twice.
            let is_same = i == 0 && serde_json::to_string(&parsed).is_ok_and(|t| *t == *text);
            if i == 0 {
                catalog = parsed;
            }
            if !is_same {
                documents.insert(hash.to_string(), Value::from(&*text));
            }
        }
        let mut header = Header::new(run, &agent, catalog);
        if !documents.is_empty() {
            header.more.insert(DOCUMENTS.to_owned(), documents.into());
        }
        let lines = self.journal.lines(run)?;
        let mut bytes = Vec::new();
        runfile::write(&mut bytes, header, &lines, mask)?;
        Ok(Exported { bytes, gone, harmed })
    }

    /// Takes a run in from a file.
    ///
    /// # Errors
    /// Another run of the same id is there, or the journal failed.
    pub async fn import(&self, file: &RunFile) -> Result<Imported, BookError> {
        // Of events that this version does not know nothing more is asked.
        let records: Vec<_> = file.lines.iter().filter_map(|line| line.record().ok()).collect();
        let mut is_whole = true;
        for (hash, text) in documents(file, &records) {
            let kept = self.journal.keep(&text).await?;
            is_whole &= hash.is_empty() || *kept == *hash;
        }
        let is_new = self.journal.import(&file.lines).await?;
        let (run, events) = (file.header.run.clone(), file.lines.len());
        Ok(Imported { run, is_new, events, is_whole })
    }

    /// The variables that a run's contracts name as `${NAME}`: their values are secrets as far as
    /// anybody can know.
    ///
    /// # Errors
    /// There is no such run, or the journal failed.
    pub fn variables(&self, run: &str) -> Result<BTreeSet<String>, BookError> {
        let mut names = BTreeSet::new();
        for hash in named(&self.records(run)?) {
            if let Some(text) = self.journal.kept(&hash)? {
                runfile::variables(&text, &mut names);
            }
        }
        Ok(names)
    }
}

/// The texts of the catalogs in a run file, by the hashes that the run names them with.
pub fn documents(file: &RunFile, records: &[Record]) -> Vec<(Arc<str>, String)> {
    let mut texts: Vec<(Arc<str>, String)> = Vec::new();
    if let Some(Value::Object(more)) = file.header.more.get(DOCUMENTS) {
        let text = |text: &Value| text.as_str().map(str::to_owned);
        texts.extend(more.iter().filter_map(|(hash, t)| Some((hash.as_str().into(), text(t)?))));
    }
    // What the run began with is the header's own catalog.
    let first = named(records).into_iter().next().unwrap_or_else(|| Arc::from(""));
    if !texts.iter().any(|(hash, _)| *hash == first) {
        texts.push((first, Value::from(file.header.catalog.clone()).to_string()));
    }
    texts
}
