//! What a run costs Restate: five hops of an instant model and instant tools.

use std::{
    collections::VecDeque,
    sync::Mutex,
    time::{Duration, Instant},
};

use callgate_restate::{Client, Submit};

use crate::{
    runs::Stack,
    support::agent::{self, Tools},
};

const FIVE_HOPS: &str = r#"{ "replies": [
    { "calls": [ { "name": "echo", "arguments": {"n": 1} } ] },
    { "calls": [ { "name": "echo", "arguments": {"n": 2} } ] },
    { "text": "Done." } ] }"#;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement: cargo test -p callgate-restate --test live cost -- --ignored --nocapture"]
async fn runs_a_second() {
    let Some(stack) = Stack::start().await else { return };
    let _serving = stack.serve(stack.worker(agent::engine(FIVE_HOPS, &Tools::new()))).await;
    for (concurrency, runs) in [(1, 50), (32, 600)] {
        let left = Mutex::new((0..runs).map(|_| Client::new_id()).collect::<VecDeque<_>>());
        let took = Mutex::new(Vec::new());
        let begun = Instant::now();
        let lanes = (0..concurrency).map(|_| async {
            loop {
                let Some(run) = left.lock().unwrap().pop_front() else { return };
                let sent = Instant::now();
                let submit = Submit::new("g", serde_json::Value::Null);
                stack.client.submit(&run, &submit).await.unwrap();
                let finish = stack.client.attach(&run).await.unwrap();
                assert_eq!(finish.text.as_deref(), Some("Done."));
                took.lock().unwrap().push(sent.elapsed());
            }
        });
        futures_util::future::join_all(lanes).await;
        let seconds = begun.elapsed().as_secs_f64();
        let mut took: Vec<Duration> = took.into_inner().unwrap();
        took.sort();
        println!(
            "{concurrency:3} at a time: {:6.1} runs a second, {:5.1} ms in the middle, server {} MiB",
            f64::from(runs) / seconds,
            took[took.len() / 2].as_secs_f64() * 1000.0,
            stack.restate.memory_mib(),
        );
    }
}
