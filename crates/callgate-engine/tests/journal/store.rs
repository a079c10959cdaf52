//! Events go in and come out; what does not fit changes nothing.

use std::sync::Arc;

use callgate_engine::{
    Journal, MemoryJournal,
    journal::{JournalError, Line, Options, SqliteJournal},
};
use callgate_machine::Record;
use proptest::prelude::*;
use serde_json::json;

use crate::support::*;

#[test]
fn events_come_back_as_they_went_in() {
    let folder = tempfile::tempdir().unwrap();
    let batches = batches("r1", 3);
    {
        let journal = open(folder.path());
        for batch in &batches {
            block_on(journal.append(batch)).unwrap();
        }
        assert_eq!(journal.load("r1").unwrap(), flat(&batches));
    }
    let again = open(folder.path());
    assert_eq!(again.load("r1").unwrap(), flat(&batches));
    assert_eq!(again.load("r2").unwrap(), []);
    // The text is serde's, so that a file of it is what any reader of records expects.
    for (line, record) in again.lines("r1").unwrap().iter().zip(flat(&batches)) {
        assert_eq!(line.text(), serde_json::to_string(&record).unwrap());
        assert_eq!(line.record().unwrap(), record);
        assert_eq!(Line::parse(line.text()).as_ref(), Ok(line));
    }
}

#[test]
fn a_position_is_taken_once() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, other) = (open(folder.path()), open(folder.path()));
    let all = flat(&batches("r1", 0));
    block_on(journal.append(&all[..2])).unwrap();
    // journal, what, whether it is the next
    let rows: &[(&SqliteJournal, &[Record], bool)] = &[
        (&journal, &all[..2], false),
        (&journal, &all[1..3], false),
        (&journal, &all[3..4], false),
        (&other, &all[..1], false),
        (&other, &all[2..4], true),
        // What the first one remembers is out of date, and it notices.
        (&journal, &all[2..4], false),
        (&journal, &all[4..5], true),
        (&other, &all[4..5], false),
    ];
    for (journal, records, fits) in rows {
        match block_on(journal.append(records)) {
            Ok(()) => assert!(fits, "{records:?}"),
            Err(JournalError::Conflict { run, .. }) => assert!(!fits && &*run == "r1"),
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(journal.load("r1").unwrap(), all[..5]);
    assert_eq!(journal.summary("r1").unwrap().events, 5);
}

#[test]
fn an_append_is_all_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let journals: [Box<dyn Journal>; 2] =
        [Box::new(open(folder.path())), Box::new(MemoryJournal::new())];
    for journal in journals {
        let all = flat(&batches("r1", 0));
        let gap = [all[0].clone(), all[2].clone()];
        assert!(matches!(
            block_on(journal.append(&gap)),
            Err(JournalError::Conflict { seq: 2, .. })
        ));
        let mixed = [all[0].clone(), record("r2", 1, started("x"))];
        assert!(matches!(block_on(journal.append(&mixed)), Err(JournalError::Mixed { .. })));
        assert_eq!(journal.load("r1").unwrap(), []);
        block_on(journal.append(&[])).unwrap();
    }
}

#[test]
fn a_full_journal_says_so_and_keeps_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::default();
    options.max_bytes = Some(200 << 10);
    let journal = SqliteJournal::open(folder.path(), options).unwrap();
    let big = "x".repeat(20 << 10);
    let mut kept = vec![record("r1", 0, started("g"))];
    block_on(journal.append(&kept)).unwrap();
    let error = loop {
        let next = record("r1", kept.len() as u64, json!({"type": "userSaid", "text": big}));
        match block_on(journal.append(std::slice::from_ref(&next))) {
            Ok(()) => kept.push(next),
            Err(error) => break error,
        }
        assert!(kept.len() < 100);
    };
    assert!(matches!(error, JournalError::Full { .. }), "{error}");
    assert_eq!(journal.load("r1").unwrap(), kept);
    drop(journal);
    // With room it goes on where it was.
    let journal = open(folder.path());
    let next = record("r1", kept.len() as u64, json!({"type": "userSaid", "text": big}));
    block_on(journal.append(std::slice::from_ref(&next))).unwrap();
    kept.push(next);
    assert_eq!(journal.load("r1").unwrap(), kept);
}

#[test]
fn other_files_are_refused_with_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    drop(open(folder.path()));
    let set = |sql: &str| rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    let refusal = || SqliteJournal::open(folder.path(), Options::default()).unwrap_err();
    set("PRAGMA user_version = 99");
    let error = refusal();
    assert!(matches!(error, JournalError::Newer { found: 99, known: 2, .. }), "{error}");
    assert!(error.to_string().contains("later version"), "{error}");
    std::fs::remove_file(&path).unwrap();
    set("CREATE TABLE theirs(a)");
    assert!(matches!(refusal(), JournalError::Foreign { .. }));
    std::fs::write(&path, "not a database at all, though it is long enough to be one".repeat(99))
        .unwrap();
    assert!(matches!(refusal(), JournalError::Corrupt { .. }));
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert!(matches!(refusal(), JournalError::Sqlite { .. }));
}

#[test]
fn another_programs_lock_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::default();
    options.busy = std::time::Duration::from_millis(50);
    let journal = SqliteJournal::open(folder.path(), options).unwrap();
    let other = rusqlite::Connection::open(journal.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let first = [record("r1", 0, started("g"))];
    let error = block_on(journal.append(&first)).unwrap_err();
    assert!(matches!(error, JournalError::Busy { .. }), "{error}");
    other.execute_batch("COMMIT").unwrap();
    block_on(journal.append(&first)).unwrap();
    assert_eq!(journal.load("r1").unwrap(), first);
}

#[test]
fn events_can_be_asked_for_in_sql() {
    let folder = tempfile::tempdir().unwrap();
    let all = flat(&batches("r1", 1));
    {
        let journal = open(folder.path());
        for batch in batches("r1", 1) {
            block_on(journal.append(&batch)).unwrap();
        }
    }
    let sql = rusqlite::Connection::open(folder.path().join("journal.db")).unwrap();
    let mut ask = sql.prepare("SELECT run, seq, at, type FROM event ORDER BY seq").unwrap();
    let rows = ask.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)));
    let rows: Vec<(String, i64, i64, String)> = rows.unwrap().map(Result::unwrap).collect();
    assert_eq!(rows.len(), all.len());
    for (record, (run, seq, at, kind)) in all.iter().zip(rows) {
        assert_eq!((&*record.run, record.seq as i64, record.at as i64), (&*run, seq, at));
        assert_eq!(serde_json::to_value(&record.event).unwrap()["type"], kind);
    }
}

#[test]
fn documents_are_kept_by_their_hash() {
    let folder = tempfile::tempdir().unwrap();
    let journals: [Box<dyn Journal>; 2] =
        [Box::new(open(folder.path())), Box::new(MemoryJournal::new())];
    for journal in journals {
        let hash = block_on(journal.keep("{\"a\": 1}")).unwrap();
        assert_eq!(block_on(journal.keep("{\"a\": 1}")).unwrap(), hash);
        let text: Arc<str> = "[]".into();
        let other = block_on(MemoryJournal::new().keep(&text)).unwrap();
        block_on(journal.keep_hashed(&text, &other)).unwrap();
        assert_eq!(block_on(journal.keep("[]")).unwrap(), other);
        assert_eq!(journal.kept(&other).unwrap(), Some(text));
        assert_eq!(journal.kept(&hash).unwrap().as_deref(), Some("{\"a\": 1}"));
        assert_eq!(journal.kept("00").unwrap(), None);
    }
}

#[test]
fn large_texts_are_kept_beside_and_go_with_their_last_run() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(folder.path());
    let files = || {
        let blobs = folder.path().join("blobs");
        let folders = std::fs::read_dir(blobs).into_iter().flatten().flatten();
        folders.flat_map(|f| std::fs::read_dir(f.path()).unwrap()).count()
    };
    let big = "größe \" \\ \n".repeat(40 << 10);
    let finished =
        json!({"type": "callFinished", "call": "c1", "attempt": 1, "raw": big, "used": "s"});
    let run = |id: &str| records(id, &[started("g"), finished.clone(), answered("ok")]);
    for id in ["r1", "r2"] {
        block_on(journal.append(&run(id))).unwrap();
        assert_eq!(journal.load(id).unwrap(), run(id));
        assert_eq!(journal.summary(id).unwrap().note.as_deref(), Some("ok"));
    }
    assert_eq!(files(), 1);
    let size = std::fs::metadata(journal.path()).unwrap().len();
    assert!(size < big.len() as u64, "{size}");

    // Its goal is large: a list still shows the head of it.
    let goal = "g".repeat(300 << 10);
    block_on(journal.append(&records("r3", &[started(&goal), answered("ok")]))).unwrap();
    assert!(journal.summary("r3").unwrap().goal.starts_with("ggg"));
    assert_eq!(files(), 2);

    block_on(journal.remove("r3")).unwrap();
    block_on(journal.remove("r1")).unwrap();
    assert_eq!(journal.load("r2").unwrap(), run("r2"));
    // A sweep takes what nobody refers to, and no more.
    let stray = folder.path().join("blobs/ab").join("c".repeat(62));
    std::fs::create_dir_all(stray.parent().unwrap()).unwrap();
    std::fs::write(&stray, "x").unwrap();
    block_on(journal.collect()).unwrap();
    // The files go after the answer came; the next command waits for it.
    block_on(journal.settle("r2", &[7])).unwrap();
    assert_eq!(files(), 1);
    assert!(!stray.exists());

    let blob = std::fs::read_dir(folder.path().join("blobs"))
        .unwrap()
        .flatten()
        .find_map(|f| std::fs::read_dir(f.path()).unwrap().flatten().next())
        .unwrap()
        .path();
    let content = std::fs::read(&blob).unwrap();
    std::fs::write(&blob, [&content[..9], b"?", &content[10..]].concat()).unwrap();
    assert!(
        matches!(journal.load("r2"), Err(JournalError::BlobDamaged { path, .. }) if path == blob)
    );
    std::fs::remove_file(&blob).unwrap();
    let error = journal.load("r2").unwrap_err();
    assert!(
        matches!(&error, JournalError::BlobMissing { run, seq: 0, path } if &**run == "r2" && *path == blob),
        "{error}"
    );
    let salvage = SqliteJournal::salvage(folder.path()).unwrap();
    assert!(matches!(salvage.runs[0].lost, Some(JournalError::BlobMissing { .. })));
    block_on(journal.remove("r2")).unwrap();
    assert!(matches!(block_on(journal.remove("r2")), Err(JournalError::UnknownRun { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Whatever is in texts, whatever is a blob, however it is split into appends.
    #[test]
    fn any_run_comes_back(
        texts in proptest::collection::vec("\\PC{0,40}|[\"\\\\/\n\u{0}\u{7f}]{0,9}", 1..20),
        cuts in proptest::collection::vec(1usize..5, 1..20),
        limit in 1usize..60,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut options = Options::default();
        options.blob_bytes = limit;
        let journal = SqliteJournal::open(folder.path(), options).unwrap();
        let said = texts.iter().map(|text| json!({"type": "userSaid", "text": text}));
        let values: Vec<_> = std::iter::once(started(&texts[0])).chain(said).collect();
        let run = format!("run {}", texts[0]);
        let all = records(&run, &values);
        let mut rest = &all[..];
        for cut in cuts.iter().cycle() {
            let (now, later) = rest.split_at((*cut).min(rest.len()));
            block_on(journal.append(now)).unwrap();
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(journal.load(&run).unwrap(), all.clone());
        let lines = journal.lines(&run).unwrap();
        let expected: Vec<_> = all.iter().map(|r| serde_json::to_string(r).unwrap()).collect();
        prop_assert_eq!(lines.iter().map(|l| l.text().to_owned()).collect::<Vec<_>>(), expected);

        let elsewhere = tempfile::tempdir().unwrap();
        let other = SqliteJournal::open(elsewhere.path(), options).unwrap();
        prop_assert!(block_on(other.import(&lines)).unwrap());
        prop_assert!(!block_on(other.import(&lines)).unwrap());
        prop_assert_eq!(other.load(&run).unwrap(), all.clone());
        prop_assert_eq!(other.summary(&run).unwrap(), journal.summary(&run).unwrap());
        let shorter = block_on(other.import(&lines[..lines.len() - 1]));
        let differs = match shorter {
            Err(JournalError::Exists { seq, .. }) => Some(seq),
            _ => None,
        };
        prop_assert_eq!(differs, Some(all.len() as u64 - 1));
        let found = SqliteJournal::examine(folder.path()).unwrap();
        prop_assert!(found.findings.is_empty());
        prop_assert_eq!(found.events, all.len() as u64);
    }
}
