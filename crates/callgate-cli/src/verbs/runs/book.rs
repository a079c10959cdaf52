//! The journal, as the verbs need it.

use std::{path::PathBuf, sync::Arc};

use callgate::{
    engine::{self, Journal as _, Options, Pending, RunState, RunSummary, SqliteJournal},
    machine::{Record, Run},
};

use super::cli::Within;
use crate::{cli::RunOptions, failure::Failure, journal};

/// A journal that is there, and how commands find it again.
pub(crate) struct Book {
    pub(crate) journal: Arc<SqliteJournal>,
    /// What a command needs to find the same journal.
    pub(crate) place: String,
    pub(crate) runs: engine::Book,
}

impl Book {
    fn of(journal: Arc<SqliteJournal>, place: String) -> Self {
        let runs = engine::Book::new(journal.clone());
        Self { journal, place, runs }
    }

    /// The journal that a run is to be kept in; nothing where it is to be forgotten.
    pub(crate) fn to_write(options: &RunOptions) -> Result<Option<Self>, Failure> {
        let project = &options.project.project;
        let opened = journal::open(project, &options.keeping)?;
        let place = journal::same_place(project, &options.keeping.place);
        Ok(opened.map(|journal| Self::of(journal, place)))
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
                Ok(Self::of(journal, place))
            }
            None => Err(no_journal(&journal::folder(&within.project, &within.place))),
        }
    }

    /// The journal that runs are in.
    pub(super) fn open(within: &Within) -> Result<Self, Failure> {
        let folder = existing(within)?;
        let journal = Arc::new(SqliteJournal::open(folder, Options::default())?);
        let place = journal::same_place(&within.project, &within.place);
        Ok(Self::of(journal, place))
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
        Ok(self.runs.summary(run)?)
    }

    /// A run's events.
    pub(crate) fn records(&self, run: &str) -> Result<Vec<Record>, Failure> {
        Ok(self.runs.records(run)?)
    }

    /// The run that was not delegated, above this one: what is resumed.
    pub(crate) fn root(&self, run: &Arc<str>) -> Result<Arc<str>, Failure> {
        Ok(self.runs.root(run)?)
    }

    /// The runs that a run delegated, those of these included, oldest first.
    pub(crate) fn delegates(&self, run: &str) -> Result<Vec<RunSummary>, Failure> {
        Ok(self.runs.delegates(run)?)
    }

    /// A run as it stands after its events, and the events.
    pub(crate) fn folded(&self, id: &str) -> Result<(Vec<Record>, Run), Failure> {
        Ok(self.runs.folded(id)?)
    }

    /// What a run and those it delegated wait for.
    pub(crate) fn pending(&self, id: &str) -> Result<Vec<Pending>, Failure> {
        Ok(self.runs.pending(id)?)
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
