//! What all streamed responses have in common: framing, the first failure, the end.

use crate::{
    Delta, ProviderError, ProviderErrorKind, Reply, Retry, StreamDecoder, failure,
    finish::{self, Told},
    lines::Lines,
    sse::{Decoder, SseError},
};

/// What one API's events come to.
pub(crate) trait Events: Send {
    /// The next event's data.
    fn take(&mut self, data: &str, out: &mut Vec<Delta>) -> Result<(), Trouble>;

    /// Nothing more is to come.
    fn is_done(&self) -> bool;

    /// Why the reply ended is known.
    fn is_ending(&self) -> bool {
        self.is_done()
    }

    /// The reply, once it has ended.
    fn reply(&mut self, out: &mut Vec<Delta>) -> Result<Reply, ProviderError>;
}

/// An event that ends the stream.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// It is not readable.
    Json(serde_json::Error),
    /// It is an error of the provider's.
    Provider(Box<ProviderError>),
}

impl From<serde_json::Error> for Trouble {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(error)
    }
}

impl From<ProviderError> for Trouble {
    fn from(error: ProviderError) -> Self {
        Self::Provider(Box::new(error))
    }
}

/// How events are divided.
pub(crate) trait Framing: Default + Send {
    fn push(&mut self, bytes: &[u8], on_event: impl FnMut(&str)) -> Result<(), SseError>;
    fn finish(&mut self, on_event: impl FnMut(&str)) -> Result<(), SseError>;
}

impl Framing for Decoder {
    fn push(&mut self, bytes: &[u8], mut on_event: impl FnMut(&str)) -> Result<(), SseError> {
        Self::push(self, bytes, |event| on_event(event.data))
    }

    fn finish(&mut self, mut on_event: impl FnMut(&str)) -> Result<(), SseError> {
        Self::finish(self, |event| on_event(event.data))
    }
}

impl Framing for Lines {
    fn push(&mut self, bytes: &[u8], on_event: impl FnMut(&str)) -> Result<(), SseError> {
        Self::push(self, bytes, on_event)
    }

    fn finish(&mut self, on_event: impl FnMut(&str)) -> Result<(), SseError> {
        Self::finish(self, on_event)
    }
}

/// A decoder of these events.
pub(crate) struct Stream<F, E> {
    framing: F,
    guard: Guard<E>,
    told: Told,
}

struct Guard<E> {
    events: E,
    failed: Option<ProviderError>,
}

impl<F: Framing, E: Events> Stream<F, E> {
    pub(crate) fn new(events: E) -> Self {
        Self { framing: F::default(), guard: Guard { events, failed: None }, told: Told::default() }
    }
}

impl<F: Framing, E: Events> StreamDecoder for Stream<F, E> {
    fn push(&mut self, bytes: &[u8], out: &mut Vec<Delta>) {
        let Self { framing, guard, told } = self;
        let before = out.len();
        let pushed = framing.push(bytes, |data| guard.take(data, true, out));
        guard.note(pushed);
        told.note(&out[before..]);
    }

    fn is_done(&self) -> bool {
        self.guard.is_done()
    }

    fn is_ending(&self) -> bool {
        self.is_done() || self.guard.events.is_ending()
    }

    fn finish(&mut self, out: &mut Vec<Delta>) -> Result<Reply, ProviderError> {
        let Self { framing, guard, told } = self;
        let before = out.len();
        let pushed = framing.finish(|data| guard.take(data, false, out));
        guard.note(pushed);
        if let Some(error) = &guard.failed {
            return Err(error.clone());
        }
        if !guard.events.is_ending() {
            return Err(finish::incomplete());
        }
        told.note(&out[before..]);
        let reply = guard.events.reply(out)?;
        told.rest(&reply, out);
        Ok(reply)
    }
}

impl<E: Events> Guard<E> {
    fn is_done(&self) -> bool {
        self.failed.is_some() || self.events.is_done()
    }

    fn note(&mut self, pushed: Result<(), SseError>) {
        if let Err(error) = pushed
            && !self.is_done()
        {
            let message = error.to_string();
            self.failed =
                Some(ProviderError::new(ProviderErrorKind::BadReply, message, Retry::Never));
        }
    }

    /// `whole` is false for what the end of the stream closed: it may be cut.
    fn take(&mut self, data: &str, whole: bool, out: &mut Vec<Delta>) {
        let data = data.trim();
        // The marker is OpenAI Chat's; gateways send it everywhere.
        if self.is_done() || data.is_empty() || data == "[DONE]" {
            return;
        }
        match self.events.take(data, out) {
            Ok(()) => {}
            // A cut event is no event; whether it is missed, the reply's own end decides.
            Err(Trouble::Json(error)) if !whole && is_cut(data, &error) => {}
            Err(Trouble::Json(error)) => self.failed = Some(failure::unreadable(data, &error)),
            Err(Trouble::Provider(error)) => self.failed = Some(*error),
        }
    }
}

/// Whether an unreadable last event is one that broke off.
pub(crate) fn is_cut(data: &str, error: &serde_json::Error) -> bool {
    // A number that breaks off is called invalid, at its end.
    let last = data.lines().last().unwrap_or_default();
    let at_end = error.line() == data.lines().count() && error.column() >= last.len();
    error.is_eof() || at_end || "[DONE]".starts_with(data)
}
