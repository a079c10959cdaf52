//! The row of a run.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Row};

use crate::journal::{RunState, summary::RunSummary};

/// A run's row.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    pub key: i64,
    pub summary: RunSummary,
    /// The token of the process that drives it.
    pub owner: Option<Arc<str>>,
}

/// A list of words, kept as JSON.
fn list(row: &Row<'_>, index: usize) -> rusqlite::Result<Vec<String>> {
    let text: Option<String> = row.get(index)?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

/// The same as it is kept; nothing where it is empty.
pub(super) fn list_text(all: &[String]) -> Option<String> {
    if all.is_empty() { None } else { serde_json::to_string(all).ok() }
}

impl Kept {
    /// The columns that [`read`](Self::read) wants, in its order.
    pub(super) const COLUMNS: &str = "key, run, agent, model, goal, state, open, paused, \
        started_at, updated_at, events, hops, calls, tokens, parent, note, owner, tools, faults";

    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let number = |index| row.get::<_, i64>(index).map(i64::cast_unsigned);
        let state: String = row.get(5)?;
        let open: Option<String> = row.get(6)?;
        Ok(Self {
            key: row.get(0)?,
            summary: RunSummary {
                run: row.get(1)?,
                agent: row.get(2)?,
                model: row.get(3)?,
                goal: row.get(4)?,
                state: RunState::from_word(&state).unwrap_or(RunState::Ended),
                open: open.and_then(|open| serde_json::from_str(&open).ok()).unwrap_or_default(),
                paused: row.get(7)?,
                started_at: number(8)?,
                updated_at: number(9)?,
                events: number(10)?,
                hops: number(11)?,
                calls: number(12)?,
                tokens: number(13)?,
                parent: row.get(14)?,
                note: row.get(15)?,
                tools: list(row, 17)?,
                faults: list(row, 18)?,
            },
            owner: row.get(16)?,
        })
    }

    pub(super) fn of(connection: &Connection, run: &str) -> rusqlite::Result<Option<Self>> {
        let sql = format!("SELECT {} FROM run WHERE run = ?", Self::COLUMNS);
        connection.prepare_cached(&sql)?.query_row([run], Self::read).optional()
    }

    /// What it waits for, as JSON; nothing where nothing.
    pub(super) fn open_text(&self) -> Option<String> {
        let open = &self.summary.open;
        if open.is_empty() { None } else { serde_json::to_string(open).ok() }
    }
}
