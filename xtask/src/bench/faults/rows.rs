//! What the bench measured: a row a cell.

use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// One cell: a peer, a fault, a dialect, whole or streamed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Row {
    /// `first`: the 50 faults of the first bench as they were; `grown`: all, in every dialect.
    pub(super) bench: String,
    pub(super) rule: String,
    /// Empty for defaults, `tuned` for the documented options.
    pub(super) variant: String,
    pub(super) peer: String,
    pub(super) dialect: String,
    pub(super) mode: String,
    pub(super) fault: String,
    pub(super) family: String,
    pub(super) group: String,
    /// The outcome's letter, see `bench/faults/judge.py`.
    pub(super) code: char,
    pub(super) acceptable: bool,
    pub(super) detail: String,
    pub(super) model_calls: u64,
    pub(super) bytes_sent: u64,
    pub(super) bytes_got: u64,
    pub(super) tool_runs: u64,
    pub(super) seconds: f64,
}

/// One fault as it is listed.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Fault {
    pub(super) id: String,
    pub(super) family: String,
    pub(super) title: String,
    pub(super) first: bool,
    /// The letters of the acceptable outcomes.
    pub(super) ok: String,
    /// `dialect-mode` of every form.
    pub(super) cells: Vec<String>,
}

impl Row {
    /// A row a line.
    pub(super) fn all(text: &str) -> Result<Vec<Self>, Failure> {
        let read = |line: &str| {
            serde_json::from_str(line)
                .map_err(|error| Failure::Wrong(format!("a row of the faults bench: {error}")))
        };
        text.lines().map(read).collect()
    }

    /// What two peers have in common when they met the same.
    pub(super) fn cell(&self) -> (&str, &str, &str) {
        (&self.fault, &self.dialect, &self.mode)
    }

    /// About how many tokens went to the model and came from it: four bytes are one.
    pub(super) fn tokens(&self) -> u64 {
        (self.bytes_sent + self.bytes_got) / 4
    }
}

/// The rows of one table.
pub(super) fn of<'a>(rows: &'a [Row], bench: &str, rule: &str, variant: &str) -> Vec<&'a Row> {
    rows.iter()
        .filter(|row| row.bench == bench && row.rule == rule && row.variant == variant)
        .collect()
}
