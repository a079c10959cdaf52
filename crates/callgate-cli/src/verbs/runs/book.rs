//! The journal, as the verbs need it.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use callgate::{
    contract::Catalog,
    engine::{Filter, Journal as _, JournalError, Options, RunState, RunSummary, SqliteJournal},
    machine::{Event, Mount, Record, Run, fold, replay},
};

use super::{cli::Within, pending::Pending};
use crate::{cli::RunOptions, failure::Failure, journal};

/// A journal that is there, and how commands find it again.
pub(crate) struct Book {
    pub(crate) journal: Arc<SqliteJournal>,
    /// What a command needs to find the same journal.
    pub(crate) place: String,
    catalogs: Mutex<HashMap<Arc<str>, Option<Arc<Catalog>>>>,
}

impl Book {
    /// The journal that a run is to be kept in; nothing where it is to be forgotten.
    pub(crate) fn to_write(options: &RunOptions) -> Result<Option<Self>, Failure> {
        let project = &options.project.project;
        let opened = journal::open(project, &options.keeping)?;
        let place = journal::same_place(project, &options.keeping.place);
        Ok(opened.map(|journal| Self { journal, place, catalogs: Mutex::default() }))
    }

    /// The journal that runs are in, with what a command says about resuming.
    pub(crate) fn of_run(options: &RunOptions) -> Result<Self, Failure> {
        if options.keeping.no_journal {
            let message = "--no-journal leaves no run to work with";
            return Err(Failure::configuration("no_journal", message));
        }
        let (within, keeping) = (Within::of(options), &options.keeping);
        existing(&within)?;
        match journal::open(&within.project, keeping)? {
            Some(journal) => {
                let place = journal::same_place(&within.project, &within.place);
                Ok(Self { journal, place, catalogs: Mutex::default() })
            }
            None => Err(no_journal(&journal::folder(&within.project, &within.place))),
        }
    }

    /// The journal that runs are in.
    pub(super) fn open(within: &Within) -> Result<Self, Failure> {
        let folder = existing(within)?;
        let journal = Arc::new(SqliteJournal::open(folder, Options::default())?);
        let place = journal::same_place(&within.project, &within.place);
        Ok(Self { journal, place, catalogs: Mutex::default() })
    }

    /// The same, where it is no mistake that there is none.
    pub(super) fn if_there(within: &Within) -> Result<Option<Self>, Failure> {
        let folder = journal::folder(&within.project, &within.place);
        if journal::is_there(&folder) { Self::open(within).map(Some) } else { Ok(None) }
    }

    /// The run that begins so.
    pub(crate) fn find(&self, prefix: &str) -> Result<Arc<str>, Failure> {
        Ok(self.journal.find(prefix)?)
    }

    /// A run's facts.
    pub(crate) fn summary(&self, run: &str) -> Result<RunSummary, Failure> {
        Ok(self.journal.summary(run)?)
    }

    /// A run's events.
    pub(crate) fn records(&self, run: &str) -> Result<Vec<Record>, Failure> {
        Ok(self.journal.load(run)?)
    }

    /// The run that was not delegated, above this one: what is resumed.
    pub(crate) fn root(&self, run: &Arc<str>) -> Result<Arc<str>, Failure> {
        let mut at = run.clone();
        while let Some(parent) = self.summary(&at)?.parent {
            match self.journal.summary(&parent) {
                Ok(_) => at = parent.into(),
                // Imported alone.
                Err(JournalError::UnknownRun { .. }) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(at)
    }

    /// The runs that a run delegated, those of these included, oldest first.
    pub(crate) fn delegates(&self, run: &str) -> Result<Vec<RunSummary>, Failure> {
        let filter = Filter { parent: Some(run.to_owned()), ..Filter::default() };
        let mut all = Vec::new();
        for child in self.journal.list(&filter)?.into_iter().rev() {
            let below = self.delegates(&child.run)?;
            all.push(child);
            all.extend(below);
        }
        Ok(all)
    }

    /// A catalog that runs name, by the hash of its text.
    pub(crate) fn catalog(&self, hash: &str) -> Option<Arc<Catalog>> {
        let mut read = self.catalogs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = read.get(hash) {
            return known.clone();
        }
        let text = self.journal.kept(hash).ok().flatten();
        let catalog = text.and_then(|text| Catalog::from_text(hash, &text).ok()).map(Arc::new);
        read.insert(hash.into(), catalog.clone());
        catalog
    }

    /// A run as it stands after its events, and the events.
    pub(crate) fn folded(&self, id: &str) -> Result<(Vec<Record>, Run), Failure> {
        let records = self.records(id)?;
        let run = folded(id, &records, |hash| self.catalog(hash))?;
        Ok((records, run))
    }

    /// What a run and those it delegated wait for.
    pub(crate) fn pending(&self, id: &str) -> Result<Vec<Pending>, Failure> {
        let mut all = Vec::new();
        let delegates = self.delegates(id)?.into_iter().map(|child| child.run);
        for run in std::iter::once(Arc::from(id)).chain(delegates) {
            if !self.summary(&run)?.state.is_over() {
                let (records, folded) = self.folded(&run)?;
                all.extend(Pending::of(&records, &folded));
            }
        }
        Ok(all)
    }

    /// The process that drives a run, where one does.
    pub(super) fn driver(&self, run: &str) -> Result<Option<u32>, Failure> {
        Ok(self.journal.driver(run)?)
    }

    /// A command for a run in this journal.
    pub(super) fn command(&self, verb: &str, rest: &str) -> String {
        format!("callgate runs {verb}{} {rest}", self.place)
    }

    /// That a run is not over.
    pub(super) fn going(&self, run: &str) -> Result<RunSummary, Failure> {
        let summary = self.summary(run)?;
        if summary.state.is_over() {
            let state = match summary.state {
                RunState::Ended => "over".to_owned(),
                state => format!("over ({state})"),
            };
            let message = format!("run {run} is {state}");
            return Err(Failure::configuration("run_over", message)
                .hint(format!("`{}` tells how.", self.command("show", run))));
        }
        Ok(summary)
    }
}

fn existing(within: &Within) -> Result<PathBuf, Failure> {
    let folder = journal::folder(&within.project, &within.place);
    if journal::is_there(&folder) { Ok(folder) } else { Err(no_journal(&folder)) }
}

fn no_journal(folder: &std::path::Path) -> Failure {
    let message = format!("there is no journal in {}", folder.display());
    Failure::configuration("no_journal", message).hint(
        "`callgate run` makes it at its first run; -C names another project, --journal another folder.",
    )
}

/// A run as it stands after its events.
pub(super) fn folded(
    id: &str,
    records: &[Record],
    catalogs: impl Fn(&str) -> Option<Arc<Catalog>>,
) -> Result<Run, Failure> {
    let damaged = |message: String| {
        Failure::new(crate::exit::Exit::Internal, "journal_damaged", message)
            .hint("`callgate runs verify` says what is damaged.")
    };
    let Some(Record { event: Event::RunStarted(start), .. }) = records.first() else {
        return Err(damaged(format!("run {id} does not begin with how it was started")));
    };
    let hash = start.catalog.as_deref().unwrap_or_default();
    let gone = || damaged(format!("the contracts that run {id} went by are not in the journal"));
    let catalog = catalogs(hash).ok_or_else(gone)?;
    let mount = Mount::of_run(start, &catalog);
    let mut run = Run::new(id, catalog, mount);
    for record in records {
        replay::remount(&mut run, record, &catalogs).map_err(|_| gone())?;
        fold(&mut run, record);
    }
    Ok(run)
}
