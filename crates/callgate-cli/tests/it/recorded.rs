//! What tests leave in journals.

use std::{path::Path, sync::Arc};

use callgate::{
    contract::Catalog,
    engine::{Filter, Journal as _, Options, SqliteJournal},
    machine::replay::replay_by,
};

/// Derives every run of a journal again and compares; how many there are.
#[track_caller]
pub(crate) fn replay_all(folder: &Path) -> usize {
    if !folder.join("journal.db").is_file() {
        return 0;
    }
    let journal = SqliteJournal::open(folder, Options::default()).unwrap();
    let runs = journal.list(&Filter::default()).unwrap();
    for summary in &runs {
        let records = journal.load(&summary.run).unwrap();
        let catalogs = |hash: &str| {
            let text = journal.kept(hash).unwrap()?;
            Some(Arc::new(Catalog::from_text(hash, &text).unwrap()))
        };
        if let Err(difference) = replay_by(catalogs, &records) {
            panic!("run {}: {difference}", summary.run);
        }
    }
    runs.len()
}
