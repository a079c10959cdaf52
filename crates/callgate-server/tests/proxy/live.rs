//! Streams: words before the end, calls only once they are judged, ends of every kind.
//!
//! What comes before what is proved by a provider that waits, never by a clock.

use std::{sync::Arc, time::Duration};

use callgate_server::proxy::ProxyOptions;
use callgate_wire::inbound::Dialect;
use tokio::sync::Semaphore;

use crate::{
    client::{Ask, Events, Got, PATIENCE, Served},
    provider::{Api, Provider, Say, say},
};

const RIGHT: (&str, &str, &str) = ("call_1", "get_weather", r#"{"city":"Oslo"}"#);

fn closed() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(0))
}

async fn open(proxy: &Served, dialect: Dialect, ask: &Ask) -> (Got, Events) {
    let response = proxy.post(dialect.path(), &ask.headers, ask.body(dialect).to_string()).await;
    assert_eq!(response.status(), 200);
    (Got::default(), Events::of(response))
}

/// Reads until all of a text came.
async fn until(got: &mut Got, events: &mut Events, dialect: Dialect, text: &str) {
    while got.text != text {
        let event = events
            .next()
            .await
            .unwrap_or_else(|| panic!("the end before {text:?}: {}", events.raw));
        got.event(dialect, &event);
        assert!(text.starts_with(&got.text), "{:?} is no beginning of {text:?}", got.text);
    }
}

async fn rest(got: &mut Got, events: &mut Events, dialect: Dialect) {
    while let Some(event) = events.next().await {
        got.event(dialect, &event);
    }
    got.raw.clone_from(&events.raw);
}

#[tokio::test]
async fn words_are_there_before_the_model_has_ended() {
    for dialect in Dialect::ALL {
        for api in Api::ALL {
            let gates = [closed(), closed()];
            let bad = ("call_0", "get_weather", "{}");
            let script = vec![
                Say { gate: Some(gates[0].clone()), ..say("Let me see. ", &[bad]) },
                Say { gate: Some(gates[1].clone()), ..say("Once more.", &[RIGHT]) },
            ];
            let provider = Provider::start(script).await;
            let proxy = Served::start(provider.registry(), ProxyOptions::default()).await;
            let (mut got, mut events) = open(&proxy, dialect, &Ask::of(api.model(), true)).await;
            until(&mut got, &mut events, dialect, "Let me see. ").await;
            gates[0].add_permits(1);
            // The words of the second attempt, before its end and after a call was refused.
            until(&mut got, &mut events, dialect, "Let me see. \n\nOnce more.").await;
            assert_eq!(got.calls, [], "{}", events.raw);
            gates[1].add_permits(1);
            rest(&mut got, &mut events, dialect).await;
            assert_eq!(got.made(), [("get_weather", r#"{"city":"Oslo"}"#)], "{}", got.raw);
            assert!(got.ended && got.stop == "calls", "{}", got.raw);
        }
    }
}

#[tokio::test]
async fn a_client_that_leaves_takes_the_provider_with_it() {
    for dialect in Dialect::ALL {
        for streamed in [false, true] {
            let script = vec![Say { gate: Some(closed()), ..say("Let me see.", &[RIGHT]) }];
            let provider = Provider::start(script).await;
            let (told, mut seen) = tokio::sync::mpsc::unbounded_channel();
            let options = ProxyOptions {
                watch: Some(Arc::new(move |served| {
                    let _ = told.send((served.status, served.streamed));
                })),
                ..ProxyOptions::default()
            };
            let proxy = Served::start(provider.registry(), options).await;
            let ask = Ask::of(Api::Chat.model(), streamed);
            if streamed {
                let (mut got, mut events) = open(&proxy, dialect, &ask).await;
                until(&mut got, &mut events, dialect, "Let me see.").await;
                drop(events);
            } else {
                let body = ask.body(dialect).to_string();
                let post = proxy.post(dialect.path(), &[], body);
                tokio::select! {
                    _ = post => panic!("there is no answer yet"),
                    () = provider.asked(1) => {}
                }
            }
            tokio::time::timeout(PATIENCE, provider.left())
                .await
                .expect("the provider goes on for nobody");
            let served = tokio::time::timeout(PATIENCE, seen.recv()).await.unwrap().unwrap();
            assert_eq!(served, (499, streamed));
        }
    }
}

#[tokio::test]
async fn a_provider_that_breaks_off() {
    for dialect in Dialect::ALL {
        for api in Api::ALL {
            // After words: they cannot be taken back.
            let gate = closed();
            let broken =
                Say { reset: true, gate: Some(gate.clone()), ..say("Let me see.", &[RIGHT]) };
            let provider = Provider::start(vec![broken]).await;
            let proxy = Served::start(provider.registry(), ProxyOptions::default()).await;
            let (mut got, mut events) = open(&proxy, dialect, &Ask::of(api.model(), true)).await;
            until(&mut got, &mut events, dialect, "Let me see.").await;
            gate.add_permits(1);
            rest(&mut got, &mut events, dialect).await;
            assert_eq!((got.text.as_str(), got.calls.len()), ("Let me see.", 0), "{}", got.raw);
            assert!(!got.message().is_empty());

            // Before the first one: as the provider's failure, with its status.
            let broken = Say { reset: true, ..say("", &[RIGHT]) };
            let provider = Provider::repeating(vec![broken]).await;
            let proxy = Served::start(provider.registry(), ProxyOptions::default()).await;
            for streamed in [false, true] {
                let got = proxy.ask(dialect, &Ask::of(api.model(), streamed)).await;
                assert_eq!((got.status, got.calls.len()), (502, 0), "{api:?} {}", got.raw);
            }
        }
    }
}

/// The beginning of a call is shown to nobody, so it may be lost and asked for again.
#[tokio::test]
async fn a_call_that_was_lost_is_asked_for_again() {
    for dialect in Dialect::ALL {
        let malformed = r#"{"candidates":[{"index":0,"finishReason":"MALFORMED_FUNCTION_CALL"}],"usageMetadata":{"promptTokenCount":10}}"#;
        for streamed in [false, true] {
            let body =
                if streamed { format!("data: {malformed}\n\n") } else { malformed.to_owned() };
            let headers =
                if streamed { vec![("content-type", "text/event-stream")] } else { Vec::new() };
            let refused = Say { fails: Some((200, headers, body)), ..Say::default() };
            let provider = Provider::start(vec![refused, say("", &[RIGHT])]).await;
            let proxy = Served::start(provider.registry(), ProxyOptions::default()).await;
            let got = proxy.ask(dialect, &Ask::of(Api::Gemini.model(), streamed)).await;
            assert_eq!(got.made(), [("get_weather", r#"{"city":"Oslo"}"#)], "{}", got.raw);
            assert_eq!(got.attempts(), 2, "{}", got.raw);
        }
    }
}

#[tokio::test]
async fn a_slow_provider_and_a_patient_client() {
    for dialect in Dialect::ALL {
        let gate = closed();
        let script = vec![Say { gate: Some(gate.clone()), ..say("", &[RIGHT]) }];
        let provider = Provider::start(script).await;
        let options =
            ProxyOptions { keep_alive: Duration::from_millis(20), ..ProxyOptions::default() };
        let proxy = Served::start(provider.registry(), options).await;
        let (mut got, mut events) = open(&proxy, dialect, &Ask::of(Api::Chat.model(), true)).await;
        // Nothing was said, and the connection shows that it is alive.
        for _ in 0..3 {
            let event = events.next().await.unwrap();
            got.event(dialect, &event);
        }
        assert_eq!((got.text.as_str(), got.calls.len()), ("", 0), "{}", events.raw);
        gate.add_permits(1);
        rest(&mut got, &mut events, dialect).await;
        assert_eq!(got.made(), [("get_weather", r#"{"city":"Oslo"}"#)], "{}", got.raw);
        assert!(got.ended, "{}", got.raw);
    }
}

#[tokio::test]
async fn time_runs_out() {
    for dialect in Dialect::ALL {
        for (text, streamed) in [("", false), ("", true), ("Let me see.", true)] {
            let script = vec![Say { gate: Some(closed()), ..say(text, &[RIGHT]) }];
            let provider = Provider::start(script).await;
            let options =
                ProxyOptions { time: Duration::from_millis(500), ..ProxyOptions::default() };
            let proxy = Served::start(provider.registry(), options).await;
            let got = proxy.ask(dialect, &Ask::of(Api::Chat.model(), streamed)).await;
            // Words may have come in their time, or not.
            let expected = if got.text.is_empty() { 504 } else { 200 };
            assert_eq!((got.status, got.calls.len()), (expected, 0), "{}", got.raw);
            assert!(got.message().contains("0.5 s"), "{}", got.raw);
            tokio::time::timeout(PATIENCE, provider.left())
                .await
                .expect("the provider goes on for nobody");
        }
    }
}

#[tokio::test]
async fn a_server_that_stops_ends_every_answer() {
    for dialect in Dialect::ALL {
        let script = vec![Say { gate: Some(closed()), ..say("Let me see.", &[RIGHT]) }];
        let provider = Provider::start(script).await;
        let options = ProxyOptions { drain: Duration::from_millis(50), ..ProxyOptions::default() };
        let proxy = Served::start(provider.registry(), options).await;
        let (mut got, mut events) = open(&proxy, dialect, &Ask::of(Api::Chat.model(), true)).await;
        until(&mut got, &mut events, dialect, "Let me see.").await;
        proxy.stop.cancel();
        rest(&mut got, &mut events, dialect).await;
        assert!(got.message().contains("stopping"), "{}", got.raw);
        assert_eq!(got.calls, []);
        tokio::time::timeout(PATIENCE, proxy.ended).await.unwrap().unwrap();
    }

    // One that ends in its time is whole.
    let gate = closed();
    let provider =
        Provider::start(vec![Say { gate: Some(gate.clone()), ..say("Let me see.", &[RIGHT]) }])
            .await;
    let options = ProxyOptions { drain: PATIENCE, ..ProxyOptions::default() };
    let proxy = Served::start(provider.registry(), options).await;
    let (mut got, mut events) =
        open(&proxy, Dialect::Chat, &Ask::of(Api::Chat.model(), true)).await;
    until(&mut got, &mut events, Dialect::Chat, "Let me see.").await;
    proxy.stop.cancel();
    gate.add_permits(1);
    rest(&mut got, &mut events, Dialect::Chat).await;
    assert_eq!(got.made(), [("get_weather", r#"{"city":"Oslo"}"#)], "{}", got.raw);
    tokio::time::timeout(PATIENCE, proxy.ended).await.unwrap().unwrap();
}
