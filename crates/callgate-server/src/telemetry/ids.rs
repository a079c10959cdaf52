//! Ids of traces and spans, made of what they stand for.
//!
//! The id of a run's trace follows from the run's id, and a span's from its run and its place in
//! it. So a run that a second process takes up goes on in the same trace, a span that is sent twice
//! is one span, and nothing has to be kept.

use sha2::{Digest as _, Sha256};

pub(super) type TraceId = [u8; 16];
pub(super) type SpanId = [u8; 8];

pub(super) fn trace(run: &str) -> TraceId {
    id(&["trace", run])
}

/// A turn of a run: from its start, or the user's next words, to its end.
pub(super) fn turn(run: &str, turn: u32) -> SpanId {
    id(&["turn", run, &turn.to_string()])
}

pub(super) fn hop(run: &str, hop: u32) -> SpanId {
    id(&["hop", run, &hop.to_string()])
}

pub(super) fn call(run: &str, call: &str, attempt: u32) -> SpanId {
    id(&["call", run, call, &attempt.to_string()])
}

fn id<const N: usize>(parts: &[&str]) -> [u8; N] {
    let mut hash = Sha256::new();
    for part in parts {
        // With its length, so that no two lists of parts are one text.
        hash.update(part.len().to_be_bytes());
        hash.update(part);
    }
    let digest = hash.finalize();
    let mut id = [0; N];
    id.copy_from_slice(&digest[..N]);
    // All zeros would be no id.
    if id.iter().all(|byte| *byte == 0) {
        id[N - 1] = 1;
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_of_what_they_stand_for() {
        assert_eq!(trace("a"), trace("a"));
        assert_ne!(trace("a"), trace("b"));
        let spans = [turn("a", 1), turn("a", 2), hop("a", 1), call("a", "c", 1), call("a", "c", 2)];
        for (at, span) in spans.iter().enumerate() {
            assert!(!spans[..at].contains(span));
        }
        assert_ne!(id::<8>(&["ab", "c"]), id::<8>(&["a", "bc"]));
    }
}
