//! `GET /api/runs/{id}/events`: a page of them as JSON, or all that come as server-sent events.
//!
//! The stream can be taken up again where it broke off: the id of each event is its position, and
//! a browser sends the last one it saw by itself (`Last-Event-ID`, HTML Living Standard 9.2).

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{body, response::Response};
use bytes::Bytes;
use callgate_engine::RunState;
use callgate_machine::Record;
use callgate_wire::Delta;
use futures_util::{Stream, StreamExt as _, stream};
use http::{HeaderValue, Method, StatusCode, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    Api,
    rest::{By, Header, Info, Output, Path, Problem, Query, Route, route},
    show::Run,
};
use crate::{
    http::Scope,
    runs::{Seen, SeenStream},
};

/// How often a stream that has nothing to say shows that it is alive.
const ALIVE: Duration = Duration::from_secs(15);

/// Events a page, if nobody says otherwise.
const PAGE: usize = 200;

/// Which events.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Which {
    /// Those after this position; from the first one on where absent.
    #[serde(default)]
    #[schemars(range(max = 9_007_199_254_740_991_u64))]
    after: Option<u64>,
    /// As JSON: at most so many. Default: 200.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
    /// As a stream: whether pieces of replies that are still coming are told, too. Default: yes.
    #[serde(default)]
    deltas: Option<bool>,
}

/// How they are wanted.
#[derive(Debug, Deserialize, JsonSchema)]
struct How {
    /// The position of the last event that was seen; before `after`.
    #[serde(rename = "Last-Event-ID", default)]
    #[schemars(regex(pattern = "^[0-9]{1,15}$"))]
    last: Option<String>,
}

/// A page of events.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EventPage {
    /// The events.
    events: Vec<Record>,
    /// What to ask for with `after` next: the position of the last event here.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<u64>,
    /// Whether the run is over and these are its last events.
    is_end: bool,
}

/// How they are told.
enum Told {
    Page(Box<EventPage>),
    Stream(SeenStream, bool, Arc<Api>, String),
    /// Nothing follows any more: whoever would come back for more need not.
    Nothing,
}

pub(super) fn routes() -> Vec<Route> {
    vec![route(
        Method::GET,
        "/api/runs/{id}/events",
        Scope::Read,
        Info {
            id: "runEvents",
            tag: "runs",
            summary: "What happened in a run, and what happens",
            about: "As JSON: a page of the events that are kept. With `Accept: text/event-stream`: \
                    all of them, then what happens as it happens, until the run is over. Events of \
                    the stream: `record` (its `id` is the event's position), `delta` (a piece of a \
                    reply that is still coming; not kept), `end` (the run is over), `error`. Where \
                    nothing follows the position that is given, since the run is over, a stream is \
                    answered with 204, so that a browser stops asking.",
            problems: &[400, 403, 404, 502, 503],
        },
        events,
    )]
}

/// What is accepted.
#[derive(Debug)]
struct Accepts(bool);

impl super::rest::Input for Accepts {
    fn describe(_: &mut super::rest::Operation<'_>) {}

    fn take(asked: &mut super::rest::Asked) -> Result<Self, Problem> {
        let accepted = asked.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
        Ok(Self(accepted.is_some_and(|kinds| kinds.contains("text/event-stream"))))
    }
}

async fn events(
    api: Arc<Api>,
    (By(_), Path(run), Query(which), Header(how), Accepts(is_stream)): (
        By,
        Path<Run>,
        Query<Which>,
        Header<How>,
        Accepts,
    ),
) -> Result<Told, Problem> {
    let after = how.last.and_then(|last| last.parse().ok()).or(which.after);
    if !is_stream {
        let limit = which.limit.unwrap_or(PAGE);
        let page = page(&api, &run.id, after, limit).await?;
        return Ok(Told::Page(Box::new(page)));
    }
    let summary = api.host.summary(&run.id).await?;
    let next = after.map_or(0, |after: u64| after.saturating_add(1));
    if summary.state.is_over() && next >= summary.events && after.is_some() {
        return Ok(Told::Nothing);
    }
    let seen = api.host.watch(&run.id, after).await?;
    Ok(Told::Stream(seen, which.deltas.unwrap_or(true), api, run.id))
}

async fn page(
    api: &Api,
    run: &str,
    after: Option<u64>,
    limit: usize,
) -> Result<EventPage, Problem> {
    let summary = api.host.summary(run).await?;
    let from = after.map_or(0, |after| after.saturating_add(1));
    let events = api.host.records(run, from, limit).await?;
    let last = events.last().map(|event| event.seq);
    let is_end = summary.state.is_over() && last.map_or(from, |last| last + 1) >= summary.events;
    Ok(EventPage { events, after: last.or(after), is_end })
}

impl Output for Told {
    fn describe(operation: &mut super::rest::Operation<'_>) {
        operation.answer::<EventPage>(200, "application/json", "The events.");
        operation.answer::<String>(200, "text/event-stream", "The events.");
        operation.nothing(204, "Nothing follows: the run is over.");
    }

    fn respond(self) -> Response {
        match self {
            Self::Page(page) => super::rest::Json(*page).respond(),
            Self::Nothing => {
                let mut response = Response::new(body::Body::empty());
                *response.status_mut() = StatusCode::NO_CONTENT;
                response
            }
            Self::Stream(seen, deltas, api, run) => streamed(seen, deltas, api, run),
        }
    }
}

fn streamed(seen: SeenStream, deltas: bool, api: Arc<Api>, run: String) -> Response {
    let told = seen.filter_map(move |seen| {
        let told = match seen {
            Ok(Seen::Delta { .. }) if !deltas => None,
            Ok(seen) => told(&seen),
            Err(error) => {
                let problem = Problem::from(error);
                Some(frame("error", None, &json!(problem)))
            }
        };
        std::future::ready(told)
    });
    let end = stream::once(async move {
        // A server that ends lets watchers go; they come back to the next one.
        match api.host.state(&run).await {
            Ok(state) if state.is_over() => Some(end(state)),
            _ => None,
        }
    });
    let all = told.chain(end.filter_map(std::future::ready));
    let alive = alive(all).map(|bytes| Ok::<Bytes, Infallible>(Bytes::from(bytes)));
    let mut response = Response::new(body::Body::from_stream(alive));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Proxies such as nginx would gather it otherwise.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Shows now and then that the stream is alive.
fn alive(frames: impl Stream<Item = String> + Send) -> impl Stream<Item = String> + Send {
    let frames = Box::pin(frames);
    stream::unfold((frames, true), |(mut frames, is_first)| async move {
        if is_first {
            // So that whoever connected sees it at once.
            return Some((": callgate\n\n".to_owned(), (frames, false)));
        }
        match tokio::time::timeout(ALIVE, frames.next()).await {
            Ok(Some(frame)) => Some((frame, (frames, false))),
            Ok(None) => None,
            Err(_) => Some((": alive\n\n".to_owned(), (frames, false))),
        }
    })
}

fn told(seen: &Seen) -> Option<String> {
    match seen {
        Seen::Record(record) => Some(frame("record", Some(record.seq), &json!(record))),
        Seen::Delta { run, hop, delta } => {
            let mut told = json!({ "run": run, "hop": hop });
            match delta {
                Delta::Text(text) => told["text"] = text.as_str().into(),
                Delta::Reasoning(text) => told["reasoning"] = text.as_str().into(),
                Delta::Call { index, name } => {
                    told["call"] = json!({ "index": index, "name": name });
                }
                // Nothing to show.
                _ => return None,
            }
            Some(frame("delta", None, &told))
        }
    }
}

fn end(state: RunState) -> String {
    frame("end", None, &json!({ "state": state }))
}

fn frame(name: &str, id: Option<u64>, data: &Value) -> String {
    let id = id.map_or_else(String::new, |id| format!("id: {id}\n"));
    // JSON has no line breaks of its own.
    format!("{id}event: {name}\ndata: {data}\n\n")
}
