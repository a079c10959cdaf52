//! Responses.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use callgate_wire::inbound::{Dialect, Refusal};
use futures_util::Stream;
use http::{HeaderName, HeaderValue, StatusCode, header};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::task::AbortOnDropHandle;

use super::json;
use crate::proxy::{live::Piece, told::Told};

/// A failure before anything was sent.
pub(super) fn refused(dialect: Dialect, refusal: &Refusal, told: Option<&Told>) -> Response {
    let (status, body) = dialect.inbound().refuse(refusal);
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = json(status, body);
    let headers = response.headers_mut();
    if let Some(ms) = refusal.retry_after_ms {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(ms.div_ceil(1000)));
        headers.insert(HeaderName::from_static("retry-after-ms"), HeaderValue::from(ms));
    }
    if let Some(told) = told {
        told.headers(headers);
    }
    response
}

/// A whole answer.
pub(super) fn whole(body: Vec<u8>, told: &Told) -> Response {
    let mut response = json(StatusCode::OK, body);
    told.headers(response.headers_mut());
    response
}

/// A stream that has begun.
pub(super) fn stream(
    first: Bytes,
    rest: UnboundedReceiver<Piece>,
    task: AbortOnDropHandle<()>,
) -> Response {
    let events = Events { first: Some(first), rest, _task: task };
    let mut response = Response::new(Body::from_stream(events));
    let headers = response.headers_mut();
    headers
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Proxies in between are not to wait for more.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

/// The body of a stream. A client that goes away drops it, and with it what is at work for it.
struct Events {
    first: Option<Bytes>,
    rest: UnboundedReceiver<Piece>,
    _task: AbortOnDropHandle<()>,
}

impl Stream for Events {
    type Item = Result<Bytes, std::convert::Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        self.rest.poll_recv(context).map(|piece| match piece {
            Some(Piece::Bytes(bytes)) => Some(Ok(bytes)),
            // Not after the first bytes.
            Some(Piece::Refused(_)) | None => None,
        })
    }
}
