//! Damaged files: found, named, and read as far as they go.

use std::fs;

use callgate_engine::{
    Journal,
    journal::{JournalError, Options, SqliteJournal},
};
use callgate_machine::Record;

use crate::support::*;

const PAGE: usize = 4096;

fn journal_of(runs: u64) -> (Vec<u8>, Vec<Vec<Record>>) {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(folder.path());
    let mut all = Vec::new();
    for n in 0..runs {
        let batches = batches(&format!("run-{n:03}"), n);
        for batch in &batches {
            block_on(journal.append(batch)).unwrap();
        }
        all.push(flat(&batches));
    }
    drop(journal);
    (fs::read(folder.path().join("journal.db")).unwrap(), all)
}

/// What a run of which something is wrong may look like.
fn is_damage(error: &JournalError) -> bool {
    matches!(
        error,
        JournalError::Corrupt { .. } | JournalError::Damaged { .. } | JournalError::Sqlite { .. }
    )
}

#[test]
fn a_damaged_page_is_reported_and_the_rest_is_read() {
    let (whole, all) = journal_of(30);
    let pages = whole.len() / PAGE;
    let mut random = fastrand::Rng::with_seed(5);
    let mut most = 0;
    for page in 0..pages {
        for garbage in [false, true] {
            let mut db = whole.clone();
            let bytes = &mut db[page * PAGE..(page + 1) * PAGE];
            if garbage {
                bytes.iter_mut().for_each(|byte| *byte = random.u8(..));
            } else {
                // In the half where cells are.
                let at = random.usize(PAGE / 2..PAGE);
                bytes[at] ^= 1 << random.u8(0..8);
            }
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("journal.db"), &db).unwrap();
            let what = format!("page {page} of {pages}, {}", if garbage { "all" } else { "a bit" });

            let salvage = SqliteJournal::salvage(folder.path());
            let Ok(salvage) = salvage else {
                assert!(page == 0, "{what}: {}", salvage.unwrap_err());
                assert!(SqliteJournal::open(folder.path(), Options::default()).is_err(), "{what}");
                continue;
            };
            let found =
                !salvage.problems.is_empty() || salvage.runs.iter().any(|r| r.lost.is_some());
            // What is read is what was written, whatever is wrong elsewhere.
            let mut read = 0;
            for run in &salvage.runs {
                let Some(expected) = all.iter().find(|records| records[0].run == run.run) else {
                    assert!(
                        found && run.lines.is_empty(),
                        "{what}: a run {} that never was",
                        run.run
                    );
                    continue;
                };
                let records: Vec<_> = run.lines.iter().map(|line| line.record().unwrap()).collect();
                assert_eq!(records, expected[..records.len()], "{what}");
                assert!(
                    records.len() == expected.len() || found,
                    "{what}: silently less of {}",
                    run.run
                );
                read += usize::from(records.len() == expected.len());
            }
            most = most.max(all.len() - read);
            // Also without the page that leads to all others.
            assert!(read + 12 >= all.len(), "{what}: {read} runs of {} left", all.len());
            assert!(read == all.len() || found, "{what}: nothing was said");

            // The journal itself either gives a run as it was or says what is wrong.
            match SqliteJournal::open(folder.path(), Options::default()) {
                Err(error) => assert!(is_damage(&error), "{what}: {error}"),
                Ok(journal) => {
                    for expected in &all {
                        match journal.load(&expected[0].run) {
                            Ok(records) if records.is_empty() => {
                                assert!(found, "{what}: a run is gone");
                            }
                            Ok(records) => assert_eq!(&records, expected, "{what}"),
                            Err(error) => assert!(is_damage(&error), "{what}: {error}"),
                        }
                    }
                }
            }
        }
    }
    assert!(most > 0, "no damage took any event: the test damages nothing");
}

/// Any byte of any event: the checksum finds it.
#[test]
fn a_flipped_byte_in_an_event_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    {
        let journal = open(folder.path());
        for batch in batches("r1", 1) {
            block_on(journal.append(&batch)).unwrap();
        }
    }
    let whole = fs::read(&path).unwrap();
    let event = b"\"goal\":\"goal 1\"";
    let places: Vec<usize> = whole
        .windows(event.len())
        .enumerate()
        .filter(|(_, window)| *window == event)
        .map(|(at, _)| at)
        .collect();
    assert!(!places.is_empty());
    for at in places {
        let mut db = whole.clone();
        db[at + event.len() - 2] = b'2';
        fs::write(&path, &db).unwrap();
        let found = SqliteJournal::examine(folder.path()).unwrap();
        assert!(found.findings.iter().any(|f| f.to_string().contains("checksum")), "{found:?}");
        let error = open(folder.path()).load("r1").unwrap_err();
        assert!(matches!(error, JournalError::Damaged { seq: 0, .. }), "{error}");
    }
    fs::write(&path, &whole).unwrap();
    assert!(SqliteJournal::examine(folder.path()).unwrap().findings.is_empty());
}

/// Salvaging is for the only copy there is.
#[test]
fn salvage_leaves_the_files_as_they_are() {
    let (mut db, _) = journal_of(10);
    let pages = db.len() / PAGE;
    db[(pages - 1) * PAGE..].fill(0xAA);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    fs::write(&path, &db).unwrap();
    SqliteJournal::salvage(folder.path()).unwrap();
    assert_eq!(fs::read(&path).unwrap(), db);

    // What was read goes into a new journal.
    let new = tempfile::tempdir().unwrap();
    let journal = open(new.path());
    for run in SqliteJournal::salvage(folder.path()).unwrap().runs {
        if !run.lines.is_empty() {
            assert!(block_on(journal.import(&run.lines)).unwrap());
            assert_eq!(journal.lines(&run.run).unwrap(), run.lines);
        }
    }
    let none = tempfile::tempdir().unwrap();
    assert!(SqliteJournal::salvage(none.path()).is_err(), "there is nothing to salvage");
    assert!(!none.path().join("journal.db").exists());
}
