//! One commit for many, and each on its own.

use std::sync::Arc;

use callgate_engine::{Journal, journal::JournalError};
use tokio::task::JoinSet;

use crate::support::*;

#[test]
fn sixty_four_tasks_share_commits() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Arc::new(open(folder.path()));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let mut tasks = JoinSet::new();
        for task in 0..64_u64 {
            let journal = journal.clone();
            tasks.spawn(async move {
                for n in 0..4 {
                    let run = format!("r{task}-{n}");
                    for batch in batches(&run, task) {
                        journal.append(&batch).await.unwrap();
                    }
                    // One that does not fit does not take its neighbours with it.
                    let again = journal.append(&batches(&run, task)[0]).await;
                    assert!(matches!(again, Err(JournalError::Conflict { .. })));
                }
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
    });
    for task in 0..64_u64 {
        for n in 0..4 {
            let run = format!("r{task}-{n}");
            assert_eq!(journal.load(&run).unwrap(), flat(&batches(&run, task)));
        }
    }
    let stats = journal.stats();
    assert_eq!(stats.appends, 64 * 4 * 5);
    assert!(stats.commits < stats.appends / 2, "{stats:?}");
    assert!(stats.largest > 1, "{stats:?}");
}

#[test]
fn a_journal_that_is_dropped_has_written_what_it_took() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(folder.path());
    let all = batches("r1", 0);
    // Begun, and not waited for.
    block_on(async {
        let pending = journal.append(&all[0]);
        tokio::select! {
            biased;
            _ = pending => {}
            () = std::future::ready(()) => {}
        }
    });
    drop(journal);
    let again = open(folder.path());
    assert_eq!(again.load("r1").unwrap(), all[0]);
}
