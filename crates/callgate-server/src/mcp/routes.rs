//! MCP over HTTP: one path for both eras.
//!
//! rmcp's service does the protocol. Round it, bodies are read with their limit and in their time,
//! arguments are cut out on the way in, and structured results are put in place on the way out.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    response::Response,
    routing::any,
};
use bytes::{Buf as _, BytesMut};
use futures_util::Stream;
use http::{HeaderValue, Method, StatusCode, header};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use rmcp::{
    ServerHandler,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use serde_json::json;
use tokio_util::task::{TaskTracker, task_tracker::TaskTrackerToken};

use super::{
    McpServer,
    raw::{Head, Marker, RawArguments},
};
use crate::http::{HttpOptions, Identity, Scope, lacks};

/// How long a legacy session may be silent beyond what its slowest tool may take.
const IDLE: Duration = Duration::from_secs(60 * 60);

impl<H: ServerHandler> McpServer<H> {
    /// `/mcp`, to be mounted behind the [`http`](crate::http) room's checks.
    pub fn router(&self, options: &HttpOptions) -> Router {
        let mut sessions = LocalSessionManager::default();
        // A session without a word is ended, and with it its calls: not before the slowest of them.
        let slowest = self.shared.held().catalog.tools().map(|tool| tool.timeout).max();
        sessions.session_config.keep_alive = Some(IDLE + slowest.unwrap_or_default());
        let sessions = Arc::new(sessions);
        let config = StreamableHttpServerConfig::default()
            // The room checks both, before anything is routed.
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(options.max_body)
            .with_cancellation_token(self.shared.closed.clone());
        let server = self.clone();
        let service =
            StreamableHttpService::new(move || Ok(server.clone()), sessions.clone(), config);
        let door = Door {
            service,
            sessions,
            max_sessions: options.max_sessions,
            marker: self.shared.marker.clone(),
            answers: self.shared.answers.clone(),
            max_body: options.max_body,
            patience: options.body_timeout,
        };
        Router::new().route("/mcp", any(pass::<H>)).with_state(door)
    }
}

struct Door<H> {
    service: StreamableHttpService<McpServer<H>, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    max_sessions: usize,
    marker: Marker,
    answers: TaskTracker,
    max_body: usize,
    patience: Duration,
}

impl<H> Clone for Door<H> {
    fn clone(&self) -> Self {
        Self {
            service: self.service.clone(),
            sessions: self.sessions.clone(),
            max_sessions: self.max_sessions,
            marker: self.marker.clone(),
            answers: self.answers.clone(),
            max_body: self.max_body,
            patience: self.patience,
        }
    }
}

async fn pass<H: ServerHandler>(State(door): State<Door<H>>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let reading = Limited::new(body, door.max_body).collect();
    let body = match tokio::time::timeout(door.patience, reading).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let message = format!("a body may have {} bytes, and this one has more", door.max_body);
            return refused(StatusCode::PAYLOAD_TOO_LARGE, -32600, &message);
        }
        Ok(Err(error)) => {
            let message = format!("the body could not be read: {error}");
            return refused(StatusCode::BAD_REQUEST, -32700, &message);
        }
        Err(_) => {
            return refused(StatusCode::REQUEST_TIMEOUT, -32600, "the body took too long to come");
        }
    };
    let head = Head::of(&body);
    let is_call = head.as_ref().is_some_and(Head::is_call);
    if let Some(identity) = parts.extensions.get::<Identity>() {
        // Whoever may call may see what there is to call.
        let may = identity.may(Scope::Run) || (!is_call && identity.may(Scope::Read));
        if !may {
            return lacks(Scope::Run, &parts.extensions);
        }
    }
    if head.as_ref().is_some_and(Head::is_initialize)
        && door.sessions.sessions.read().await.len() >= door.max_sessions
    {
        let message = "there are as many sessions as this server keeps; try again later";
        return refused(StatusCode::SERVICE_UNAVAILABLE, -32603, message);
    }
    // Whoever closes the server waits until calls are answered, not only until they ended.
    let answer = is_call.then(|| door.answers.token());
    if let Some(raw) = head.as_ref().and_then(RawArguments::of_message) {
        parts.extensions.insert(raw);
    }
    let is_delete = parts.method == Method::DELETE;
    let request = Request::from_parts(parts, Full::new(body.clone()));
    let mut response = spliced(door.service.handle(request).await, door.marker, answer).await;
    if is_delete && response.status() == StatusCode::ACCEPTED {
        // The session is gone, not going: clients of the Python SDK take 202 for a failure.
        *response.status_mut() = StatusCode::OK;
    }
    response
}

/// An error of the door's own, in JSON-RPC's form.
fn refused(status: StatusCode, code: i32, message: &str) -> Response {
    let error =
        json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": message } });
    let mut response = Response::new(Body::from(error.to_string()));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

type Answer = http::Response<http_body_util::combinators::BoxBody<Bytes, Infallible>>;

/// A response with structured results in their places.
async fn spliced(answer: Answer, marker: Marker, token: Option<TaskTrackerToken>) -> Response {
    let (mut parts, body) = answer.into_parts();
    let is_stream = parts
        .headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    if is_stream {
        let lines = SplicedLines {
            inner: body.into_data_stream(),
            buffer: BytesMut::new(),
            marker,
            _token: token,
        };
        return Response::from_parts(parts, Body::from_stream(lines));
    }
    let body = match body.collect().await {
        Ok(body) => body.to_bytes(),
        Err(never) => match never {},
    };
    // The length is another one.
    parts.headers.remove(header::CONTENT_LENGTH);
    let body = Bytes::from(marker.splice(&body).into_owned());
    Response::from_parts(parts, Body::from(body))
}

/// A stream of events, line by line: a message is one `data:` line, and a line may come in pieces.
struct SplicedLines<S> {
    inner: S,
    buffer: BytesMut,
    marker: Marker,
    /// Gone when the answer is out, or nobody reads it any more.
    _token: Option<TaskTrackerToken>,
}

impl<S: Stream<Item = Result<Bytes, Infallible>> + Unpin> Stream for SplicedLines<S> {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            match ready!(Pin::new(&mut self.inner).poll_next(context)) {
                Some(Ok(piece)) => {
                    self.buffer.extend_from_slice(piece.chunk());
                    let Some(end) = memchr::memrchr(b'\n', &self.buffer) else { continue };
                    let lines = self.buffer.split_to(end + 1);
                    let lines = self.marker.splice(&lines).into_owned();
                    return Poll::Ready(Some(Ok(lines.into())));
                }
                Some(Err(never)) => match never {},
                None if self.buffer.is_empty() => return Poll::Ready(None),
                None => {
                    let rest = self.buffer.split();
                    let rest = self.marker.splice(&rest).into_owned();
                    return Poll::Ready(Some(Ok(rest.into())));
                }
            }
        }
    }
}
