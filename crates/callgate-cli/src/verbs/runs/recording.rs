//! A run as it was recorded: in the journal, or in a run file.

use std::{
    fs,
    io::{self, BufRead},
    path::{Path, PathBuf},
    sync::Arc,
};

use callgate::{
    contract::Catalog,
    engine::{
        book::documents,
        contracts::Contracts,
        runfile::{self, RunFile},
    },
    machine::Record,
};

use super::{Book, cli::Within};
use crate::failure::Failure;

/// A run with the contracts that it went by.
pub(super) struct Recording {
    pub(super) records: Vec<Record>,
    contracts: Contracts,
}

impl Recording {
    /// A catalog that the run names.
    pub(super) fn catalog(&self, hash: &str) -> Option<Arc<Catalog>> {
        self.contracts.get(hash)
    }

    /// A run of the journal.
    pub(super) fn of_book(book: &Book, id: &str) -> Result<Self, Failure> {
        let records = book.records(id)?;
        let contracts = book.runs.contracts(id, &records)?;
        Ok(Self { records, contracts })
    }

    /// A run file.
    pub(super) fn of_file(path: &Path) -> Result<Self, Failure> {
        let file = read(path)?;
        let from = path.display().to_string();
        let lines = file.lines.iter().map(|line| line.record());
        let records = lines
            .collect::<Result<Vec<Record>, _>>()
            .map_err(|error| Failure::configuration("run_file", format!("{from}: {error}")))?;
        let mut catalogs = Vec::new();
        for (hash, text) in documents(&file, &records) {
            let catalog = Catalog::from_text(&from, &text).map_err(|m| Failure::mistakes(&m))?;
            catalogs.push((hash, Arc::new(catalog)));
        }
        Ok(Self { records, contracts: catalogs.into_iter().collect() })
    }
}

/// Reads a run file; `-` is standard input.
pub(super) fn read(path: &Path) -> Result<RunFile, Failure> {
    let shown = path.display();
    let unreadable = |error: io::Error| {
        Failure::configuration("unreadable_file", format!("cannot read {shown}: {error}"))
    };
    let mut input: Box<dyn BufRead> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(io::BufReader::new(fs::File::open(path).map_err(unreadable)?))
    };
    runfile::read(&mut input)
        .map_err(|error| Failure::configuration("run_file", format!("{shown}: {error}")))
}

/// What is meant: the run files that a path leads to, or a run of the journal.
pub(super) enum Source {
    Files(Vec<PathBuf>),
    Run(String),
}

impl Source {
    /// A path that is there, else a run's id.
    pub(super) fn of(text: &str) -> Result<Self, Failure> {
        let path = Path::new(text);
        if path.is_dir() {
            return Ok(Self::Files(in_folder(path)?));
        }
        let is_file = text == "-" || path.is_file() || text.ends_with(".jsonl");
        Ok(if is_file { Self::Files(vec![path.to_owned()]) } else { Self::Run(text.to_owned()) })
    }
}

/// The run files in a folder, and in those below it.
pub(super) fn in_folder(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        let unreadable = |error: io::Error| {
            let message = format!("cannot read {}: {error}", at.display());
            Failure::configuration("unreadable_file", message)
        };
        for entry in fs::read_dir(&at).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "jsonl") {
                files.push(path);
            }
        }
    }
    if files.is_empty() {
        let message = format!("there is no run file (.jsonl) in {}", folder.display());
        return Err(Failure::configuration("no_run_files", message));
    }
    files.sort();
    Ok(files)
}

/// Recordings, each with where it comes from: an id, or a file.
pub(super) type Recordings = Vec<(String, Result<Recording, Failure>)>;

/// The recordings that are meant: a file that cannot be read is a failure of its own.
pub(super) fn all(within: &Within, of: &[String]) -> Result<Recordings, Failure> {
    let mut book: Option<Arc<Book>> = None;
    let mut open = || -> Result<Arc<Book>, Failure> {
        if book.is_none() {
            book = Some(Arc::new(Book::open(within)?));
        }
        // It was just put there.
        book.clone().ok_or_else(|| Failure::configuration("no_journal", "there is no journal"))
    };
    let mut found = Vec::new();
    if of.is_empty() {
        use callgate::engine::{Filter, Journal as _};
        let book = open()?;
        for run in book.journal.list(&Filter::default())?.into_iter().rev() {
            found.push((run.run.to_string(), Recording::of_book(&book, &run.run)));
        }
    }
    for text in of {
        match Source::of(text)? {
            Source::Files(files) => found.extend(
                files.iter().map(|path| (path.display().to_string(), Recording::of_file(path))),
            ),
            Source::Run(id) => {
                let book = open()?;
                let id = book.find(&id)?;
                found.push((id.to_string(), Recording::of_book(&book, &id)));
            }
        }
    }
    Ok(found)
}
