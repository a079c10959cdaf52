//! Power cuts, modelled on copies of the files: what the disk has may end anywhere after the last
//! sync, and what was not synced may be there in parts. What is opened again is a prefix of every
//! run's events, with all that was acknowledged.

use std::{fs, path::Path};

use callgate_engine::{
    Journal,
    journal::{Options, SqliteJournal},
};
use callgate_machine::Record;

use crate::support::*;

/// Pages of the log: its header, then frames of a header and a page.
const WAL_HEADER: usize = 32;
const FRAME: usize = 24 + 4096;

/// The files as they were after an append was acknowledged.
struct Ack {
    run: usize,
    /// Events of the run that are safe.
    events: usize,
    /// Bytes of the log then.
    wal: usize,
}

struct Past {
    runs: Vec<Vec<Record>>,
    acks: Vec<Ack>,
    db: Vec<u8>,
    wal: Vec<u8>,
}

fn wal_of(folder: &Path) -> Vec<u8> {
    fs::read(folder.join("journal.db-wal")).unwrap_or_default()
}

fn db_of(folder: &Path) -> Vec<u8> {
    fs::read(folder.join("journal.db")).unwrap()
}

/// Runs side by side, each append acknowledged before the next; the files as they are then, with
/// everything in the log.
fn written(runs: u64) -> Past {
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::default();
    options.checkpoint_pages = 1 << 20;
    let journal = SqliteJournal::open(folder.path(), options).unwrap();
    let all: Vec<_> = (0..runs).map(|n| batches(&format!("r{n}"), n)).collect();
    let mut acks = Vec::new();
    let mut events = vec![0; all.len()];
    for step in 0..all[0].len() {
        for (run, batches) in all.iter().enumerate() {
            block_on(journal.append(&batches[step])).unwrap();
            events[run] += batches[step].len();
            acks.push(Ack { run, events: events[run], wal: wal_of(folder.path()).len() });
        }
    }
    let runs = all.iter().map(|batches| flat(batches)).collect();
    Past { runs, acks, db: db_of(folder.path()), wal: wal_of(folder.path()) }
}

impl Past {
    /// Opens files as a disk might have them, of which `synced` bytes of the log are sure.
    fn check(&self, db: &[u8], wal: &[u8], synced: usize, what: &str) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("journal.db"), db).unwrap();
        fs::write(folder.path().join("journal.db-wal"), wal).unwrap();
        let journal = SqliteJournal::open(folder.path(), Options::default())
            .unwrap_or_else(|e| panic!("{what}: {e}"));
        for (run, expected) in self.runs.iter().enumerate() {
            let safe = self.acks.iter().filter(|ack| ack.run == run && ack.wal <= synced);
            let safe = safe.map(|ack| ack.events).max().unwrap_or(0);
            let id = format!("r{run}");
            let kept = journal.load(&id).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_eq!(kept, expected[..kept.len()], "{what}: not a prefix");
            assert!(kept.len() >= safe, "{what}: {id} has {} of {safe} events", kept.len());
            let listed = journal.summary(&id).map_or(0, |summary| summary.events);
            assert_eq!(listed, kept.len() as u64, "{what}");
            // And it goes on from there.
            if let Some(next) = expected.get(kept.len()) {
                block_on(journal.append(std::slice::from_ref(next))).unwrap();
            }
        }
    }
}

#[test]
fn a_log_cut_at_any_frame_is_a_prefix() {
    let past = written(3);
    assert!(past.wal.len() > WAL_HEADER + 20 * FRAME, "the log is what is cut");
    let frames = (past.wal.len() - WAL_HEADER) / FRAME;
    for frame in 0..=frames {
        let cut = WAL_HEADER + frame * FRAME;
        past.check(
            &past.db,
            &past.wal[..cut],
            cut,
            &format!("cut after frame {frame} of {frames}"),
        );
    }
}

#[test]
fn a_log_cut_at_any_byte_is_a_prefix() {
    let past = written(3);
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..60 {
        let cut = random.usize(0..past.wal.len());
        past.check(&past.db, &past.wal[..cut], cut, &format!("cut at byte {cut}"));
    }
}

/// What comes after the last sync may have reached the disk in any order, by sectors, or be
/// something else.
#[test]
fn what_was_not_synced_may_be_anything() {
    let past = written(3);
    let mut random = fastrand::Rng::with_seed(11);
    for round in 0..60 {
        let synced = past.acks[random.usize(0..past.acks.len())].wal;
        let mut wal = past.wal.clone();
        for sector in wal[synced..].chunks_mut(512) {
            match random.u8(0..4) {
                0 => sector.fill(0),
                1 => sector.iter_mut().for_each(|byte| *byte = random.u8(..)),
                _ => {}
            }
        }
        let end = random.usize(synced..=wal.len());
        past.check(
            &past.db,
            &wal[..end],
            synced,
            &format!("round {round}, synced {synced}, end {end}"),
        );
    }
}

/// While pages are moved from the log into the file, the file may have any of them, in part, too;
/// the log still has them all.
#[test]
fn a_checkpoint_cut_anywhere_loses_nothing() {
    let past = written(3);
    let after = {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("journal.db"), &past.db).unwrap();
        fs::write(folder.path().join("journal.db-wal"), &past.wal).unwrap();
        // Closing it moves everything.
        drop(open(folder.path()));
        db_of(folder.path())
    };
    assert!(after.len() > past.db.len());
    let mut random = fastrand::Rng::with_seed(13);
    for round in 0..40 {
        let mut db = past.db.clone();
        if random.bool() {
            db.resize(random.usize(db.len()..=after.len()) / 4096 * 4096, 0);
        }
        for at in (0..db.len()).step_by(512) {
            if random.bool() {
                let end = (at + 512).min(db.len());
                db[at..end].copy_from_slice(&after[at..end]);
            }
        }
        past.check(&db, &past.wal, past.wal.len(), &format!("round {round}"));
    }
    // Afterwards, without the log.
    past.check(&after, &[], past.wal.len(), "after the checkpoint");
}

/// The same with a log that has been begun anew over an old one: what is left of the old one
/// behind the new end is not taken for new.
#[test]
fn an_old_log_behind_a_new_one_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::default();
    options.checkpoint_pages = 20;
    let journal = SqliteJournal::open(folder.path(), options).unwrap();
    let all: Vec<_> = (0..40).map(|n| batches(&format!("r{n}"), n)).collect();
    let mut events = vec![0; all.len()];
    let mut sizes = Vec::new();
    let mut snapshots = Vec::new();
    for step in 0..all[0].len() {
        for (run, batches) in all.iter().enumerate() {
            block_on(journal.append(&batches[step])).unwrap();
            events[run] += batches[step].len();
            sizes.push(wal_of(folder.path()).len());
            if run % 13 == 0 {
                snapshots.push((db_of(folder.path()), wal_of(folder.path()), events.clone()));
            }
        }
    }
    assert!(sizes.iter().max() < Some(&(WAL_HEADER + 60 * FRAME)), "the log was begun anew");
    for (db, wal, events) in snapshots {
        let copy = tempfile::tempdir().unwrap();
        fs::write(copy.path().join("journal.db"), db).unwrap();
        fs::write(copy.path().join("journal.db-wal"), wal).unwrap();
        let journal = open(copy.path());
        for (run, batches) in all.iter().enumerate() {
            assert_eq!(journal.load(&format!("r{run}")).unwrap(), flat(batches)[..events[run]]);
        }
    }
}
