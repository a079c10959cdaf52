//! Failures of providers, with their meaning; and the proxy's own limits.

use std::sync::Arc;

use axum::Extension;
use callgate_server::{
    http::{HttpOptions, HttpServer, Identity, Scope},
    proxy::{Allow, Proxy, ProxyOptions},
};
use callgate_wire::inbound::Dialect;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::{
    client::{Ask, Got, Served},
    provider::{Api, Provider, Say, say},
};

#[tokio::test]
async fn failures_keep_their_meaning() {
    let error = |kind: &str, code: Value, message: &str| {
        json!({ "type": "error", "error": { "type": kind, "code": code, "message": message } })
            .to_string()
    };
    type Row = (Api, u16, Vec<(&'static str, &'static str)>, String, [u16; 3], &'static str);
    let rows: Vec<Row> = vec![
        (
            Api::Chat,
            429,
            vec![("retry-after", "7")],
            error("requests", json!("rate_limit_exceeded"), "slow down"),
            [429; 3],
            "slow down",
        ),
        (
            Api::Anthropic,
            429,
            vec![("retry-after", "7")],
            error("rate_limit_error", Value::Null, "slow down"),
            [429; 3],
            "slow down",
        ),
        (
            Api::Chat,
            429,
            vec![],
            error("insufficient_quota", json!("insufficient_quota"), "no money"),
            [429, 429, 429],
            "no money",
        ),
        (
            Api::Chat,
            503,
            vec![],
            error("server_error", Value::Null, "overloaded"),
            [503, 503, 529],
            "overloaded",
        ),
        (
            Api::Anthropic,
            529,
            vec![],
            error("overloaded_error", Value::Null, "overloaded"),
            [503, 503, 529],
            "overloaded",
        ),
        (
            Api::Responses,
            400,
            vec![],
            error(
                "invalid_request_error",
                json!("context_length_exceeded"),
                "maximum context length",
            ),
            [400; 3],
            "maximum context length",
        ),
        (
            Api::Responses,
            400,
            vec![],
            error("invalid_request_error", Value::Null, "no such field"),
            [400; 3],
            "no such field",
        ),
        (
            Api::Chat,
            404,
            vec![],
            error("invalid_request_error", json!("model_not_found"), "no such model"),
            [404; 3],
            "no such model",
        ),
        (Api::Chat, 200, vec![], "<html>".to_owned(), [502; 3], ""),
    ];
    for (api, status, headers, body, expected, words) in rows {
        let reply = Say { fails: Some((status, headers.clone(), body)), ..Say::default() };
        let provider = Provider::repeating(vec![reply]).await;
        let proxy = Served::start(provider.registry(), ProxyOptions::default()).await;
        for (dialect, expected) in Dialect::ALL.into_iter().zip(expected) {
            for streamed in [false, true] {
                let before = provider.seen().len();
                let got = proxy.ask(dialect, &Ask::of(api.model(), streamed)).await;
                let row = format!("{api:?} {status} {dialect:?} {streamed}: {}", got.raw);
                // 402 is what Anthropic says of money.
                let is_money = words == "no money" && dialect == Dialect::Messages;
                assert!(
                    got.status == expected || is_money && got.status == 402,
                    "{} {row}",
                    got.status
                );
                assert!(got.message().contains(words), "{row}");
                let after = headers
                    .iter()
                    .find(|(name, _)| *name == "retry-after")
                    .map(|(_, value)| *value);
                assert_eq!(got.header("retry-after"), after, "{row}");
                assert_eq!(provider.seen().len(), before + 1, "asked once: {row}");
            }
        }
    }
}

#[tokio::test]
async fn bodies_have_their_limit() {
    let provider = Provider::start(Vec::new()).await;
    let options = ProxyOptions { max_body: 1000, ..ProxyOptions::default() };
    let proxy = Served::start(provider.registry(), options).await;
    for dialect in Dialect::ALL {
        let body = format!(r#"{{"model":"openai:m","x":"{}"}}"#, "x".repeat(1000));
        let got = Got::read(dialect, false, proxy.post(dialect.path(), &[], body).await).await;
        assert_eq!(got.status, 413, "{}", got.raw);
        for body in
            ["", "{", "[]", "null", "\u{feff}{}", r#"{"model":1}"#, r#"{"model":"openai:m"}"#]
        {
            let got =
                Got::read(dialect, false, proxy.post(dialect.path(), &[], body.to_owned()).await)
                    .await;
            assert_eq!(got.status, 400, "{body}: {}", got.raw);
            assert!(!got.message().is_empty());
        }
        let packed = [("content-encoding", "gzip")];
        let got =
            Got::read(dialect, false, proxy.post(dialect.path(), &packed, "{}".to_owned()).await)
                .await;
        assert_eq!(got.status, 415, "{}", got.raw);
        let odd = [("x-callgate-mode", "odd")];
        let got =
            Got::read(dialect, false, proxy.post(dialect.path(), &odd, "{}".to_owned()).await)
                .await;
        assert!(got.status == 400 && got.message().contains("x-callgate-mode"), "{}", got.raw);
    }
    assert_eq!(provider.seen().len(), 0);
}

#[tokio::test]
async fn there_is_room_for_so_many() {
    let gate = Arc::new(Semaphore::new(0));
    let wait = Say { gate: Some(gate.clone()), ..say("Hi.", &[]) };
    let provider = Provider::start(vec![wait, say("Hi again.", &[])]).await;
    let options = ProxyOptions { max_requests: 1, ..ProxyOptions::default() };
    let proxy = Served::start(provider.registry(), options).await;
    let ask = Ask::of(Api::Chat.model(), false);
    let (first, ()) = tokio::join!(proxy.ask(Dialect::Chat, &ask), async {
        provider.asked(1).await;
        for (dialect, status) in
            [(Dialect::Chat, 503), (Dialect::Responses, 503), (Dialect::Messages, 529)]
        {
            let got = proxy.ask(dialect, &ask).await;
            assert_eq!(got.status, status, "{}", got.raw);
            assert_eq!(got.header("retry-after"), Some("1"));
        }
        gate.add_permits(1);
    });
    assert_eq!(first.text, "Hi.");
    assert_eq!(proxy.ask(Dialect::Chat, &ask).await.text, "Hi again.");
}

#[tokio::test]
async fn a_token_has_to_have_the_scope() {
    let provider = Provider::repeating(vec![say("Hi.", &[])]).await;
    for (scopes, status) in [
        (vec![Scope::Run], 200),
        (vec![Scope::Admin], 200),
        (vec![Scope::Read, Scope::Approve], 403),
        (vec![], 403),
    ] {
        let proxy = Proxy::new(provider.registry(), ProxyOptions::default());
        let http = HttpServer::bind(HttpOptions::default()).await.unwrap();
        let identity = Identity { scopes: scopes.into(), ..Identity::local() };
        let router = proxy.router(http.options()).layer(Extension(identity));
        let url = format!("http://{}", http.address());
        let served = tokio::spawn(http.run(router, std::future::pending(), std::future::ready(())));
        for dialect in Dialect::ALL {
            let body = Ask::of(Api::Chat.model(), false).body(dialect).to_string();
            let response = reqwest::Client::new()
                .post(format!("{url}{}", dialect.path()))
                .body(body)
                .send()
                .await
                .unwrap();
            let got = Got::read(dialect, false, response).await;
            assert_eq!(got.status, status, "{}", got.raw);
        }
        served.abort();
    }
}

#[tokio::test]
async fn only_models_that_may_be_named() {
    let provider = Provider::repeating(vec![say("Hi.", &[])]).await;
    let options = ProxyOptions {
        default_model: Some("openai-chat:m".to_owned()),
        aliases: [("gpt-4o".to_owned(), "anthropic:m".to_owned())].into(),
        allow: Allow::Only(vec!["gemini:*".to_owned()]),
        ..ProxyOptions::default()
    };
    let proxy = Served::start(provider.registry(), options).await;
    for dialect in Dialect::ALL {
        for (model, expected) in [
            ("gpt-4o", Some("anthropic:m")),
            ("openai-chat:m", Some("openai-chat:m")),
            ("gemini:anything", Some("gemini:anything")),
            ("ollama:m", None),
            ("script:/etc/passwd", None),
            ("nothing", None),
        ] {
            let got = proxy.ask(dialect, &Ask::of(model, false)).await;
            assert_eq!(got.header("x-callgate-model"), expected, "{model}: {}", got.raw);
            if expected.is_none() {
                assert_eq!(got.status, 404, "{}", got.raw);
                assert!(got.message().contains(model), "{}", got.message());
                assert!(!got.raw.contains("root:"));
            }
        }
    }
    // What the registry does not know, in its own words.
    let proxy = Served::start(provider.registry(), ProxyOptions::default()).await;
    let got = proxy.ask(Dialect::Chat, &Ask::of("openia:gpt", false)).await;
    assert!(got.status == 404 && got.message().contains("openai:gpt"), "{}", got.raw);
    let got = proxy.ask(Dialect::Chat, &Ask::of("script:/etc/passwd", false)).await;
    assert!(got.status == 404 && !got.raw.contains("root:"), "{}", got.raw);
}

#[tokio::test]
async fn no_further_attempt_beyond_the_tokens() {
    let bad = say("", &[("a", "book_room", "{}")]);
    let provider = Provider::repeating(vec![bad]).await;
    let options = ProxyOptions { tokens: Some(30), ..ProxyOptions::default() };
    let proxy = Served::start(provider.registry(), options).await;
    let got = proxy.ask(Dialect::Chat, &Ask::of(Api::Chat.model(), false)).await;
    // 15 each.
    assert_eq!((got.status, got.attempts(), provider.seen().len()), (422, 2, 2), "{}", got.raw);
}
