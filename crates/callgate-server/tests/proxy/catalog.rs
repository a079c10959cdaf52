//! The server's own tools: a run behind an endpoint of a provider's.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use callgate_engine::{ApproveAll, Filter, Journal, MemoryJournal, Notice};
use callgate_machine::Agent;
use callgate_server::proxy::{Catalog, ProxyOptions};
use callgate_wire::inbound::Dialect;
use serde_json::json;
use tokio::sync::Semaphore;

use crate::{
    client::{Ask, Events, Got, PATIENCE, Served},
    provider::{Provider, Say, say},
    shop::Shop,
};

fn options(shop: &Shop, journal: &Arc<MemoryJournal>) -> ProxyOptions {
    let agent = Agent { instructions: Some("Be brief.".into()), ..Agent::default() };
    let catalog = Catalog {
        tools: shop.tools(),
        agent,
        journal: Some(journal.clone()),
        caller: json!(null),
        approver: None,
        observer: None,
    };
    ProxyOptions { catalog: Some(catalog), ..ProxyOptions::default() }
}

fn ask(model: &str, streamed: bool) -> Ask {
    Ask { tools: Vec::new(), ..Ask::of(model, streamed) }
}

#[tokio::test]
async fn calls_are_made_here_and_the_client_gets_the_answer() {
    for dialect in Dialect::ALL {
        for streamed in [false, true] {
            for by_header in [false, true] {
                let shop = Shop::new();
                let journal = Arc::new(MemoryJournal::new());
                let script = vec![
                    say("Let me see.", &[("c1", "set_status", r#"{"status":"payed"}"#)]),
                    say("", &[("c2", "set_status", r#"{"status":"sent"}"#)]),
                    say("Done.", &[]),
                ];
                let provider = Provider::start(script).await;
                let proxy = Served::start(provider.registry(), options(&shop, &journal)).await;
                let mut ask = ask(
                    if by_header { "openai-chat:m" } else { "openai-chat:m+catalog" },
                    streamed,
                );
                if by_header {
                    ask.headers.push(("x-callgate-tools", "catalog"));
                }
                let got = proxy.ask(dialect, &ask).await;
                assert_eq!((got.status, got.calls.len(), got.stop), (200, 0, "end"), "{}", got.raw);
                // A stream shows all words; the answer is the last of them.
                let text = if streamed { "Let me see.\n\nDone." } else { "Done." };
                assert_eq!(got.text, text, "{}", got.raw);
                assert_eq!((shop.ran(), got.attempts()), (1, 3), "{}", got.raw);
                assert_eq!(got.usage, (30, 15));
                let seen = provider.seen();
                assert_eq!(seen[0]["messages"][0]["content"], "Be brief.");
                assert!(seen[1].to_string().contains("schema_mismatch"));
                let runs = journal.list(&Filter::default()).unwrap();
                assert_eq!(runs.len(), 1);
                let run = got.comment.as_ref().map_or_else(
                    || got.header("x-callgate-run").unwrap().to_owned(),
                    |told| told["run"].as_str().unwrap().to_owned(),
                );
                assert_eq!(*runs[0].run, *run);
            }
        }
    }
}

#[tokio::test]
async fn what_was_said_before_is_in_the_run() {
    let shop = Shop::new();
    let journal = Arc::new(MemoryJournal::new());
    let provider = Provider::start(vec![say("Blue.", &[])]).await;
    let proxy = Served::start(provider.registry(), options(&shop, &journal)).await;
    let mut body = ask("openai-chat:m+catalog", false).body(Dialect::Chat);
    body["messages"] = json!([
        { "role": "system", "content": "Speak plainly." }, { "role": "user", "content": "My colour is blue." },
        { "role": "assistant", "content": "Noted." }, { "role": "user", "content": "Which is it?" } ]);
    let response = proxy.post("/v1/chat/completions", &[], body.to_string()).await;
    assert_eq!(Got::read(Dialect::Chat, false, response).await.text, "Blue.");
    let seen = &provider.seen()[0]["messages"];
    assert_eq!(seen[0]["content"], "Be brief.\n\nSpeak plainly.");
    let goal = seen[1]["content"].to_string();
    assert!(
        goal.contains("My colour is blue.")
            && goal.contains("Noted.")
            && goal.contains("Which is it?"),
        "{goal}"
    );

    // The last word is the user's, and there are no tools of the client's.
    body["messages"].as_array_mut().unwrap().pop();
    let response = proxy.post("/v1/chat/completions", &[], body.to_string()).await;
    let got = Got::read(Dialect::Chat, false, response).await;
    assert!(got.status == 400 && got.message().contains("the user's"), "{}", got.raw);
    let both = Ask::of("openai-chat:m+catalog", false);
    let got = proxy.ask(Dialect::Messages, &both).await;
    assert!(got.status == 400 && got.message().contains("tools"), "{}", got.raw);
}

#[tokio::test]
async fn a_server_without_tools_says_so() {
    let provider = Provider::start(Vec::new()).await;
    let proxy = Served::start(provider.registry(), ProxyOptions::default()).await;
    for dialect in Dialect::ALL {
        for streamed in [false, true] {
            let got = proxy.ask(dialect, &ask("openai-chat:m+catalog", streamed)).await;
            assert!(
                got.status == 400 && got.message().contains("no tools of its own"),
                "{}",
                got.raw
            );
        }
    }
}

#[tokio::test]
async fn approvals_are_asked_of_whoever_is_there() {
    for approves in [false, true] {
        let shop = Shop::new();
        let journal = Arc::new(MemoryJournal::new());
        let script = vec![say("", &[("c", "spend", r#"{"amount":50}"#)]), say("So be it.", &[])];
        let provider = Provider::start(script).await;
        let mut options = options(&shop, &journal);
        let seen = Arc::new(AtomicUsize::new(0));
        if let Some(catalog) = &mut options.catalog {
            let count = seen.clone();
            catalog.observer = Some(Arc::new(move |notice| {
                count.fetch_add(usize::from(matches!(notice, Notice::Record(_))), Ordering::SeqCst);
            }));
            if approves {
                catalog.approver = Some(Arc::new(ApproveAll));
            }
        }
        let proxy = Served::start(provider.registry(), options).await;
        let got = proxy.ask(Dialect::Chat, &ask("openai-chat:m+catalog", false)).await;
        assert_eq!(got.text, "So be it.", "{}", got.raw);
        assert_eq!(shop.ran(), usize::from(approves));
        let run = got.header("x-callgate-run").unwrap();
        assert_eq!(seen.load(Ordering::SeqCst), journal.load(run).unwrap().len());
        assert_eq!(provider.seen()[1].to_string().contains("approval_rejected"), !approves);
    }
}

#[tokio::test]
async fn a_client_that_leaves_cancels_its_run() {
    let shop = Shop::new();
    let journal = Arc::new(MemoryJournal::new());
    let gate = Arc::new(Semaphore::new(0));
    let script = vec![Say { gate: Some(gate), ..say("Let me see.", &[("c", "echo", "{}")]) }];
    let provider = Provider::start(script).await;
    let proxy = Served::start(provider.registry(), options(&shop, &journal)).await;
    let body = ask("openai-chat:m+catalog", true).body(Dialect::Chat).to_string();
    let mut events = Events::of(proxy.post("/v1/chat/completions", &[], body).await);
    events.next().await.unwrap();
    drop(events);
    tokio::time::timeout(PATIENCE, provider.left()).await.expect("the run goes on for nobody");
    // The end is recorded by the run itself.
    let ended = async {
        loop {
            let runs = journal.list(&Filter::default()).unwrap();
            let records = journal.load(&runs[0].run).unwrap();
            if let Some(callgate_machine::Event::RunFinished(finish)) =
                records.last().map(|r| &r.event)
            {
                return finish.status;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    let status = tokio::time::timeout(PATIENCE, ended).await.unwrap();
    assert_eq!(status, callgate_machine::Status::Cancelled);
    assert_eq!(shop.ran(), 0);
}
