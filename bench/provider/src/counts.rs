//! What came, for whoever checks that a client did all of its work.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{SystemTime, UNIX_EPOCH},
};

use serde_json::{Value, json};

/// Since the last reset.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    connections: AtomicU64,
    requests: AtomicU64,
    streamed: AtomicU64,
    answers: AtomicU64,
    refused: AtomicU64,
    body_bytes: AtomicU64,
    /// Microseconds since 1970; 0 before it.
    first_at: AtomicU64,
}

impl Counts {
    pub(crate) fn connected(&self) {
        self.connections.fetch_add(1, Relaxed);
    }

    /// The head of a request is here.
    pub(crate) fn began(&self) {
        if self.requests.fetch_add(1, Relaxed) == 0 {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let now = u64::try_from(now.as_micros()).unwrap_or(u64::MAX);
            self.first_at.store(now, Relaxed);
        }
    }

    pub(crate) fn refused(&self) {
        self.refused.fetch_add(1, Relaxed);
    }

    pub(crate) fn answered(&self, bytes: usize, is_end: bool, stream: bool) {
        self.body_bytes.fetch_add(bytes as u64, Relaxed);
        self.answers.fetch_add(is_end.into(), Relaxed);
        self.streamed.fetch_add(stream.into(), Relaxed);
    }

    /// `requests`, `streamed` of them, `answers` that ended a run, `refused`, `connections`,
    /// `bodyBytes` of requests, and `firstAt` in microseconds since 1970.
    pub(crate) fn read(&self) -> Value {
        json!({
            "connections": self.connections.load(Relaxed),
            "requests": self.requests.load(Relaxed),
            "streamed": self.streamed.load(Relaxed),
            "answers": self.answers.load(Relaxed),
            "refused": self.refused.load(Relaxed),
            "bodyBytes": self.body_bytes.load(Relaxed),
            "firstAt": self.first_at.load(Relaxed),
        })
    }

    /// What was counted; from now on anew. For times at which no client is at work.
    pub(crate) fn reset(&self) -> Value {
        let last = self.read();
        for count in [
            &self.connections,
            &self.requests,
            &self.streamed,
            &self.answers,
            &self.refused,
            &self.body_bytes,
            &self.first_at,
        ] {
            count.store(0, Relaxed);
        }
        last
    }
}
