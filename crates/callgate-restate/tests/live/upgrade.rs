//! A new build while runs of an old one are under way, and two workers of one build.

use std::sync::Arc;

use callgate_machine::Status;
use callgate_restate::{Admin, Client, Phase, RunStatus, Said};

use crate::{
    runs::Stack,
    support::{
        agent::{self, Tools},
        within,
    },
};

#[tokio::test(flavor = "multi_thread")]
async fn runs_end_where_they_began() {
    let script = |answer: &str| {
        format!(
            r#"{{ "replies": [ {{ "calls": [ {{ "id": "c1", "name": "ask" }} ] }}, {{ "text": "{answer}" }} ] }}"#
        )
    };
    let Some(stack) = Stack::start().await else { return };
    let (old, new) = (Tools::new(), Tools::new());
    let old_worker = stack.worker(agent::engine(&script("From the old."), &old)).build("old");
    let _old = stack.serve(old_worker).await;
    let waits = |s: &RunStatus| s.phase == Phase::Waiting;
    let first = Client::new_id();
    stack.submit(&first).await;
    stack.status(&first, "the old run's question", waits).await;

    let new_worker = stack.worker(agent::engine(&script("From the new."), &new)).build("new");
    let _new = stack.serve(new_worker).await;
    let second = Client::new_id();
    stack.submit(&second).await;
    stack.status(&second, "the new run's question", waits).await;
    for run in [&first, &second] {
        let yes = callgate_machine::event::Decision::Approve;
        assert_eq!(stack.client.decide(run, "c1", None, yes, None).await.unwrap(), Said::Taken);
    }
    let first = within("the old run", stack.client.attach(&first)).await.unwrap();
    let second = within("the new run", stack.client.attach(&second)).await.unwrap();
    assert_eq!(first.text.as_deref(), Some("From the old."));
    assert_eq!(second.text.as_deref(), Some("From the new."));
    // Each had its tools called by its own build.
    assert_eq!((old.calls("ask").len(), new.calls("ask").len()), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_build_at_the_same_address_waits_instead_of_replaying() {
    let script =
        r#"{ "replies": [ { "calls": [ { "id": "c1", "name": "ask" } ] }, { "text": "Mine." } ] }"#;
    let Some(stack) = Stack::start().await else { return };
    let (mine, other) = (Tools::new(), Tools::new());
    let serving = stack.serve(stack.worker(agent::engine(script, &mine)).build("mine")).await;
    let (addr, run) = (serving.addr(), Client::new_id());
    stack.submit(&run).await;
    stack.status(&run, "the question", |s| s.phase == Phase::Waiting).await;
    drop(serving);
    let wrong = || stack.worker(agent::engine(script, &other)).build("other");
    let wrong = stack.serve_at(addr, wrong).await;
    // The word is kept once a worker of the build that is registered is there to take it.
    let client = stack.client.clone();
    let (of, yes) = (run.clone(), callgate_machine::event::Decision::Approve);
    let word = tokio::spawn(async move { client.decide(&of, "c1", None, yes, None).await });
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    assert!(!word.is_finished());
    drop(wrong);
    let right = || stack.worker(agent::engine(script, &mine)).build("mine");
    let _right = stack.serve_at(addr, right).await;
    assert_eq!(within("the word", word).await.unwrap().unwrap(), Said::Taken);
    let finish = within("the end", stack.client.attach(&run)).await.unwrap();
    assert_eq!(finish.status, Status::Answered);
    assert_eq!((mine.calls("ask").len(), other.calls("ask").len()), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_hop_is_stopped_by_a_word_that_another_worker_took() {
    let script = r#"{ "replies": [ { "text": "too late", "delayMs": 600000 } ] }"#;
    let Some(stack) = Stack::start().await else { return };
    let mut asks =
        stack.serve(stack.worker(agent::engine(script, &Tools::new())).build("one")).await;
    asks.watch(Arc::new(Admin::new(&stack.restate.admin()).unwrap()));
    let run = Client::new_id();
    stack.submit(&run).await;
    stack.status(&run, "the model hop", |s| s.hop == 1).await;
    // The newest worker takes words from now on.
    let _takes = stack.serve(stack.worker(agent::engine(script, &Tools::new())).build("two")).await;
    assert_eq!(stack.client.cancel(&run, None).await.unwrap(), Said::Taken);
    let finish = within("the end", stack.client.attach(&run)).await.unwrap();
    assert_eq!(finish.status, Status::Cancelled);
}
