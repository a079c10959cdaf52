//! The contracts that a run went by: catalogs that its events name by the hash of their text.

use std::{collections::HashMap, sync::Arc};

use callgate_contract::Catalog;
use callgate_machine::{Event, Mount, Record, Run, fold, replay};

use crate::{journal::Journal, outcome::EngineError};

/// The catalogs that a run names, each read once.
///
/// A catalog that the journal does not keep is simply not there; one that cannot be read is an
/// error when the run is opened.
#[derive(Debug, Clone, Default)]
pub struct Contracts(HashMap<Arc<str>, Arc<Catalog>>);

impl Contracts {
    /// Those that a journal keeps for a run. `own` is one that is at hand, with its hash; a run
    /// that names none, since its journal kept no texts, is taken to go by it.
    ///
    /// # Errors
    /// The journal failed, or a catalog cannot be read.
    pub fn of(
        run: &str,
        records: &[Record],
        journal: &dyn Journal,
        own: Option<(String, Arc<Catalog>)>,
    ) -> Result<Self, EngineError> {
        let mut found = HashMap::new();
        if let Some((hash, catalog)) = own {
            found.insert(Arc::from(""), catalog.clone());
            found.insert(hash.into(), catalog);
        }
        for hash in named(records) {
            if found.contains_key(&hash) {
                continue;
            }
            let Some(text) = journal.kept(&hash)? else { continue };
            let catalog = Catalog::from_text(&hash, &text).map_err(|mistakes| {
                EngineError::UnreadableCatalog { run: run.into(), hash: hash.clone(), mistakes }
            })?;
            found.insert(hash, Arc::new(catalog));
        }
        Ok(Self(found))
    }

    /// One of them, by the hash of its text; the empty hash is that of a run that names none.
    pub fn get(&self, hash: &str) -> Option<Arc<Catalog>> {
        self.0.get(hash).cloned()
    }

    /// The run after its events.
    ///
    /// # Errors
    /// The first event is not how a run begins, or a catalog is not there.
    pub fn fold(&self, id: &str, records: &[Record]) -> Result<Run, EngineError> {
        let Some(Record { event: Event::RunStarted(start), .. }) = records.first() else {
            return Err(EngineError::NoStart { run: id.into() });
        };
        let gone = |hash: Arc<str>| EngineError::Catalog { run: id.into(), hash };
        let hash = start.catalog.clone().unwrap_or_else(|| Arc::from(""));
        let catalog = self.get(&hash).ok_or_else(|| gone(hash))?;
        let mount = Mount::of_run(start, &catalog);
        let mut run = Run::new(id, catalog, mount);
        for record in records {
            if let Event::RunResumed(resumed) = &record.event {
                replay::go_by(&mut run, resumed, &|hash: &str| self.get(hash)).map_err(gone)?;
            }
            fold(&mut run, record);
        }
        Ok(run)
    }
}

impl FromIterator<(Arc<str>, Arc<Catalog>)> for Contracts {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, Arc<Catalog>)>>(catalogs: I) -> Self {
        Self(catalogs.into_iter().collect())
    }
}

/// The hashes of the catalogs that a run names, in order, each once.
pub fn named(records: &[Record]) -> Vec<Arc<str>> {
    let mut hashes: Vec<Arc<str>> = Vec::new();
    for record in records {
        let hash = match &record.event {
            Event::RunStarted(start) => start.catalog.clone(),
            Event::RunResumed(resumed) => resumed.catalog.clone(),
            _ => None,
        };
        if let Some(hash) = hash.filter(|hash| !hashes.contains(hash)) {
            hashes.push(hash);
        }
    }
    hashes
}
