//! Summaries, lists, ids.

use std::time::Instant;

use callgate_engine::{
    Journal, MemoryJournal,
    journal::{Filter, Inbox, JournalError, Line, RunState, SqliteJournal, Want},
};
use serde_json::json;

use crate::support::*;

fn both() -> (tempfile::TempDir, [Box<dyn Journal>; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let journals: [Box<dyn Journal>; 2] =
        [Box::new(open(folder.path())), Box::new(MemoryJournal::new())];
    (folder, journals)
}

#[test]
fn a_list_shows_what_each_run_does() {
    let (_folder, journals) = both();
    for journal in journals {
        let put = |run: &str, values: &[serde_json::Value]| {
            block_on(journal.append(&records(run, values))).unwrap();
        };
        put("run-a1", &[started("Find the Dog")]);
        put("run-a2", &[started("g"), asked("c1")]);
        put("run-b1", &[started("g"), answered("a dog it is")]);
        put("run-b2", &[started("g"), json!({"type": "callInDoubt", "call": "c1", "attempt": 1})]);
        put("run-b3", &[started("g"), json!({"type": "runPaused"})]);
        let child = json!({"type": "runStarted", "agent": {"name": "digger"}, "model": "m",
            "goal": "dig", "parent": {"run": "run-a1", "call": "c1"}});
        put("run-c1", &[child]);

        let ids = |filter: Filter| -> Vec<String> {
            let mut ids: Vec<_> =
                journal.list(&filter).unwrap().iter().map(|r| r.run.to_string()).collect();
            ids.sort();
            ids
        };
        let of = |states: &[RunState]| Filter { states: states.to_vec(), ..Filter::default() };
        let rows: Vec<(Filter, &[&str])> = vec![
            (Filter::default(), &["run-a1", "run-a2", "run-b1", "run-b2", "run-b3", "run-c1"]),
            (of(&[RunState::Running]), &["run-a1", "run-c1"]),
            (of(&[RunState::Waiting, RunState::InDoubt]), &["run-a2", "run-b2"]),
            (of(&[RunState::Paused]), &["run-b3"]),
            (of(&[RunState::Answered]), &["run-b1"]),
            (Filter { agent: Some("digger".into()), ..Filter::default() }, &["run-c1"]),
            (Filter { parent: Some("run-a1".into()), ..Filter::default() }, &["run-c1"]),
            (Filter { text: Some("DOG".into()), ..Filter::default() }, &["run-a1", "run-b1"]),
            (Filter { text: Some("100%".into()), ..Filter::default() }, &[]),
            (Filter { since: Some(1_700_000_000_001), ..Filter::default() }, &[]),
            (Filter { before: Some(1_700_000_000_000), ..Filter::default() }, &[]),
            (Filter { limit: Some(2), ..Filter::default() }, &["run-b3", "run-c1"]),
        ];
        for (filter, expected) in rows {
            assert_eq!(ids(filter.clone()), expected, "{filter:?}");
        }
        let waiting = journal.summary("run-a2").unwrap();
        assert_eq!((&*waiting.open[0].call, waiting.open[0].want), ("c1", Want::Approval));
        assert!(matches!(journal.summary("run-x"), Err(JournalError::UnknownRun { .. })));

        // What it waits for is over: one append changes all of it.
        let yes = json!({"type": "approvalDecided", "call": "c1", "binding": "b1", "decision": {"decision": "approve"}});
        block_on(journal.append(&[record("run-a2", 2, yes)])).unwrap();
        let summary = journal.summary("run-a2").unwrap();
        assert_eq!((summary.state, summary.open.len(), summary.events), (RunState::Running, 0, 3));

        assert_eq!(&*journal.find("run-a1").unwrap(), "run-a1");
        assert_eq!(&*journal.find("run-c").unwrap(), "run-c1");
        assert!(matches!(journal.find("run-d"), Err(JournalError::UnknownRun { .. })));
        match journal.find("run-b") {
            Err(JournalError::Ambiguous { candidates, .. }) => {
                assert_eq!(candidates, ["run-b3", "run-b2", "run-b1"]);
            }
            other => panic!("{other:?}"),
        }
        // The whole id of one that others begin with.
        put("run-c", &[started("g")]);
        assert_eq!(&*journal.find("run-c").unwrap(), "run-c");
    }
}

#[test]
fn a_run_that_is_driven_is_not_removed() {
    let (_folder, journals) = both();
    for journal in journals {
        let lease = journal.claim_new(&id("r1"));
        block_on(journal.append(&records("r1", &[started("g")]))).unwrap();
        assert!(matches!(block_on(journal.remove("r1")), Err(JournalError::Held { .. })));
        assert!(matches!(block_on(journal.claim("r1")), Err(JournalError::Held { .. })));
        drop(lease);
        let lease = block_on(journal.claim("r1")).unwrap();
        drop(lease);
        block_on(journal.send("r1", Inbox::Pause { by: None })).unwrap();
        block_on(journal.remove("r1")).unwrap();
        assert_eq!(journal.load("r1").unwrap(), []);
        assert_eq!(journal.inbox("r1").unwrap(), []);
        assert_eq!(journal.list(&Filter::default()).unwrap(), []);
        // The id is free again, and what was said to the one before is not said to it.
        block_on(journal.append(&records("r1", &[started("new")]))).unwrap();
        assert_eq!(journal.inbox("r1").unwrap(), []);
    }
}

#[test]
fn an_import_is_whole_or_not_at_all() {
    let (_folder, journals) = both();
    let lines: Vec<Line> = flat(&batches("r1", 2)).iter().map(|r| Line::of(r).unwrap()).collect();
    for journal in journals {
        assert!(matches!(
            block_on(journal.import(&lines[1..])),
            Err(JournalError::Conflict { .. })
        ));
        assert!(block_on(journal.import(&lines)).unwrap());
        assert!(!block_on(journal.import(&lines)).unwrap());
        assert!(matches!(
            block_on(journal.import(&lines[..2])),
            Err(JournalError::Exists { seq: 2, .. })
        ));
        let other: Vec<Line> =
            flat(&batches("r1", 3)).iter().map(|r| Line::of(r).unwrap()).collect();
        assert!(matches!(
            block_on(journal.import(&other)),
            Err(JournalError::Exists { seq: 0, .. })
        ));
        assert_eq!(journal.lines("r1").unwrap(), lines);
        assert_eq!(journal.summary("r1").unwrap().state, RunState::Answered);
    }
}

#[test]
fn a_lease_that_is_given_back_is_free_for_others() {
    let folder = tempfile::tempdir().unwrap();
    let (here, there) = (open(folder.path()), open(folder.path()));
    let over = [started("g"), answered("a")];
    let late = json!({"type": "callFinished", "call": "c", "attempt": 1});
    // What is done under the lease: nothing, the end of the run, something after it.
    let under: [&[serde_json::Value]; 3] = [&[], &over[1..], &[over[1].clone(), late]];
    for (n, values) in under.into_iter().enumerate() {
        for is_over in [false, true] {
            let run = format!("r{n}{is_over}");
            let begun = if is_over { &over[..] } else { &over[..1] };
            block_on(here.append(&records(&run, begun))).unwrap();
            block_on(here.claim(&run)).map(drop).unwrap();
            let lease = block_on(here.claim(&run)).unwrap();
            assert!(matches!(block_on(here.claim(&run)), Err(JournalError::Held { .. })));
            for (seq, value) in (begun.len() as u64..).zip(values) {
                block_on(here.append(&[record(&run, seq, value.clone())])).unwrap();
            }
            drop(lease);
            // The lease is given back without anyone waiting for it; this comes after.
            block_on(here.collect()).unwrap();
            drop(block_on(there.claim(&run)).unwrap_or_else(|e| panic!("{run}: {e}")));
            block_on(there.collect()).unwrap();
        }
    }
}

#[test]
fn many_may_make_the_journal_at_once() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let folder = folder.path();
            scope.spawn(move || {
                let journal = open(folder);
                block_on(journal.append(&records(&format!("r{n}"), &[started("g")]))).unwrap();
            });
        }
    });
    assert_eq!(open(folder.path()).list(&Filter::default()).unwrap().len(), 8);
}

/// An event of a later version is no event here, but it is kept, exported and imported.
#[test]
fn events_of_later_versions_pass_through() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(folder.path());
    let first = Line::of(&record("r1", 0, started("g"))).unwrap();
    let later = r#"{"run":"r1","seq":1,"at":5,"type":"moonRose","phase":1.50,"z":{"a" : 1}}"#;
    let lines = [first, Line::parse(later).unwrap()];
    assert!(block_on(journal.import(&lines)).unwrap());
    assert_eq!(journal.lines("r1").unwrap(), lines);
    assert_eq!(journal.lines("r1").unwrap()[1].text(), later);
    let error = journal.load("r1").unwrap_err();
    assert!(
        matches!(&error, JournalError::UnknownEvent { seq: 1, kind, .. } if kind == "moonRose"),
        "{error}"
    );
}

/// Quick enough to be typed: the bound is for a slow machine, the index is what it tests.
#[test]
fn a_hundred_thousand_runs_are_listed_by_index() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(folder.path());
    let n = 100_000_u32;
    {
        let mut sql = rusqlite::Connection::open(journal.path()).unwrap();
        let transaction = sql.transaction().unwrap();
        let mut put = transaction
            .prepare("INSERT INTO run VALUES (NULL, ?, ?, 'm', 'a goal', ?, NULL, 0, ?, ?, 3, 1, 1, 15, NULL, 'note', NULL, \
                 '[\"t\"]', NULL)")
            .unwrap();
        for i in 0..n {
            let state = if i % 1000 == 0 { "waiting" } else { "answered" };
            let agent = format!("agent{}", i % 500);
            put.execute(rusqlite::params![format!("run-{i:06}"), agent, state, i, i]).unwrap();
        }
        drop(put);
        transaction.commit().unwrap();
    }
    let filters = [
        Filter { limit: Some(50), ..Filter::default() },
        Filter { states: vec![RunState::Waiting], limit: Some(50), ..Filter::default() },
        Filter { agent: Some("agent7".into()), limit: Some(50), ..Filter::default() },
        Filter { since: Some(99_000), limit: Some(50), ..Filter::default() },
        Filter { before: Some(500), limit: Some(50), ..Filter::default() },
    ];
    let whole = Instant::now();
    assert_eq!(journal.list(&Filter::default()).unwrap().len(), n as usize);
    let whole = whole.elapsed();
    let part = Instant::now();
    for filter in &filters {
        assert_eq!(journal.list(filter).unwrap().len(), 50, "{filter:?}");
    }
    assert_eq!(
        journal.find("run-09999").unwrap_err().to_string().split_once(':').unwrap().0,
        "several runs begin with run-09999"
    );
    let part = part.elapsed();
    // In the same breath, so that a busy machine is slow at both: six questions by index take a
    // small part of what reading all does.
    assert!(part < whole / 3, "six short lists took {part:?}, the whole one {whole:?}");
    let none = Filter { text: Some("no such thing".into()), ..Filter::default() };
    assert_eq!(journal.list(&none).unwrap(), []);
}

/// Of a journal of the version before lists knew tools, the old runs are found as well.
#[test]
fn runs_are_found_by_tool_and_by_fault() {
    let folder = tempfile::tempdir().unwrap();
    let gated = |name: &str, tool: Option<&str>, kind: Option<&str>| {
        let verdict = match kind {
            Some(kind) => json!({"verdict": "refused", "fault": {"kind": kind, "message": "no",
                "retryable": true, "executed": false}}),
            None => json!({"verdict": "admitted", "arguments": "{}", "tier": "auto"}),
        };
        json!({"type": "callGated", "call": name, "name": name, "tool": tool, "raw": "{}",
            "verdict": verdict})
    };
    let failed = json!({"type": "callFinished", "call": "c1", "attempt": 1, "failure": {
        "kind": "timeout", "message": "late", "executed": "unknown", "retryable": false}});
    let runs = [
        ("r1", vec![started("g"), gated("getTicket", Some("get_ticket"), None), failed]),
        ("r2", vec![started("g"), gated("get_ticket", None, Some("schema_mismatch"))]),
        ("r3", vec![started("g"), gated("get_ticket_2", None, None)]),
    ];
    let check = |journal: &SqliteJournal, when: &str| {
        let find = |tool: Option<&str>, fault: Option<&str>| -> Vec<String> {
            let (tool, fault) = (tool.map(str::to_owned), fault.map(str::to_owned));
            let filter = Filter { tool, fault, ..Filter::default() };
            let mut found: Vec<_> =
                journal.list(&filter).unwrap().iter().map(|run| run.run.to_string()).collect();
            found.sort();
            found
        };
        assert_eq!(find(Some("get_ticket"), None), ["r1", "r2"], "{when}");
        assert_eq!(find(None, Some("schema_mismatch")), ["r2"], "{when}");
        assert_eq!(find(None, Some("timeout")), ["r1"], "{when}");
        assert_eq!(find(Some("get_ticket"), Some("timeout")), ["r1"], "{when}");
        assert_eq!(find(Some("ticket"), None), [""; 0], "{when}");
        assert_eq!(journal.summary("r3").unwrap().tools, ["get_ticket_2"], "{when}");
    };
    {
        let journal = open(folder.path());
        for (run, values) in &runs {
            block_on(journal.append(&records(run, values))).unwrap();
        }
        check(&journal, "as it was written");
    }
    let path = folder.path().join("journal.db");
    let file = rusqlite::Connection::open(&path).unwrap();
    file.execute_batch(
        "ALTER TABLE run DROP COLUMN tools; ALTER TABLE run DROP COLUMN faults; PRAGMA user_version = 1",
    )
    .unwrap();
    drop(file);
    check(&open(folder.path()), "migrated");
}
