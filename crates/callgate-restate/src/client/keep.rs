//! A run of Restate's in a journal like any other, so that it is listed, shown, exported, replayed
//! and examined by the same commands.

use std::sync::Arc;

use callgate_engine::{Journal, Line};
use callgate_machine::{Event, Record};

use super::{Client, ClientError};

impl Client {
    /// Takes a run that is over into a journal, with the catalogs that it goes by: `true` where it
    /// was new there.
    ///
    /// # Errors
    /// There is no such run, or the journal does not take it: it has another run of that id, or is
    /// of a kind that takes none.
    pub async fn keep_in(&self, run: &str, journal: &dyn Journal) -> Result<bool, ClientError> {
        let records = self.events(run, 0).await?;
        for hash in catalogs(&records) {
            let text = self.catalog(run, &hash).await?;
            journal.keep(&text).await?;
        }
        let lines = records.iter().map(Line::of).collect::<Result<Vec<_>, _>>()?;
        Ok(journal.import(&lines).await?)
    }
}

/// The catalogs that events name, by the hash of their text.
fn catalogs(records: &[Record]) -> Vec<Arc<str>> {
    let named = records.iter().filter_map(|record| match &record.event {
        Event::RunStarted(start) => start.catalog.clone(),
        Event::RunResumed(resumed) => resumed.catalog.clone(),
        _ => None,
    });
    named.collect()
}
