//! Runs taken up from their journal.

use std::sync::Arc;

use callgate_machine::{Record, Run, event::RunResumed, replay};
use tokio_util::sync::CancellationToken;

use crate::{
    contracts::Contracts,
    engine::Engine,
    journal::{Journal, JournalError},
    outcome::{EngineError, Outcome},
    session::{Observer, Session},
};

impl Engine {
    /// A run of the journal, folded and ready to go on: with [`Session::resume`] where it is not
    /// over, with [`Session::say`] where it is.
    ///
    /// # Errors
    /// There is no such run, another process drives it, its events cannot be read, or the catalog
    /// that it went by is not kept.
    pub async fn open(
        self: &Arc<Self>,
        id: &str,
        observer: Option<Observer>,
        cancel: CancellationToken,
    ) -> Result<Session, EngineError> {
        let lease = self.journal.claim(id).await?;
        let records = self.journal.load(id)?;
        if records.is_empty() {
            return Err(JournalError::UnknownRun { run: id.into() }.into());
        }
        let run = self.folded(id, &records, &*self.journal)?;
        let session = Session::new(self.clone(), run, lease, observer, cancel);
        Ok(session.continuing(records.len() as u64))
    }

    /// Folds a run's events.
    pub(crate) fn folded(
        &self,
        id: &str,
        records: &[Record],
        journal: &dyn Journal,
    ) -> Result<Run, EngineError> {
        let own = (self.catalog_hash().to_owned(), self.catalog().clone());
        Contracts::of(id, records, journal, Some(own))?.fold(id, records)
    }
}

impl Session {
    /// Goes on with a run that was folded: what was begun is taken up or put to people, messages
    /// that came meanwhile are heeded. Where model or catalog are others than the run's so far,
    /// the run goes on with this engine's.
    ///
    /// # Errors
    /// The run is over, or the journal failed.
    pub async fn resume(&mut self, by: Option<Arc<str>>) -> Result<Outcome, EngineError> {
        if self.run().is_over() {
            return Err(EngineError::Over { run: self.run().id().clone() });
        }
        let resumed = self.amended(by).await?;
        let own = self.engine().catalog().clone();
        let run = self.run().id().clone();
        replay::go_by(self.run_mut(), &resumed, &move |_: &str| Some(own.clone()))
            .map_err(|hash| EngineError::Catalog { run, hash })?;
        self.take_up(resumed).await
    }

    /// What this engine has other than the run had.
    async fn amended(&self, by: Option<Arc<str>>) -> Result<RunResumed, EngineError> {
        let mut resumed = RunResumed { by, ..RunResumed::default() };
        let engine = self.engine();
        let Some(start) = self.run().start() else { return Ok(resumed) };
        if *start.model != *engine.model.id() {
            resumed.model = Some(engine.model.id().into());
        }
        let fallbacks = engine.fallback_ids();
        if start.fallbacks != fallbacks {
            resumed.fallbacks = Some(fallbacks);
        }
        let kept = engine.keep_catalog(self.journal()).await?;
        if kept.is_some() && kept != start.catalog {
            resumed.catalog = kept;
        }
        Ok(resumed)
    }
}
