//! One attempt: a request out, a response in.

use std::{future::Future, task::Poll, time::Duration};

use callgate_wire::{
    AssistantPart, Delta, ProviderError, ProviderErrorKind, Reply, Request, Retry,
};
use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION};

use super::{
    HttpModel,
    failure::{self, Lost},
    retry::Advice,
    transport::Answer,
};
use crate::{Keep, OnDelta};

/// How long the end of a body may take to come once the reply is whole. A connection whose body
/// was read to its end can be used again; it is not worth more than this.
const END_OF_BODY: Duration = Duration::from_millis(50);

/// The most that is reserved for a body before any of it is here.
const HINT: usize = 64 << 10;

/// What is asked, and who wants to know of it.
#[derive(Clone, Copy)]
pub(super) struct Attempt<'a> {
    pub(super) url: &'a str,
    pub(super) request: &'a Request,
    /// Asks for a stream.
    pub(super) show: Option<OnDelta<'a>>,
    pub(super) keep: Option<&'a Keep>,
}

impl HttpModel {
    /// `sent` is the attempt's request on its way.
    pub(super) async fn exchange(
        &self,
        sent: impl Future<Output = Result<Answer, Lost>>,
        attempt: &Attempt<'_>,
    ) -> Result<Reply, ProviderError> {
        let sent = match attempt.show {
            Some(_) => within(self.options.idle, attempt.url, sent).await?,
            None => sent.await,
        };
        let mut answer =
            sent.map_err(|lost| failure::unanswered(lost, &self.endpoint, attempt.url))?;
        let status = answer.status;
        tracing::debug!(model = %self.id, status, "the model answers");
        if let Some(keep) = attempt.keep {
            keep.status(status);
        }

        if let Some(location) = answer.headers.get(LOCATION)
            && (300..400).contains(&status)
        {
            let location = String::from_utf8_lossy(location.as_bytes());
            return Err(failure::moved(attempt.url, &location, status));
        }
        if let Some(show) = attempt.show
            && (200..300).contains(&status)
            && may_be_events(&answer.headers)
        {
            // Apart, so that a reply that is not streamed has no place for it.
            return Box::pin(self.stream(answer, show, attempt)).await;
        }
        // The headers lie in the memory that is read into: let go, it is there for what comes next.
        let advice = Advice::of(&std::mem::take(&mut answer.headers));
        let body = self.body(&mut answer, attempt).await?;
        let reply = self.codec.decode(attempt.request, status, advice.after_ms, &body);
        let reply = reply.map_err(|mut error| {
            advice.overrule(&mut error);
            error
        })?;
        if let Some(show) = attempt.show {
            // The server did not stream although it was asked to.
            for delta in deltas(&reply) {
                show(delta);
            }
        }
        Ok(reply)
    }

    async fn body(
        &self,
        answer: &mut Answer,
        attempt: &Attempt<'_>,
    ) -> Result<Vec<u8>, ProviderError> {
        let limit = self.options.max_body;
        // What the server says of the length is no more than a hint, so it gets no more than this.
        let told = answer.told_length().and_then(|told| usize::try_from(told).ok());
        let mut body = Vec::with_capacity(told.unwrap_or_default().min(HINT));
        loop {
            match answer.chunk().await {
                Ok(Some(chunk)) if body.len() + chunk.len() > limit => {
                    return Err(failure::too_large(attempt.url, limit));
                }
                Ok(Some(chunk)) => {
                    if let Some(keep) = attempt.keep {
                        keep.response(&chunk);
                    }
                    body.extend_from_slice(&chunk);
                }
                Ok(None) => return Ok(body),
                Err(lost) => return Err(failure::broken_off(&lost, attempt.url)),
            }
        }
    }

    async fn stream(
        &self,
        mut answer: Answer,
        show: OnDelta<'_>,
        attempt: &Attempt<'_>,
    ) -> Result<Reply, ProviderError> {
        let Attempt { url, request, keep, .. } = *attempt;
        let options = &self.options;
        let mut decoder = self.codec.stream(request);
        let mut deltas = Vec::new();
        let mut shown = false;
        let mut taken = 0;
        let broken = loop {
            if decoder.is_done() {
                let _ = tokio::time::timeout(END_OF_BODY, answer.chunk()).await;
                break None;
            }
            let limit = if decoder.is_ending() { options.ending } else { options.idle };
            let chunk = match within(limit, url, answer.chunk()).await {
                Ok(Ok(Some(chunk))) => chunk,
                Ok(Ok(None)) => break None,
                Ok(Err(lost)) => break Some(failure::broken_off(&lost, url)),
                Err(silent) => break Some(silent),
            };
            taken += chunk.len();
            if taken > options.max_body {
                return Err(failure::too_large(url, options.max_body));
            }
            if let Some(keep) = keep {
                keep.response(&chunk);
            }
            decoder.push(&chunk, &mut deltas);
            shown |= !deltas.is_empty();
            deltas.drain(..).for_each(show);
        };
        let ended = decoder.is_ending();
        let reply = decoder.finish(&mut deltas);
        deltas.drain(..).for_each(show);
        match broken {
            // What broke after the reply had ended has lost nothing of it.
            Some(mut error) if !ended => {
                if shown {
                    error.kind = ProviderErrorKind::StreamIncomplete;
                    error.retry = Retry::Backoff;
                }
                Err(error)
            }
            _ => reply,
        }
    }
}

async fn within<T>(
    limit: Duration,
    url: &str,
    future: impl Future<Output = T>,
) -> Result<T, ProviderError> {
    let mut future = std::pin::pin!(future);
    // Chunks come in bursts: for what is here already nobody looks at the clock.
    let here = std::future::poll_fn(|context| Poll::Ready(future.as_mut().poll(context)));
    if let Poll::Ready(came) = here.await {
        return Ok(came);
    }
    tokio::time::timeout(limit, future).await.map_err(|_| failure::silent(url, limit))
}

/// JSON and web pages are read whole: servers answer so when they do not know streams, and when
/// they are not the server that was meant.
fn may_be_events(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE);
    let content_type = content_type.map_or(&b""[..], |value| value.as_bytes());
    let content_type = content_type.trim_ascii_start();
    ![&b"application/json"[..], b"text/html"].iter().any(|whole| {
        content_type.get(..whole.len()).is_some_and(|start| start.eq_ignore_ascii_case(whole))
    })
}

/// A whole reply, as a stream of it would have been shown.
pub(crate) fn deltas(reply: &Reply) -> impl Iterator<Item = Delta> {
    let mut calls = 0;
    reply
        .content
        .iter()
        .flat_map(move |part| match part {
            AssistantPart::Text { text } => [Some(Delta::Text((**text).into())), None],
            AssistantPart::Reasoning { text, opaque } => [
                Some(Delta::Reasoning((**text).into())).filter(|_| !text.is_empty()),
                opaque.as_ref().map(|_| Delta::State(part.clone())),
            ],
            AssistantPart::Call(call) => {
                let index = calls;
                calls += 1;
                [Some(Delta::Call { index, name: (*call.name).into() }), None]
            }
            AssistantPart::Opaque(_) => [Some(Delta::State(part.clone())), None],
        })
        .flatten()
}
