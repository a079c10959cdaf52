//! One JSON line a request, for tests and for a look at what really arrived.

use std::{
    fs::{File, OpenOptions},
    io::Write as _,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::{Request, State},
    http::{HeaderMap, StatusCode},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use serde::Serialize;

use crate::api::ApiError;

/// Larger bodies are refused before they are read whole.
const MAX_BODY: usize = 64 * 1024;

/// The log file. A line is written before the response leaves, so who has the answer can read it.
#[derive(Debug)]
pub(crate) struct RequestLog(Mutex<File>);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    at_ms: u64,
    method: &'a str,
    path: &'a str,
    /// As it was sent, not decoded.
    query: Option<&'a str>,
    idempotency_key: Option<&'a str>,
    /// Set by test clients to tell their requests apart.
    request_id: Option<&'a str>,
    /// As it was sent, digits and all.
    body: Option<&'a str>,
    status: u16,
}

impl RequestLog {
    pub(crate) fn open(path: &Path) -> std::io::Result<Self> {
        Ok(Self(Mutex::new(OpenOptions::new().create(true).append(true).open(path)?)))
    }

    fn write(&self, line: &Line<'_>) -> std::io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        // One write a line: an appending file keeps lines of several processes whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write_all(&text)
    }
}

/// Middleware that logs, or only limits the body when there is no log.
pub(crate) async fn requests(
    State(log): State<Option<Arc<RequestLog>>>,
    request: Request,
    next: Next,
) -> Response {
    let at_ms = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX));
    let (parts, body) = request.into_parts();
    let (method, uri, headers) = (parts.method.clone(), parts.uri.clone(), parts.headers.clone());
    let (body, response) = match to_bytes(body, MAX_BODY).await {
        Ok(body) => {
            let request = Request::from_parts(parts, Body::from(body.clone()));
            (body, next.run(request).await)
        }
        Err(_) => {
            let error = ApiError::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "body_too_large",
                format!("the body is larger than {MAX_BODY} bytes, or was cut"),
            );
            (Bytes::new(), error.into_response())
        }
    };
    if let Some(log) = log {
        let text = String::from_utf8_lossy(&body);
        let line = Line {
            at_ms,
            method: method.as_str(),
            path: uri.path(),
            query: uri.query(),
            idempotency_key: header(&headers, "idempotency-key"),
            request_id: header(&headers, "x-request-id"),
            body: (!text.is_empty()).then_some(&*text),
            status: response.status().as_u16(),
        };
        if let Err(error) = log.write(&line) {
            eprintln!("support-service: the log cannot be written: {error}");
        }
    }
    response
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
