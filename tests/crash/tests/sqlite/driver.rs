//! The process that drives the run.

use std::{env, path::PathBuf, sync::Arc};

use callgate::Project;
use callgate_crash::{APPROVED, project};
use callgate_engine::{Approver, Journal, Options, Outcome, SqliteJournal, Word, WordFuture};
use callgate_machine::Question;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::dying::Dying;

/// What the driver ends with where the run waits for a word from elsewhere.
pub(crate) const WAITS: i32 = 7;

/// Says yes to the refund and nothing to the coupon, whose question lapses.
struct Person;

impl Approver for Person {
    fn ask(&self, question: Question) -> WordFuture<'_> {
        if &*question.tool == APPROVED {
            return Box::pin(std::future::ready(Word::approve("ann")));
        }
        Box::pin(std::future::pending())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "the process that is killed; the tests start it"]
async fn drive_one() {
    let Some(folder) = env::var_os("CALLGATE_CRASH_FOLDER").map(PathBuf::from) else { return };
    let run = env::var("CALLGATE_CRASH_RUN").unwrap();
    let at = env::var("CALLGATE_CRASH_AT").ok().map(|at| at.parse().unwrap());
    let inner = SqliteJournal::open(folder.join(".callgate"), Options::default()).unwrap();
    let journal: Arc<dyn Journal> = Arc::new(Dying { inner, at });
    let agent = Project::open(&folder).unwrap().agent();
    let agent = agent.model(project::MODEL).journal(journal.clone()).approver(Arc::new(Person));
    let engine = agent.stream(false).keep_wire(true).build().unwrap().engine();
    let outcome = if journal.load(&run).unwrap().is_empty() {
        let mut session = engine.session_as(run.as_str(), None, CancellationToken::new());
        session.start(engine.start(&project::goal(&run), Value::Null)).await.unwrap()
    } else {
        let mut session = engine.open(&run, None, CancellationToken::new()).await.unwrap();
        if session.run().is_over() {
            return;
        }
        session.resume(None).await.unwrap()
    };
    if let Outcome::Parked(parked) = outcome {
        eprintln!("{run} waits for {}", parked.told());
        std::process::exit(WAITS);
    }
}
