//! The journal as those see it who work with runs that they do not drive: lists of what waits, a
//! person's words, forks, files, an end for a run that nobody drives.

mod end;
mod error;
mod files;
mod pending;
mod word;

use std::sync::Arc;

use callgate_machine::{Record, Run, fork::fork, replay::replay_by};

pub use self::{
    error::{BookError, Decided, Was},
    files::{DOCUMENTS, Exported, Imported, documents},
    pending::{On, Pending},
    word::Said,
};
use crate::{
    contracts::Contracts,
    journal::{Filter, Journal, JournalError, Line, RunSummary},
};

/// A journal to work with. Cheap to clone.
#[derive(Clone)]
pub struct Book {
    journal: Arc<dyn Journal>,
}

impl std::fmt::Debug for Book {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Book").finish_non_exhaustive()
    }
}

impl Book {
    /// Of a journal.
    pub fn new(journal: Arc<dyn Journal>) -> Self {
        Self { journal }
    }

    /// The journal.
    pub fn journal(&self) -> &Arc<dyn Journal> {
        &self.journal
    }

    /// A run's facts.
    ///
    /// # Errors
    /// There is no such run.
    pub fn summary(&self, run: &str) -> Result<RunSummary, BookError> {
        Ok(self.journal.summary(run)?)
    }

    /// A run's events.
    ///
    /// # Errors
    /// There is no such run, or it cannot be read.
    pub fn records(&self, run: &str) -> Result<Vec<Record>, BookError> {
        let records = self.journal.load(run)?;
        if records.is_empty() {
            return Err(JournalError::UnknownRun { run: run.into() }.into());
        }
        Ok(records)
    }

    /// The run that was not delegated, above this one: what is resumed.
    ///
    /// # Errors
    /// There is no such run.
    pub fn root(&self, run: &Arc<str>) -> Result<Arc<str>, BookError> {
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
    ///
    /// # Errors
    /// The journal failed.
    pub fn delegates(&self, run: &str) -> Result<Vec<RunSummary>, BookError> {
        let filter = Filter { parent: Some(run.to_owned()), ..Filter::default() };
        let mut all = Vec::new();
        for child in self.journal.list(&filter)?.into_iter().rev() {
            let below = self.delegates(&child.run)?;
            all.push(child);
            all.extend(below);
        }
        Ok(all)
    }

    /// The contracts that a run went by.
    ///
    /// # Errors
    /// The journal failed, or one of them cannot be read.
    pub fn contracts(&self, run: &str, records: &[Record]) -> Result<Contracts, BookError> {
        Ok(Contracts::of(run, records, &*self.journal, None)?)
    }

    /// A run as it stands after its events, and the events.
    ///
    /// # Errors
    /// There is no such run, or it or its contracts cannot be read.
    pub fn folded(&self, id: &str) -> Result<(Vec<Record>, Run), BookError> {
        let records = self.records(id)?;
        let run = self.contracts(id, &records)?.fold(id, &records)?;
        Ok((records, run))
    }

    /// What a run and those that it delegated wait for.
    ///
    /// # Errors
    /// As for [`folded`](Self::folded).
    pub fn pending(&self, id: &str) -> Result<Vec<Pending>, BookError> {
        let mut all = Vec::new();
        let own = self.summary(id)?;
        for run in std::iter::once(own).chain(self.delegates(id)?) {
            if !run.state.is_over() && !run.open.is_empty() {
                let (records, folded) = self.folded(&run.run)?;
                all.extend(Pending::of(&records, &folded));
            }
        }
        Ok(all)
    }

    /// Whether a run would go on if it were taken up now: it is neither over, nor paused, nor is
    /// everything that it has under way waiting for people.
    ///
    /// # Errors
    /// As for [`folded`](Self::folded).
    pub fn goes_on(&self, id: &str) -> Result<bool, BookError> {
        let (_, run) = self.folded(id)?;
        if run.is_over() || run.is_paused() {
            return Ok(false);
        }
        let running = run.running();
        if running.is_empty() {
            return Ok(run.waits().is_empty());
        }
        for (call, _) in running {
            match self.goes_on(&crate::delegate::child_id(id, &call)) {
                Ok(false) => {}
                Ok(true) => return Ok(true),
                // The call of a tool, or of a delegate whose run has not begun.
                Err(BookError::Journal(JournalError::UnknownRun { .. })) => return Ok(true),
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    /// Begins a run as another one did, up to where the model was asked for a hop. It goes on when
    /// it is taken up.
    ///
    /// # Errors
    /// The run was delegated, so it has no life of its own; it has no such hop; or there is a run
    /// of the new id already.
    pub async fn fork(&self, origin: &str, hop: u32, id: &Arc<str>) -> Result<(), BookError> {
        if let Some(parent) = self.summary(origin)?.parent {
            return Err(BookError::Delegated { run: origin.into(), parent });
        }
        let records = fork(&self.records(origin)?, hop, id)?;
        let lines = records.iter().map(Line::of).collect::<Result<Vec<_>, _>>()?;
        self.journal.import(&lines).await?;
        Ok(())
    }

    /// Derives everything in a run again, without model and tools, and compares.
    ///
    /// # Errors
    /// The run cannot be read. A difference is no error.
    pub fn replayed(
        &self,
        id: &str,
    ) -> Result<Result<(), callgate_machine::replay::Difference>, BookError> {
        let records = self.records(id)?;
        let contracts = self.contracts(id, &records)?;
        Ok(replay_by(|hash: &str| contracts.get(hash), &records).map(drop))
    }

    /// Forgets a run and those that it delegated; gives their ids.
    ///
    /// # Errors
    /// One of them is being driven: what was removed before it stays removed.
    pub async fn remove(&self, id: &str) -> Result<Vec<Arc<str>>, BookError> {
        let own = self.summary(id)?.run;
        let mut runs: Vec<Arc<str>> =
            self.delegates(id)?.into_iter().map(|child| child.run).collect();
        // The run itself last: as long as it is there, the rest of it can be found.
        runs.push(own);
        for run in &runs {
            match self.journal.remove(run).await {
                // Somebody else was at it.
                Ok(()) | Err(JournalError::UnknownRun { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(runs)
    }
}
