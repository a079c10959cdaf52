//! What a benchmark found: words, tables and plots, and every row as it was measured.

use serde_json::Value;

use super::plot::Plot;

/// What one benchmark found.
#[derive(Debug)]
pub(super) struct Report {
    /// Its heading.
    pub(super) title: &'static str,
    /// How it was measured, as paragraphs of Markdown.
    pub(super) method: Vec<String>,
    /// Who took part, each with the version that was installed.
    pub(super) versions: Vec<(String, String)>,
    /// What to know, for `docs/benchmarks.md`.
    pub(super) headline: Vec<Block>,
    /// The rest, for `docs/benchmarks/NAME.md`.
    pub(super) details: Vec<Block>,
    /// Everything that was measured, row by row.
    pub(super) raw: Value,
    /// What did not hold. Any of it fails the run.
    pub(super) failures: Vec<String>,
}

/// A piece of a report.
#[derive(Debug)]
pub(super) enum Block {
    /// Paragraphs of Markdown.
    Text(String),
    Table(Table),
    Plot(Plot),
}

/// A table; the first column names the rows.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) head: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new<T: Into<String>>(head: impl IntoIterator<Item = T>) -> Self {
        Self { head: head.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    pub(super) fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }
}
