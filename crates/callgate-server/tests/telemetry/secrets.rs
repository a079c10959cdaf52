//! A run with planted secrets: no trace, log or metric has them.

use std::{
    io,
    sync::{Arc, Mutex},
};

use axum::{Json, Router, http::HeaderMap, routing::get};
use callgate_server::{
    http::{HttpOptions, HttpServer, Token},
    telemetry::{Telemetry, TelemetryOptions},
};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::fmt::MakeWriter;

use crate::{
    collector::Collector,
    world::{KEY, SECRET, World, calls, run},
};

/// Everything that is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

fn has(bytes: &[u8], what: &str) -> bool {
    memchr::memmem::find(bytes, what.as_bytes()).is_some()
}

/// A service that wants the key, and repeats it in its answer.
async fn service() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/things", listener.local_addr().unwrap());
    let answer = async |headers: HeaderMap| {
        let shown = headers["x-key"].to_str().unwrap().to_owned();
        assert_eq!(shown, SECRET);
        Json(json!({ "youSent": shown, "plumage": "slate" }))
    };
    let router = Router::new().route("/things", get(answer));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    url
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_trace_log_or_metric_has_a_secret() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(log.clone())
        .finish();
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let url = service().await;
    let token = "a token that nobody may read 0815";
    for content in [false, true] {
        let (collector, endpoint) = Collector::open().await;
        let telemetry = Telemetry::new(TelemetryOptions {
            endpoint: Some(endpoint),
            content,
            ..TelemetryOptions::default()
        })
        .unwrap();
        let world = World::new();
        let contract = json!({ "name": "look", "description": "Looks.",
            "input": { "type": "object", "properties": { "bird": { "type": "string" } } },
            "backend": { "http": { "url": url, "headers": { "x-key": format!("${{{KEY}}}") } } } });
        let replies = json!([
            calls("c", "look", &json!({ "bird": "grey heron" })),
            { "text": "it is slate" },
        ]);
        let (id, finish) =
            run(world.engine("birder", &replies, &[contract]), telemetry.observer()).await;
        assert_eq!(finish.calls, 1);

        // Requests with the server's own token, right and wrong, in every place.
        let options = HttpOptions {
            token: Some(Token::new(token).unwrap()),
            watch: Some(telemetry.watch()),
            ..HttpOptions::default()
        };
        let http = HttpServer::bind(options).await.unwrap();
        let base = http.url();
        let stop = CancellationToken::new();
        let router = telemetry.router();
        let served = tokio::spawn(http.run(router, stop.clone().cancelled_owned(), async {}));
        let client = reqwest::Client::new();
        let mut answers = String::new();
        for shown in [token, "a token that is wrong but secret 0815"] {
            let url = format!("{base}/metrics?key={SECRET}");
            let response = client.get(&url).bearer_auth(shown).header("cookie", SECRET);
            let response = response.send().await.unwrap();
            answers += &format!("{:?}", response.headers());
            answers += &response.text().await.unwrap();
            let body = format!("{{\"key\":\"{SECRET}\"}}");
            let posted = client.post(format!("{base}/{SECRET}")).bearer_auth(shown).body(body);
            answers += &posted.send().await.unwrap().text().await.unwrap();
        }
        stop.cancel();
        served.await.unwrap().unwrap();
        telemetry.close().await;

        let sent = collector.taken(|taken| taken.bytes.clone());
        assert!(has(&sent, "execute_tool look"), "the run was told of");
        let journal: Vec<Value> = world
            .journal
            .load(&id)
            .unwrap()
            .iter()
            .map(|record| serde_json::to_value(record).unwrap())
            .collect();
        let journal = serde_json::to_string(&journal).unwrap();
        assert!(journal.contains("slate"), "{journal}");
        let metrics = telemetry.metrics();
        let places = [
            ("traces", sent.as_slice()),
            ("the journal", journal.as_bytes()),
            ("metrics", metrics.as_bytes()),
            ("answers", answers.as_bytes()),
        ];
        for (place, bytes) in places {
            for secret in [SECRET, token, "is wrong but secret"] {
                assert!(!has(bytes, secret), "{secret:?} is in {place} (content: {content})");
            }
        }
        for said in ["blue heron", "grey heron", "slate", "kind to herons"] {
            assert_eq!(has(&sent, said), content, "{said:?} in traces, content: {content}");
        }
    }
    let log = log.0.lock().unwrap();
    assert!(has(&log, "callgate::http"), "requests are logged");
    for secret in [SECRET, token, "is wrong but secret"] {
        let log = String::from_utf8_lossy(&log);
        let line = log.lines().find(|line| line.contains(secret));
        assert!(line.is_none(), "{secret:?} is logged: {line:?}");
    }
}
