//! Metrics and traces, made from the events of runs.
//!
//! Nothing in the engine knows of this: whatever is told here was an event first. [`Telemetry`]
//! gives an [`Observer`] for runs and a [`Watch`] for requests, counts, and sends spans.
//!
//! - `story`: one run as its events tell it, a fold; `stories`: all of them. Ids of traces and spans
//!   are [`callgate_engine::trace`]'s: named by what they stand for, so that a run goes on in its
//!   trace in another process, and tools are told the same ones.
//! - `metrics`: Prometheus. `otlp`: OpenTelemetry. `semconv`: the names of its GenAI conventions.
//! - `proxied`: answers of the gate proxy. `chat`: requests to models, of runs and of the proxy.
//! - `content`: what people and models said, which is left out unless it is asked for.

mod chat;
mod content;
mod fact;
mod metrics;
mod otlp;
#[cfg(feature = "proxy")]
mod proxied;
mod semconv;
mod span;
mod stories;
mod story;
mod words;

use std::{
    fmt,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use axum::{Router, middleware, response::IntoResponse as _, routing::get};
use callgate_engine::{JournalError, Notice, Observer};
use callgate_machine::{Event, Record};
use http::header;

use self::{metrics::Metrics, otlp::Exporter, stories::Stories, story::Told};
use crate::{
    ServeError,
    http::{Scope, Watch, needs},
};

/// The most ancestors of a run that are looked up.
const GENERATIONS: usize = 8;

/// Gives the events of a run that is in the journal, from the first; none where it is not. A run
/// whose past cannot be read is told of from there on, and its span says so.
pub type History = Arc<dyn Fn(&str) -> Result<Vec<Record>, JournalError> + Send + Sync>;

/// How runs are told of.
#[derive(Clone)]
pub struct TelemetryOptions {
    /// The service's name, where `OTEL_SERVICE_NAME` does not say.
    pub service: String,
    /// The collector that spans go to, such as `http://localhost:4318`; where it is absent,
    /// `OTEL_EXPORTER_OTLP_ENDPOINT` counts, and without that none are sent.
    pub endpoint: Option<String>,
    /// Whether spans have what people, models and tools said; the variable
    /// `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` can ask for it, too.
    pub content: bool,
    /// Where to read the past of runs that this process takes up.
    pub history: Option<History>,
}

impl Default for TelemetryOptions {
    fn default() -> Self {
        Self { service: "callgate".to_owned(), endpoint: None, content: false, history: None }
    }
}

impl fmt::Debug for TelemetryOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The endpoint may have a password in it.
        f.debug_struct("TelemetryOptions")
            .field("service", &self.service)
            .field("content", &self.content)
            .finish_non_exhaustive()
    }
}

/// Counts, and sends spans. Clones are the same.
#[derive(Clone)]
pub struct Telemetry(Arc<Inner>);

struct Inner {
    stories: Mutex<Stories>,
    metrics: Metrics,
    exporter: Option<Exporter>,
    /// Whether spans have what was said.
    #[cfg_attr(
        not(feature = "proxy"),
        expect(dead_code, reason = "runs have it in their stories")
    )]
    with_content: bool,
    history: OnceLock<History>,
}

impl fmt::Debug for Telemetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Telemetry").field("sends", &self.sends_spans()).finish_non_exhaustive()
    }
}

impl Telemetry {
    /// Starts to count, and to send where somebody takes it.
    ///
    /// # Errors
    /// The collector's endpoint is none, or the environment asks for another protocol than
    /// `http/protobuf`.
    pub fn new(options: TelemetryOptions) -> Result<Self, ServeError> {
        let TelemetryOptions { service, endpoint, content, history } = options;
        let sends = endpoint.is_some() || otlp::is_in_environment();
        let exporter = sends.then(|| Exporter::new(endpoint.as_deref(), &service)).transpose()?;
        let with_content = content || otlp::wants_content();
        let stories = Mutex::new(Stories::new(with_content));
        let history = history.map(OnceLock::from).unwrap_or_default();
        let metrics = Metrics::new();
        Ok(Self(Arc::new(Inner { stories, metrics, exporter, with_content, history })))
    }

    /// Where to read the past of runs, for whoever opens a journal only later. The first counts.
    pub fn remember(&self, history: History) {
        // A second one is of the same journal.
        let _ = self.0.history.set(history);
    }

    /// Whether spans are sent to a collector.
    pub fn sends_spans(&self) -> bool {
        self.0.exporter.is_some()
    }

    /// Sees runs, and those of their delegates. Where spans are sent, the engines of those runs are
    /// to be [`traced`](callgate_engine::Engine::traced), so that tools and models are told theirs.
    pub fn observer(&self) -> Observer {
        let telemetry = self.clone();
        Arc::new(move |notice| {
            if let Notice::Record(record) = notice {
                telemetry.record(record);
            }
        })
    }

    /// Sees requests ([`HttpOptions::watch`](crate::http::HttpOptions::watch)).
    pub fn watch(&self) -> Watch {
        let telemetry = self.clone();
        Watch::new(move |passed| telemetry.0.metrics.http(passed))
    }

    /// `/metrics`, for tokens with the scope `read`.
    pub fn router(&self) -> Router {
        let telemetry = self.clone();
        let text = async move || {
            let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
            ([(header::CONTENT_TYPE, kind)], telemetry.metrics()).into_response()
        };
        Router::new()
            .route("/metrics", get(text))
            .route_layer(middleware::from_fn(|request, next| needs(Scope::Read, request, next)))
    }

    /// What was counted, as OpenMetrics text.
    pub fn metrics(&self) -> String {
        self.0.metrics.text()
    }

    /// The next record of a run.
    pub fn record(&self, record: &Record) {
        let mut past = Vec::new();
        self.look_up(record, &mut past);
        let mut told = Vec::new();
        {
            let mut stories = self.0.stories.lock().unwrap_or_else(PoisonError::into_inner);
            // The oldest of the family first.
            for records in past.iter().rev() {
                stories.recall(records, &mut told);
            }
            told.extend(stories.take(record));
        }
        for told in told {
            match told {
                Told::Fact(fact) => self.0.metrics.count(&fact),
                Told::Span(span) => {
                    if let Some(exporter) = &self.0.exporter {
                        exporter.send(*span);
                    }
                }
            }
        }
    }

    /// What the journal has of a run that was not heard of, and of those that it is a part of.
    fn look_up(&self, record: &Record, past: &mut Vec<Vec<Record>>) {
        let Some(history) = self.0.history.get() else { return };
        let knows =
            |run: &str| self.0.stories.lock().unwrap_or_else(PoisonError::into_inner).knows(run);
        let parent = |event: &Event| match event {
            Event::RunStarted(start) => start.parent.as_ref().map(|parent| parent.run.clone()),
            _ => None,
        };
        let mut wanted = match &record.event {
            Event::RunStarted(_) => parent(&record.event),
            _ => Some(record.run.clone()),
        };
        while let Some(run) = wanted.filter(|run| past.len() < GENERATIONS && !knows(run)) {
            let mut records = history(&run).unwrap_or_else(|error| {
                tracing::warn!(
                    run = %run, %error,
                    "the past of a run cannot be read: its trace and its counts begin in its middle",
                );
                Vec::new()
            });
            if run == record.run {
                records.retain(|past| past.seq < record.seq);
            }
            wanted = records.first().and_then(|first| parent(&first.event));
            if records.is_empty() {
                break;
            }
            past.push(records);
        }
    }

    /// Sends what is left. To be called once the runs have ended or left.
    pub async fn close(&self) {
        let inner = self.0.clone();
        // It waits for the collector.
        let closing = tokio::task::spawn_blocking(move || {
            if let Some(exporter) = &inner.exporter {
                exporter.close();
            }
        });
        if let Err(error) = closing.await {
            tracing::warn!(%error, "the last spans could not be sent");
        }
    }
}
