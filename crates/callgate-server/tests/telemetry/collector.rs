//! A collector on a port of this machine: takes OTLP over HTTP and keeps the spans.

use std::sync::{Arc, Mutex};

use axum::{Router, body::Bytes, extract::State, http::HeaderMap, routing::post};
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{AnyValue, KeyValue, any_value::Value as Any},
    trace::v1::Span,
};
use prost::Message as _;
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;

#[derive(Clone, Default)]
pub(crate) struct Collector(Arc<Mutex<Taken>>);

#[derive(Default)]
pub(crate) struct Taken {
    pub(crate) spans: Vec<Span>,
    pub(crate) resource: Map<String, Value>,
    /// All bodies as they came.
    pub(crate) bytes: Vec<u8>,
}

impl Collector {
    /// A collector, and its endpoint.
    pub(crate) async fn open() -> (Self, String) {
        let collector = Self::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().route("/v1/traces", post(take)).with_state(collector.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        (collector, endpoint)
    }

    pub(crate) fn taken<T>(&self, look: impl FnOnce(&Taken) -> T) -> T {
        look(&self.0.lock().unwrap())
    }

    /// The only span of this name.
    #[track_caller]
    pub(crate) fn span(&self, name: &str) -> Span {
        self.taken(|taken| {
            let found: Vec<&Span> = taken.spans.iter().filter(|span| span.name == name).collect();
            let names: Vec<&str> = taken.spans.iter().map(|span| span.name.as_str()).collect();
            assert_eq!(found.len(), 1, "{name}: {names:?}");
            found[0].clone()
        })
    }
}

async fn take(State(collector): State<Collector>, headers: HeaderMap, body: Bytes) -> &'static str {
    assert_eq!(headers["content-type"], "application/x-protobuf");
    let request = ExportTraceServiceRequest::decode(body.clone()).unwrap();
    let mut taken = collector.0.lock().unwrap();
    taken.bytes.extend_from_slice(&body);
    for group in request.resource_spans {
        taken.resource = attributes(&group.resource.unwrap().attributes);
        for scope in group.scope_spans {
            taken.spans.extend(scope.spans);
        }
    }
    ""
}

/// Attributes as JSON.
pub(crate) fn attributes(list: &[KeyValue]) -> Map<String, Value> {
    list.iter().map(|one| (one.key.clone(), value(one.value.as_ref().unwrap()))).collect()
}

fn value(any: &AnyValue) -> Value {
    match any.value.as_ref().unwrap() {
        Any::StringValue(text) => json!(text),
        Any::BoolValue(flag) => json!(flag),
        Any::IntValue(number) => json!(number),
        Any::DoubleValue(number) => json!(number),
        Any::ArrayValue(array) => array.values.iter().map(value).collect(),
        other => panic!("{other:?}"),
    }
}
