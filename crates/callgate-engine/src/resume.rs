//! Runs taken up from their journal.

use std::{collections::HashMap, sync::Arc};

use callgate_contract::Catalog;
use callgate_machine::{Event, Mount, Record, Run, event::RunResumed, fold, replay};
use tokio_util::sync::CancellationToken;

use crate::{
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
        let Some(Record { event: Event::RunStarted(start), .. }) = records.first() else {
            return Err(EngineError::NoStart { run: id.into() });
        };
        let catalogs = Catalogs { journal, own: self, read: HashMap::new().into() };
        let catalog = match &start.catalog {
            Some(hash) => catalogs
                .get(hash)
                .ok_or_else(|| EngineError::Catalog { run: id.into(), hash: hash.clone() })?,
            None => self.catalog().clone(),
        };
        let mount = Mount::of_run(start, &catalog);
        let mut run = Run::new(id, catalog, mount);
        for record in records {
            replay::remount(&mut run, record, &|hash: &str| catalogs.get(hash))
                .map_err(|_| EngineError::Catalog { run: id.into(), hash: hash_of(record) })?;
            fold(&mut run, record);
        }
        Ok(run)
    }
}

fn hash_of(record: &Record) -> Arc<str> {
    match &record.event {
        Event::RunResumed(resumed) => resumed.catalog.clone().unwrap_or_else(|| Arc::from("")),
        _ => Arc::from(""),
    }
}

/// The catalogs that a run names, read once each.
struct Catalogs<'a> {
    journal: &'a dyn Journal,
    own: &'a Engine,
    read: std::sync::Mutex<HashMap<Arc<str>, Arc<Catalog>>>,
}

impl Catalogs<'_> {
    fn get(&self, hash: &str) -> Option<Arc<Catalog>> {
        let mut read = self.read.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(catalog) = read.get(hash) {
            return Some(catalog.clone());
        }
        let catalog = if self.own.catalog_hash() == hash {
            self.own.catalog().clone()
        } else {
            let text = self.journal.kept(hash).ok().flatten()?;
            Arc::new(Catalog::from_text(hash, &text).ok()?)
        };
        read.insert(hash.into(), catalog.clone());
        Some(catalog)
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
        let record_of = Record {
            run: self.run().id().clone(),
            seq: 0,
            at: 0,
            event: Event::RunResumed(Box::new(resumed.clone())),
        };
        let own = self.engine().catalog().clone();
        // The catalog is this engine's own; it is always there.
        let _ = replay::remount(self.run_mut(), &record_of, &move |_: &str| Some(own.clone()));
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
