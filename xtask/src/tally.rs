//! How many tests passed, read from what the runners print at their end.

use std::fmt;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl Tally {
    /// Adds the summaries in `output`: one of nextest, or one a binary of libtest.
    pub(crate) fn add(&mut self, output: &str) {
        for line in output.lines() {
            let line = plain(line);
            let line = line.trim();
            if let Some(rest) = line.strip_prefix("test result: ") {
                // ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.1s
                self.passed += before(rest, "passed");
                self.failed += before(rest, "failed");
                self.skipped += before(rest, "ignored");
            } else if line.starts_with("Summary [") {
                // Summary [   0.136s] 12 tests run: 9 passed (1 slow), 2 failed, 1 timed out, 4 skipped
                let run = before(line, "tests run:") + before(line, "test run:");
                let passed = before(line, "passed");
                self.passed += passed;
                // Failed, timed out, or could not be started: all that ran and did not pass.
                self.failed += run.saturating_sub(passed);
                self.skipped += before(line, "skipped");
            }
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// The number right before `word`, or 0.
fn before(line: &str, word: &str) -> u64 {
    line.find(&format!(" {word}"))
        .and_then(|at| line[..at].rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok())
        .unwrap_or(0)
}

/// Without terminal colours.
fn plain(line: &str) -> String {
    let mut plain = String::new();
    let mut parts = line.split('\u{1b}');
    plain.extend(parts.next());
    for part in parts {
        // ESC [ 1;32 m
        plain.push_str(part.split_once('m').map_or(part, |(_, rest)| rest));
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_runners_print() {
        let table = [
            ("     Summary [   0.136s] 10 tests run: 10 passed, 0 skipped", (10, 0, 0)),
            ("     Summary [   9.1s] 1 test run: 1 passed, 3 skipped", (1, 0, 3)),
            (
                "\u{1b}[31;1m     Summary\u{1b}[0m [   1.0s] \u{1b}[1m12\u{1b}[0m tests run: \
                 \u{1b}[1m9\u{1b}[0m \u{1b}[32;1mpassed\u{1b}[0m (1 slow), 2 failed, 1 timed out, \
                 4 skipped",
                (9, 3, 4),
            ),
            (
                "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out",
                (3, 0, 1),
            ),
            ("test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured", (1, 2, 0)),
            ("the words 7 passed in a test's own output", (0, 0, 0)),
        ];
        for (line, (passed, failed, skipped)) in table {
            let mut tally = Tally::default();
            tally.add(line);
            assert_eq!(tally, Tally { passed, failed, skipped }, "{line}");
        }
    }

    #[test]
    fn sums_all_of_them() {
        let mut tally = Tally::default();
        tally.add("Summary [0.1s] 2 tests run: 2 passed, 0 skipped\n");
        tally.add("test result: ok. 3 passed; 0 failed; 0 ignored\ntest result: ok. 4 passed; 0 failed; 2 ignored\n");
        assert_eq!(tally.to_string(), "9 passed, 0 failed, 2 skipped");
    }
}
