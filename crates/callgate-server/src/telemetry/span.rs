//! A span, before anybody exports it.

use std::{
    borrow::Cow,
    time::{Duration, SystemTime},
};

use callgate_engine::trace::{SpanId, TraceId};
use opentelemetry::{KeyValue, trace::SpanKind};

/// The most events of a span; further ones are counted.
const MOST_EVENTS: usize = 128;

/// Where a run stands among traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) trace: TraceId,
    /// What the run's own span is under, and whether that is another process's.
    pub(super) parent: Option<(SpanId, bool)>,
    /// Whether whoever began the trace records it.
    pub(super) sampled: bool,
}

/// Something that took time.
#[derive(Debug, Clone)]
pub(super) struct Span {
    pub(super) name: Cow<'static, str>,
    pub(super) kind: SpanKind,
    pub(super) trace: TraceId,
    pub(super) id: SpanId,
    pub(super) parent: Option<(SpanId, bool)>,
    /// In milliseconds since 1970.
    pub(super) began: u64,
    pub(super) ended: u64,
    pub(super) attributes: Vec<KeyValue>,
    pub(super) events: Events,
    /// What went wrong: `error.type`.
    pub(super) error: Option<Cow<'static, str>>,
}

/// What happened during a span.
#[derive(Debug, Clone, Default)]
pub(super) struct Events {
    pub(super) list: Vec<Happened>,
    pub(super) dropped: u32,
}

#[derive(Debug, Clone)]
pub(super) struct Happened {
    pub(super) name: &'static str,
    pub(super) at: u64,
    pub(super) attributes: Vec<KeyValue>,
}

impl Events {
    pub(super) fn push(&mut self, name: &'static str, at: u64, attributes: Vec<KeyValue>) {
        if self.list.len() < MOST_EVENTS {
            self.list.push(Happened { name, at, attributes });
        } else {
            self.dropped += 1;
        }
    }
}

/// A moment of a journal.
pub(super) fn moment(ms: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(ms)).unwrap_or(SystemTime::UNIX_EPOCH)
}
