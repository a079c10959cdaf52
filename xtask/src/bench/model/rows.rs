//! What the program found, and sums over it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What the program says of its results.
#[derive(Debug, Deserialize)]
pub(super) struct Scores {
    /// Requests of each set.
    pub(super) cases: BTreeMap<String, usize>,
    /// Those that were asked.
    pub(super) rows: Vec<Row>,
}

/// One request of one model.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Row {
    pub(super) model: String,
    pub(super) id: String,
    pub(super) set: String,
    pub(super) group: String,
    pub(super) language: String,
    /// Calls that are due.
    pub(super) due: usize,
    pub(super) seconds: f64,
    pub(super) off: Way,
    pub(super) strict: Way,
    pub(super) lenient: Way,
    pub(super) grammar: Way,
}

/// What came of it in one way.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Way {
    pub(super) right: bool,
    /// Calls that fit their schemas, of all that were made.
    pub(super) valid: usize,
    /// Calls that the limit of a reply cut: no grammar got to their end, and nothing of them runs.
    pub(super) cut: usize,
    pub(super) calls: usize,
    /// Calls that ran although the contract refuses them.
    pub(super) unfit: usize,
    pub(super) hops: u32,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
}

/// Picks a way of a row.
pub(super) type Pick = fn(&Row) -> &Way;

/// The ways, as tables name them.
pub(super) const WAYS: [(&str, Pick); 4] = [
    ("gates off", |row| &row.off),
    ("gates strict", |row| &row.strict),
    ("gates lenient", |row| &row.lenient),
    ("grammar and gates", |row| &row.grammar),
];

/// Sums over the rows of one way.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) struct Sums {
    pub(super) requests: usize,
    pub(super) right: usize,
    pub(super) calls: usize,
    pub(super) valid: usize,
    pub(super) unfit: usize,
    /// Requests with a call due that ended right, and what they took.
    calling: usize,
    hops: u64,
    tokens: u64,
}

impl Sums {
    pub(super) fn of<'a>(rows: impl IntoIterator<Item = &'a Row>, way: Pick) -> Self {
        let mut sums = Self::default();
        for row in rows {
            let due = row.due;
            let way = way(row);
            sums.requests += 1;
            sums.right += usize::from(way.right);
            sums.calls += way.calls;
            sums.valid += way.valid;
            sums.unfit += way.unfit;
            // Texts are not waited for, so their tokens are not known.
            if way.right && due > 0 {
                sums.calling += 1;
                sums.hops += u64::from(way.hops);
                sums.tokens += way.input_tokens + way.output_tokens;
            }
        }
        sums
    }

    /// `right/requests (percent)`.
    pub(super) fn right_of_all(&self) -> String {
        share(self.right, self.requests)
    }

    /// `valid/calls (percent)`.
    pub(super) fn valid_of_calls(&self) -> String {
        share(self.valid, self.calls)
    }

    /// Percent of requests that ended right.
    pub(super) fn percent_right(&self) -> f64 {
        percent(self.right, self.requests)
    }

    /// Replies to a right call, on average.
    pub(super) fn hops(&self) -> f64 {
        self.hops as f64 / self.calling as f64
    }

    /// Tokens read and written to a right call, on average.
    pub(super) fn tokens(&self) -> f64 {
        self.tokens as f64 / self.calling as f64
    }
}

fn percent(part: usize, all: usize) -> f64 {
    100.0 * part as f64 / all as f64
}

fn share(part: usize, all: usize) -> String {
    match all {
        0 => "–".to_owned(),
        _ => format!("{part}/{all} ({:.1} %)", percent(part, all)),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn way(right: bool, hops: u32) -> Way {
        let (input_tokens, output_tokens) = (u64::from(hops) * 100, 20);
        Way { right, valid: 1, cut: 0, calls: 2, unfit: 0, hops, input_tokens, output_tokens }
    }

    pub(in super::super) fn row(id: &str, due: usize, off: bool, gated: bool) -> Row {
        Row {
            model: "qwen2.5-coder-1.5b".to_owned(),
            id: id.to_owned(),
            set: "held-out".to_owned(),
            group: "desk".to_owned(),
            language: "en".to_owned(),
            due,
            seconds: 1.0,
            off: way(off, 1),
            strict: way(gated, 2),
            lenient: way(gated, 2),
            grammar: way(gated, 1),
        }
    }

    #[test]
    fn sums_count_tokens_of_right_calls_alone() {
        let rows = [row("a", 1, true, true), row("b", 1, false, true), row("c", 0, true, true)];
        let off = Sums::of(&rows, WAYS[0].1);
        assert_eq!(off.right_of_all(), "2/3 (66.7 %)");
        assert_eq!(off.valid_of_calls(), "3/6 (50.0 %)");
        assert_eq!((off.hops(), off.tokens()), (1.0, 120.0));
        let strict = Sums::of(&rows, WAYS[1].1);
        assert_eq!((strict.hops(), strict.tokens()), (2.0, 220.0));
        assert!(Sums::default().hops().is_nan());
        assert_eq!(Sums::default().right_of_all(), "–");
    }
}
