//! Messages: kept until they are settled, and the first word counts.

use std::{sync::Arc, time::Duration};

use callgate_engine::{
    Journal, MemoryJournal,
    journal::{Inbox, JournalError, RunState, Sent},
};
use callgate_machine::event::{Decision, Resolution};
use serde_json::json;

use crate::support::*;

fn says(call: &str, binding: &str, decision: Decision, by: &str) -> Inbox {
    Inbox::Decision { call: call.into(), binding: binding.into(), decision, by: Some(by.into()) }
}

#[test]
fn the_first_word_counts() {
    let folder = tempfile::tempdir().unwrap();
    let journals: [Box<dyn Journal>; 2] =
        [Box::new(open(folder.path())), Box::new(MemoryJournal::new())];
    for journal in journals {
        let send = |message: Inbox| block_on(journal.send("r1", message));
        assert!(matches!(send(Inbox::Cancel { by: None }), Err(JournalError::UnknownRun { .. })));
        block_on(journal.append(&records("r1", &[started("g"), asked("c1")]))).unwrap();

        let yes = says("c1", "b1", Decision::Approve, "ann");
        let no = says("c1", "b1", Decision::Reject { reason: None }, "bob");
        let Sent::Kept(first) = send(yes.clone()).unwrap() else { panic!() };
        let Sent::Already(before) = send(no.clone()).unwrap() else { panic!() };
        assert_eq!((before.id, &before.body), (first, &yes));
        assert_eq!(before.body.by().map(|by| &**by), Some("ann"));
        // Of another binding, of another call: another question.
        assert!(matches!(send(says("c1", "b2", Decision::Approve, "bob")), Ok(Sent::Kept(_))));
        assert!(matches!(send(says("c2", "b1", Decision::Approve, "bob")), Ok(Sent::Kept(_))));
        let doubt = |attempt| Inbox::Doubt {
            call: "c1".into(),
            attempt,
            resolution: Resolution::Redo,
            by: None,
        };
        assert!(matches!(send(doubt(1)), Ok(Sent::Kept(_))));
        assert!(matches!(send(doubt(1)), Ok(Sent::Already(_))));
        assert!(matches!(send(doubt(2)), Ok(Sent::Kept(_))));
        for _ in 0..2 {
            assert!(matches!(send(Inbox::Pause { by: None }), Ok(Sent::Kept(_))));
        }

        let all = journal.inbox("r1").unwrap();
        assert_eq!(all.len(), 7);
        assert!(all.windows(2).all(|w| w[0].id < w[1].id));
        assert_eq!(journal.inbox("r1").unwrap(), all, "kept until settled");
        let decided = json!({"type": "approvalDecided", "call": "c1", "binding": "b1", "decision": {"decision": "approve"}});
        // Not settled by an append that does not happen.
        let late = [record("r1", 9, decided.clone())];
        assert!(block_on(journal.append_settling(&late, &[first])).is_err());
        assert_eq!(journal.inbox("r1").unwrap().len(), 7);
        block_on(journal.append_settling(&[record("r1", 2, decided)], &[first])).unwrap();
        assert_eq!(journal.inbox("r1").unwrap(), all[1..]);
        block_on(journal.settle("r1", &[all[1].id, all[2].id])).unwrap();
        assert_eq!(journal.inbox("r1").unwrap(), all[3..]);
        // Settled is not forgotten.
        assert!(matches!(send(no), Ok(Sent::Already(_))));

        block_on(journal.append(&[record("r1", 3, answered("done"))])).unwrap();
        let over = send(Inbox::Cancel { by: None });
        assert!(
            matches!(over, Err(JournalError::Over { state: RunState::Answered, .. })),
            "{over:?}"
        );
        assert!(matches!(send(yes), Ok(Sent::Already(_))), "who was late learns who was first");
    }
}

#[test]
fn whoever_waits_is_woken() {
    let folder = tempfile::tempdir().unwrap();
    let here: Arc<dyn Journal> = Arc::new(open(folder.path()));
    let memory: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    // Another connection stands for another process: it shares nothing but the files.
    let there: Arc<dyn Journal> = Arc::new(open(folder.path()));
    let pairs = [(here.clone(), here.clone()), (here.clone(), there), (memory.clone(), memory)];
    for (n, (waits, sends)) in pairs.into_iter().enumerate() {
        let run = format!("r{n}");
        block_on(waits.append(&records(&run, &[started("g")]))).unwrap();
        block_on(async {
            let (first, second) = (waits.watch(&run).unwrap(), waits.watch(&run).unwrap());
            let other = waits.watch("elsewhere").unwrap();
            assert_eq!(waits.inbox(&run).unwrap(), []);
            sends.send(&run, Inbox::Pause { by: None }).await.unwrap();
            for watch in [first, second] {
                tokio::time::timeout(Duration::from_secs(60), watch.changed()).await.unwrap();
            }
            assert_eq!(waits.inbox(&run).unwrap().len(), 1);
            let early = tokio::time::timeout(Duration::from_millis(300), other.changed()).await;
            assert!(early.is_err(), "not its message");
        });
    }
}
