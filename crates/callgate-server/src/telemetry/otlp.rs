//! Spans on their way to a collector: OTLP over HTTP, protobuf.
//!
//! The official SDK's batching does it: a queue with a limit that never blocks a run (what does not
//! fit is dropped, and said once in the log), a thread of its own, retries, and a flush at the end.
//! `OTEL_EXPORTER_OTLP_*`, `OTEL_BSP_*`, `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` count
//! as everywhere.

use std::{borrow::Cow, env};

use opentelemetry::{
    InstrumentationScope, KeyValue,
    trace::{Event, SpanContext, SpanId, Status, TraceFlags, TraceId, TraceState},
};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::{
    Resource,
    trace::{BatchSpanProcessor, SpanData, SpanEvents, SpanLinks, SpanProcessor as _},
};

use super::{
    semconv as names,
    span::{Span, moment},
};
use crate::ServeError;

/// Where traces go on a collector.
const PATH: &str = "/v1/traces";

/// Where to, as variables say it.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/// How, as variables say it.
const PROTOCOLS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"];

/// Whether the environment names a collector and does not turn telemetry off.
pub(super) fn is_in_environment() -> bool {
    let is = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let off = env::var("OTEL_SDK_DISABLED").is_ok_and(|value| value.eq_ignore_ascii_case("true"));
    let none = env::var("OTEL_TRACES_EXPORTER").is_ok_and(|value| value == "none");
    !off && !none && ENDPOINTS.iter().any(|name| is(name))
}

/// Whether the environment asks for what was said, in spans.
pub(super) fn wants_content() -> bool {
    let asked = env::var("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT").unwrap_or_default();
    matches!(asked.to_ascii_lowercase().as_str(), "true" | "span_only" | "span_and_event")
}

/// What takes spans.
#[derive(Debug)]
pub(super) struct Exporter {
    processor: BatchSpanProcessor,
    scope: InstrumentationScope,
}

impl Exporter {
    /// # Errors
    /// The endpoint is none, or the environment asks for another protocol.
    pub(super) fn new(endpoint: Option<&str>, service: &str) -> Result<Self, ServeError> {
        let failed = |why: String| ServeError::Telemetry(why);
        for name in PROTOCOLS {
            match env::var(name) {
                Ok(value) if !value.is_empty() && value != "http/protobuf" => {
                    return Err(failed(format!(
                        "{name} is {value:?}, and only http/protobuf is spoken here: set it so, \
                         and name the collector's HTTP port (4318)"
                    )));
                }
                _ => {}
            }
        }
        let mut builder = SpanExporter::builder().with_http().with_protocol(Protocol::HttpBinary);
        if let Some(endpoint) = endpoint {
            builder = builder.with_endpoint(traces(endpoint)?);
        }
        let exporter = builder.build().map_err(|error| failed(error.to_string()))?;
        let mut processor = BatchSpanProcessor::builder(exporter).build();
        let resource = Resource::builder();
        let resource = match env::var("OTEL_SERVICE_NAME") {
            Ok(name) if !name.is_empty() => resource,
            _ => resource.with_service_name(service.to_owned()),
        };
        let version = env!("CARGO_PKG_VERSION");
        processor.set_resource(
            &resource.with_attribute(KeyValue::new("service.version", version)).build(),
        );
        let scope = InstrumentationScope::builder("callgate").with_version(version).build();
        Ok(Self { processor, scope })
    }

    /// Never waits.
    pub(super) fn send(&self, span: Span) {
        self.processor.on_end(self.data(span));
    }

    fn data(&self, span: Span) -> SpanData {
        let mut attributes = span.attributes;
        let status = match span.error {
            None => Status::Unset,
            Some(error) => {
                attributes.push(KeyValue::new(names::ERROR, error.clone()));
                Status::Error { description: error }
            }
        };
        let mut events = SpanEvents::default();
        events.dropped_count = span.events.dropped;
        events.events = span
            .events
            .list
            .into_iter()
            .map(|event| {
                Event::new(Cow::Borrowed(event.name), moment(event.at), event.attributes, 0)
            })
            .collect();
        let (parent, parent_span_is_remote) = span.parent.unwrap_or(([0; 8], false));
        SpanData {
            span_context: SpanContext::new(
                TraceId::from_bytes(span.trace),
                SpanId::from_bytes(span.id),
                TraceFlags::SAMPLED,
                false,
                TraceState::default(),
            ),
            parent_span_id: SpanId::from_bytes(parent),
            parent_span_is_remote,
            span_kind: span.kind,
            name: span.name,
            start_time: moment(span.began),
            end_time: moment(span.ended),
            attributes,
            dropped_attributes_count: 0,
            events,
            links: SpanLinks::default(),
            status,
            instrumentation_scope: self.scope.clone(),
        }
    }

    /// Sends what is left. Blocks for some seconds at most.
    pub(super) fn close(&self) {
        if let Err(error) = self.processor.shutdown() {
            tracing::warn!(%error, "the last spans could not be sent");
        }
    }
}

/// The URL of a collector's traces: its base, or the whole.
fn traces(endpoint: &str) -> Result<String, ServeError> {
    let is_http = endpoint.parse::<http::Uri>().is_ok_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some()
    });
    if !is_http {
        // Not repeated: it may have a password in it.
        let why = "the collector's endpoint is no http:// or https:// URL";
        return Err(ServeError::Telemetry(why.to_owned()));
    }
    let bare = endpoint.trim_end_matches('/');
    Ok(if bare.ends_with(PATH) { bare.to_owned() } else { format!("{bare}{PATH}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_traces_go() {
        let rows = [
            ("http://localhost:4318", Some("http://localhost:4318/v1/traces")),
            ("http://localhost:4318/", Some("http://localhost:4318/v1/traces")),
            ("https://c.example/otlp/v1/traces", Some("https://c.example/otlp/v1/traces")),
            ("localhost:4318", None),
            ("grpc://localhost:4317", None),
            ("", None),
        ];
        for (endpoint, expected) in rows {
            assert_eq!(traces(endpoint).ok().as_deref(), expected, "{endpoint}");
        }
    }
}
