//! Spans of the gate proxy: a request's, and one for each time that the model was asked.

use std::{sync::Arc, time::Duration};

use callgate_engine::Toolset;
use callgate_machine::Agent;
use callgate_model::{Model, ScriptedModel};
use callgate_server::{
    http::{HttpOptions, HttpServer, TraceContext},
    proxy::{Catalog, Opened, Proxy, ProxyOptions},
    telemetry::{Telemetry, TelemetryOptions},
};
use opentelemetry_proto::tonic::trace::v1::{Span, span::SpanKind, status::StatusCode};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    collector::{Collector, attributes},
    world::{SECRET, World, calls},
};

const CLIENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// What an application says that nobody is to read in a trace.
const PRIVATE: &str = "tell nobody about the grey heron";

/// A proxy to a model with this script, and who looks at it.
struct Proxied {
    model: Arc<ScriptedModel>,
    telemetry: Telemetry,
    collector: Collector,
    url: String,
    stop: CancellationToken,
    ended: tokio::task::JoinHandle<()>,
}

impl Proxied {
    async fn start(script: &Value, content: bool, catalog: Option<Catalog>) -> Self {
        let (collector, endpoint) = Collector::open().await;
        let options =
            TelemetryOptions { endpoint: Some(endpoint), content, ..TelemetryOptions::default() };
        let telemetry = Telemetry::new(options).unwrap();
        let model = Arc::new(ScriptedModel::from_json(&script.to_string()).unwrap());
        let opened = model.clone();
        let opener = move |_: &str| -> Opened { Ok(opened.clone() as Arc<dyn Model>) };
        let catalog = catalog.map(|catalog| Catalog {
            observer: Some(telemetry.observer()),
            tools: catalog.tools.traced(true),
            ..catalog
        });
        let proxy = Proxy::new(
            opener,
            ProxyOptions {
                watch: Some(telemetry.proxy_watch()),
                traced: telemetry.sends_spans(),
                catalog,
                ..ProxyOptions::default()
            },
        );
        let http = HttpServer::bind(HttpOptions::default()).await.unwrap();
        let url = http.url();
        let router = proxy.router(http.options());
        let stop = CancellationToken::new();
        let until = stop.clone().cancelled_owned();
        let ended = tokio::spawn(async move {
            http.run(router, until, async { proxy.drain().await }).await.unwrap();
        });
        Self { model, telemetry, collector, url, stop, ended }
    }

    async fn ask(&self, body: &Value, headers: &[(&str, &str)]) -> (u16, String) {
        let mut request = reqwest::Client::new()
            .post(format!("{}/v1/chat/completions", self.url))
            .timeout(Duration::from_secs(100))
            .header("content-type", "application/json")
            .body(body.to_string());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }

    /// What the providers were told, once all is over and sent.
    async fn end(self) -> (Collector, Vec<Option<TraceContext>>) {
        self.stop.cancel();
        self.ended.await.unwrap();
        self.telemetry.close().await;
        let told = self.model.requests().into_iter().map(|request| request.trace).collect();
        (self.collector, told)
    }
}

fn body(streamed: bool) -> Value {
    json!({
        "model": "test:any", "stream": streamed,
        "messages": [{ "role": "user", "content": PRIVATE }],
        "tools": [{ "type": "function", "function": { "name": "get_weather", "parameters": {
            "type": "object", "properties": { "city": { "type": "string" } },
            "required": ["city"], "additionalProperties": false } } }]
    })
}

fn spans(collector: &Collector, name: &str) -> Vec<Span> {
    collector.taken(|taken| taken.spans.iter().filter(|s| s.name == name).cloned().collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_and_each_hop_have_spans_in_the_clients_trace() {
    for streamed in [false, true] {
        let script = json!({ "replies": [
            calls("c1", "get_weather", &json!({ "town": SECRET })),
            calls("c2", "get_weather", &json!({ "city": "Oslo" })),
        ] });
        let proxied = Proxied::start(&script, false, None).await;
        let headers = [("traceparent", CLIENT), ("tracestate", "vendor=1")];
        let (status, _) = proxied.ask(&body(streamed), &headers).await;
        assert_eq!(status, 200);
        let (collector, told) = proxied.end().await;

        let server = collector.span("POST /v1/chat/completions");
        let under = TraceContext::read(CLIENT).unwrap();
        assert_eq!(server.kind, SpanKind::Server as i32);
        assert_eq!(
            (&*server.trace_id, &*server.parent_span_id),
            (&under.trace[..], &under.span[..])
        );
        let said = attributes(&server.attributes);
        let rows = [
            ("http.request.method", json!("POST")),
            ("http.route", json!("/v1/chat/completions")),
            ("http.response.status_code", json!(200)),
            ("callgate.proxy.api", json!("chat")),
            ("callgate.proxy.attempts", json!(2)),
            ("callgate.proxy.streamed", json!(streamed)),
            ("gen_ai.request.model", json!("script")),
            ("gen_ai.usage.input_tokens", json!(20)),
        ];
        for (name, expected) in rows {
            assert_eq!(said.get(name), Some(&expected), "{name}: {said:?}");
        }
        let refused: Vec<Value> = server
            .events
            .iter()
            .filter(|event| event.name == "callgate.call.refused")
            .map(|event| attributes(&event.attributes)["error.type"].clone())
            .collect();
        assert_eq!(refused, ["schema_mismatch"]);

        let chats = spans(&collector, "chat script");
        assert_eq!(chats.len(), 2);
        for (chat, (told, hop)) in chats.iter().zip(told.iter().zip(1..)) {
            assert_eq!(chat.kind, SpanKind::Client as i32);
            assert_eq!((&chat.trace_id, &chat.parent_span_id), (&server.trace_id, &server.span_id));
            assert!(chat.start_time_unix_nano >= server.start_time_unix_nano);
            // What the provider is told is what the collector gets.
            let told = told.as_ref().unwrap();
            assert_eq!((&told.trace[..], &told.span[..]), (&*chat.trace_id, &*chat.span_id));
            assert_eq!(told.tracestate(), Some("vendor=1"));
            let said = attributes(&chat.attributes);
            let rows = [
                ("gen_ai.operation.name", json!("chat")),
                ("gen_ai.provider.name", json!("script")),
                ("gen_ai.request.model", json!("script")),
                ("gen_ai.response.finish_reasons", json!(["tool_call"])),
                ("gen_ai.usage.input_tokens", json!(10)),
                ("gen_ai.usage.output_tokens", json!(5)),
                ("callgate.hop", json!(hop)),
            ];
            for (name, expected) in rows {
                assert_eq!(said.get(name), Some(&expected), "{name}: {said:?}");
            }
        }
        // Nothing of what was said.
        let bytes = collector.taken(|taken| String::from_utf8_lossy(&taken.bytes).into_owned());
        for private in [PRIVATE, SECRET, "Oslo", "get_weather"] {
            assert!(!bytes.contains(private), "{private}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failures_content_and_who_does_not_record() {
    // With content, where it is asked for: the model's words, not before.
    let script = json!({ "replies": [{ "text": "a secret of the model's" }] });
    let proxied = Proxied::start(&script, true, None).await;
    proxied.ask(&body(false), &[]).await;
    let (collector, told) = proxied.end().await;
    let chat = collector.span("chat script");
    let said = attributes(&chat.attributes)["gen_ai.output.messages"].to_string();
    assert!(said.contains("a secret of the model's"), "{said}");
    // Without a client's trace it has its own.
    let server = collector.span("POST /v1/chat/completions");
    assert!(server.parent_span_id.is_empty());
    assert_eq!(told[0].as_ref().unwrap().trace, *server.trace_id);

    // A provider that fails is an error of its span; of the request's where it is a 5xx.
    let script = json!({ "replies": [{ "error": { "kind": "unavailable", "retry": "never" } }] });
    let proxied = Proxied::start(&script, false, None).await;
    let (status, _) = proxied.ask(&body(false), &[]).await;
    let (collector, _) = proxied.end().await;
    let chat = collector.span("chat script");
    assert_eq!(attributes(&chat.attributes)["error.type"], "unavailable");
    let server = collector.span("POST /v1/chat/completions");
    assert_eq!(attributes(&server.attributes)["error.type"], json!(status.to_string()));
    assert_eq!(server.status.unwrap().code, StatusCode::Error as i32);

    // A trace that its caller does not record goes on, and is not sent.
    let unrecorded = format!("{}00", &CLIENT[..CLIENT.len() - 2]);
    let proxied = Proxied::start(&json!({ "replies": [{ "text": "ok" }] }), false, None).await;
    proxied.ask(&body(false), &[("traceparent", &unrecorded)]).await;
    let (collector, told) = proxied.end().await;
    assert_eq!(told, [TraceContext::read(&unrecorded)]);
    collector.taken(|taken| assert!(taken.spans.is_empty()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_of_the_servers_own_tools_is_under_the_request() {
    let world = World::new();
    let engine = world.engine("tools", &json!([]), &[]);
    let none: Vec<(Arc<str>, Arc<dyn callgate_tool::Backend>)> = Vec::new();
    let catalog = Catalog {
        tools: Toolset::new(engine.catalog().clone(), none),
        agent: Agent { name: "house".into(), ..Agent::default() },
        journal: None,
        caller: Value::Null,
        approver: None,
        observer: None,
    };
    for streamed in [false, true] {
        let script = json!({ "replies": [{ "text": "ok" }] });
        let proxied = Proxied::start(&script, false, Some(catalog.clone())).await;
        let mut asked = body(streamed);
        asked.as_object_mut().unwrap().remove("tools");
        let headers = [("traceparent", CLIENT), ("x-callgate-tools", "catalog")];
        let (status, text) = proxied.ask(&asked, &headers).await;
        assert_eq!(status, 200, "{text}");
        let (collector, told) = proxied.end().await;
        let server = collector.span("POST /v1/chat/completions");
        let agent = collector.span("invoke_agent house");
        let chat = collector.span("chat script");
        assert_eq!(agent.parent_span_id, server.span_id);
        assert_eq!(chat.parent_span_id, agent.span_id);
        let told = told[0].as_ref().unwrap();
        assert_eq!((&told.trace[..], &told.span[..]), (&*server.trace_id, &*chat.span_id));
        assert_eq!(told.trace, TraceContext::read(CLIENT).unwrap().trace);
    }
}
