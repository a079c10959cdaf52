//! Bodies, read whole: within their length, their time, and the memory of all of them.

use std::{sync::Arc, time::Duration};

use axum::{
    body::{Body, HttpBody as _},
    extract::Request,
};
use http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{HttpOptions, Refusal};

/// What memory is counted in; a body that fits into one is not counted.
const UNIT: usize = 64 * 1024;

/// How much of a refused request's body is still read, and for how long: a client that is cut off
/// while it writes may never see why.
const LINGER: (usize, Duration) = (8 * 1024 * 1024, Duration::from_secs(2));

/// What bodies may have.
#[derive(Debug)]
pub(super) struct Bodies {
    most: usize,
    /// By the beginning of a path, the longest first.
    under: Vec<(String, usize)>,
    patience: Duration,
    units: usize,
    memory: Arc<Semaphore>,
}

/// Keeps a body's memory for as long as its request is there.
#[derive(Debug, Clone)]
struct Reserved(#[expect(dead_code, reason = "it is dropped")] Arc<OwnedSemaphorePermit>);

impl Bodies {
    pub(super) fn of(options: &HttpOptions) -> Self {
        let mut under = options.max_bodies.clone();
        under.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        let largest = under.iter().map(|(_, most)| *most).max().unwrap_or(0);
        // Enough for the largest, or it would wait for ever.
        let most = options.max_buffered.max(largest).max(options.max_body);
        let units = most.div_ceil(UNIT).min(Semaphore::MAX_PERMITS);
        Self {
            most: options.max_body,
            under,
            patience: options.body_timeout,
            units,
            memory: Arc::new(Semaphore::new(units)),
        }
    }

    /// The same request with its whole body at hand.
    pub(super) async fn whole(&self, request: Request) -> Result<Request, Refusal> {
        if request.body().is_end_stream() {
            return Ok(request);
        }
        let path = request.uri().path();
        let under = self.under.iter().find(|(beginning, _)| path.starts_with(beginning));
        let most = under.map_or(self.most, |(_, most)| *most);
        let long = || {
            let why = format!("a body may have {most} bytes, and this one has more");
            Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_long", why)
        };
        let (mut parts, mut body) = request.into_parts();
        let hint = body.size_hint();
        if hint.lower() > u64::try_from(most).unwrap_or(u64::MAX) {
            linger(&parts.headers, &mut body).await;
            return Err(long());
        }
        let announced = hint.exact().and_then(|length| usize::try_from(length).ok());
        let mut reserved = self.reserve(announced.unwrap_or(most).min(most)).await?;
        let reading = Limited::new(&mut body, most).collect();
        match tokio::time::timeout(self.patience, reading).await {
            Ok(Ok(read)) => {
                let read = read.to_bytes();
                // What was kept for more than came is free again.
                let kept = (read.len() > UNIT).then(|| reserved.as_mut()?.split(units(read.len())));
                if let Some(kept) = kept.flatten() {
                    parts.extensions.insert(Reserved(Arc::new(kept)));
                }
                Ok(Request::from_parts(parts, Body::from(read)))
            }
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                linger(&parts.headers, &mut body).await;
                Err(long())
            }
            Ok(Err(error)) => {
                tracing::debug!(%error, "a body broke");
                let why = "the body could not be read to its end";
                Err(Refusal::new(StatusCode::BAD_REQUEST, "body_broken", why))
            }
            Err(_) => {
                let seconds = self.patience.as_secs_f32();
                let why = format!("the body took more than {seconds} s to come");
                Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "body_too_slow", why))
            }
        }
    }

    /// Memory for a body, once there is some.
    async fn reserve(&self, length: usize) -> Result<Option<OwnedSemaphorePermit>, Refusal> {
        if length <= UNIT {
            return Ok(None);
        }
        let units = units(length).min(self.units);
        let waiting =
            self.memory.clone().acquire_many_owned(u32::try_from(units).unwrap_or(u32::MAX));
        match tokio::time::timeout(self.patience, waiting).await {
            Ok(Ok(permit)) => Ok(Some(permit)),
            _ => {
                let why = "too many large requests are here at the same time; try again";
                Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "too_many_bodies", why)
                    .retry_after(Duration::from_secs(1)))
            }
        }
    }
}

fn units(length: usize) -> usize {
    length.div_ceil(UNIT)
}

/// Reads on for a while, so that the client hears the answer.
pub(super) async fn linger(headers: &HeaderMap, body: &mut Body) {
    // Whoever waits for a word before it sends its body gets the refusal instead.
    if headers.contains_key(header::EXPECT) {
        return;
    }
    let (most, patience) = LINGER;
    let reading = async {
        let mut left = most;
        while let Some(Ok(frame)) = body.frame().await {
            match left.checked_sub(frame.data_ref().map_or(0, |piece| piece.len())) {
                Some(rest) => left = rest,
                None => return,
            }
        }
    };
    // Late or not, the answer comes now.
    let _ = tokio::time::timeout(patience, reading).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(path: &str, length: usize) -> Request {
        let body = Body::from(vec![b'x'; length]);
        http::Request::builder().uri(path).body(body).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn lengths_and_memory_have_their_limits() {
        let bodies = Bodies::of(&HttpOptions {
            max_body: 100,
            max_bodies: vec![("/v1/".to_owned(), 4 * UNIT), ("/v1/small/".to_owned(), 10)],
            max_buffered: 6 * UNIT,
            ..HttpOptions::default()
        });
        let status = |path: &'static str, length: usize| {
            let (bodies, request) = (&bodies, request(path, length));
            async move { bodies.whole(request).await.map_or_else(|no| no.status.as_u16(), |_| 200) }
        };
        let rows = [
            ("/api", 100, 200),
            ("/api", 101, 413),
            ("/v1", 101, 413),
            ("/v1/messages", 4 * UNIT, 200),
            ("/v1/messages", 4 * UNIT + 1, 413),
            ("/v1/small/a", 11, 413),
        ];
        for (path, length, expected) in rows {
            assert_eq!(status(path, length).await, expected, "{path} {length}");
        }
        let kept = bodies.whole(request("/v1/messages", 3 * UNIT)).await.unwrap();
        assert_eq!(status("/v1/messages", 4 * UNIT).await, 503);
        assert_eq!(status("/v1/messages", 3 * UNIT).await, 200);
        assert_eq!(status("/v1/messages", UNIT).await, 200);
        drop(kept);
        assert_eq!(status("/v1/messages", 4 * UNIT).await, 200);
    }
}
