//! What clients saw.

use std::{collections::BTreeMap, time::Duration};

use serde::Serialize;

/// Every answer's times, in microseconds.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    first: Vec<u64>,
    whole: Vec<u64>,
    errors: BTreeMap<String, u64>,
}

/// In a few figures.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary {
    pub(crate) answers: usize,
    pub(crate) errors: u64,
    /// The first few kinds of errors, and how often.
    pub(crate) kinds: BTreeMap<String, u64>,
    /// To the first byte of a text, in milliseconds.
    pub(crate) first: Times,
    /// To the end of the body, in milliseconds.
    pub(crate) whole: Times,
}

#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Times {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
}

impl Tally {
    /// `first` of an answer that is text: gates hold a call until they judged it.
    pub(crate) fn answered(&mut self, first: Option<Duration>, whole: Duration) {
        self.first.extend(first.map(micros));
        self.whole.push(micros(whole));
    }

    pub(crate) fn failed(&mut self, why: String) {
        *self.errors.entry(why).or_default() += 1;
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.first.extend(other.first);
        self.whole.extend(other.whole);
        for (why, count) in other.errors {
            *self.errors.entry(why).or_default() += count;
        }
    }

    pub(crate) fn summary(&self) -> Summary {
        let kinds = self.errors.iter().take(5).map(|(why, count)| (why.clone(), *count)).collect();
        Summary {
            answers: self.whole.len(),
            errors: self.errors.values().sum(),
            kinds,
            first: Times::of(&self.first),
            whole: Times::of(&self.whole),
        }
    }
}

impl Times {
    fn of(all: &[u64]) -> Self {
        let mut sorted = all.to_vec();
        sorted.sort_unstable();
        let at = |share: usize| {
            let place = (sorted.len() * share).div_ceil(100).saturating_sub(1);
            sorted.get(place).map_or(0.0, |micros| *micros as f64 / 1000.0)
        };
        Self { p50: at(50), p99: at(99), max: at(100) }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_what_was_seen() {
        let mut tally = Tally::default();
        for ms in 1..=100 {
            let first = (ms > 10).then(|| Duration::from_millis(ms));
            tally.answered(first, Duration::from_millis(ms * 2));
        }
        let summary = tally.summary();
        assert_eq!((summary.first.p50, summary.first.p99, summary.first.max), (55.0, 100.0, 100.0));
        assert_eq!(summary.whole.p99, 198.0);
        assert_eq!(Tally::default().summary().whole.p99, 0.0);
    }
}
