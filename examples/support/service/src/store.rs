//! The SQLite side: schema, reads, and the one write.

use std::{
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rusqlite::{Connection, OptionalExtension as _, Row, TransactionBehavior, params};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::seed;

const SCHEMA: &str = "
CREATE TABLE customers (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, country TEXT NOT NULL,
  currency TEXT NOT NULL, since TEXT NOT NULL
) STRICT;
CREATE TABLE tickets (
  id TEXT PRIMARY KEY, subject TEXT NOT NULL, status TEXT NOT NULL, priority TEXT NOT NULL,
  assignee TEXT, customer TEXT NOT NULL REFERENCES customers, created_at TEXT NOT NULL
) STRICT;
CREATE TABLE notes (
  id INTEGER PRIMARY KEY, ticket TEXT NOT NULL REFERENCES tickets, author TEXT NOT NULL,
  text TEXT NOT NULL, at TEXT NOT NULL, idempotency_key TEXT UNIQUE
) STRICT;
CREATE INDEX notes_of_ticket ON notes (ticket, id);
CREATE TABLE invoices (
  id TEXT PRIMARY KEY, customer TEXT NOT NULL REFERENCES customers, date TEXT NOT NULL,
  status TEXT NOT NULL, currency TEXT NOT NULL, cents INTEGER NOT NULL,
  ledger_id INTEGER NOT NULL UNIQUE
) STRICT;
CREATE INDEX invoices_by_date ON invoices (date, id);
";

/// Raised whenever the schema or the seeded data change; an older file is refused.
const VERSION: i64 = 1;

/// Why a file cannot be used as the database.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error(
        "it holds version {found} of the data and not {VERSION}; remove it to have it made anew"
    )]
    Version { found: i64 },
}

#[derive(Debug)]
pub(crate) struct Store {
    connection: Mutex<Connection>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ticket {
    id: String,
    subject: String,
    status: String,
    priority: String,
    assignee: Option<String>,
    customer: String,
    created_at: String,
    updates: Vec<Update>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Update {
    at: String,
    author: String,
    text: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct Customer {
    id: String,
    name: String,
    email: String,
    country: String,
    currency: String,
    since: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Invoice {
    id: String,
    customer: String,
    date: String,
    status: String,
    currency: String,
    /// A JSON number with exactly two decimals, `1.10` and never `1.1`.
    total: Box<RawValue>,
    /// 19 digits: more than a 64-bit float can hold.
    ledger_id: i64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct InvoiceFilter {
    pub(crate) start_date: Option<String>,
    pub(crate) end_date: Option<String>,
    pub(crate) status: Option<String>,
}

#[derive(Debug)]
pub(crate) struct NewNote {
    pub(crate) ticket: String,
    pub(crate) text: String,
    pub(crate) author: String,
    pub(crate) key: Option<String>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Note {
    id: String,
    ticket: String,
    author: String,
    text: String,
    at: String,
}

/// What came of a note.
#[derive(Debug)]
pub(crate) enum Added {
    New(Note),
    /// The key was seen with this very note: nothing was written.
    Again(Note),
    /// The key was seen with another note.
    KeyTaken,
    NoTicket,
    Closed,
}

impl Store {
    /// Opens the file, and makes and seeds it when it is new.
    pub(crate) fn open(path: &Path) -> Result<Self, OpenError> {
        let mut connection = Connection::open(path)?;
        connection.busy_timeout(Duration::from_secs(5))?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        // Two services that start on one new file: the second waits here and finds it seeded.
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let version: i64 =
            transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
        match version {
            0 => {
                transaction.execute_batch(SCHEMA)?;
                seed::fill(&transaction)?;
                transaction.pragma_update(None, "user_version", VERSION)?;
            }
            VERSION => {}
            other => {
                return Err(OpenError::Version { found: other });
            }
        }
        transaction.commit()?;
        Ok(Self { connection: Mutex::new(connection) })
    }

    /// A panic in another request leaves SQLite's own state whole: an open transaction rolls back.
    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn ticket(&self, id: &str) -> rusqlite::Result<Option<Ticket>> {
        let connection = self.lock();
        let ticket = connection
            .prepare_cached(
                "SELECT id, subject, status, priority, assignee, customer, created_at
                 FROM tickets WHERE id = ?1",
            )?
            .query_row([id], |row| {
                Ok(Ticket {
                    id: row.get(0)?,
                    subject: row.get(1)?,
                    status: row.get(2)?,
                    priority: row.get(3)?,
                    assignee: row.get(4)?,
                    customer: row.get(5)?,
                    created_at: row.get(6)?,
                    updates: Vec::new(),
                })
            })
            .optional()?;
        let Some(mut ticket) = ticket else { return Ok(None) };
        ticket.updates = connection
            .prepare_cached("SELECT at, author, text FROM notes WHERE ticket = ?1 ORDER BY id")?
            .query_map([id], |row| {
                Ok(Update { at: row.get(0)?, author: row.get(1)?, text: row.get(2)? })
            })?
            .collect::<rusqlite::Result<_>>()?;
        Ok(Some(ticket))
    }

    pub(crate) fn customer(&self, id: &str) -> rusqlite::Result<Option<Customer>> {
        self.lock()
            .prepare_cached(
                "SELECT id, name, email, country, currency, since FROM customers WHERE id = ?1",
            )?
            .query_row([id], |row| {
                Ok(Customer {
                    id: row.get(0)?,
                    name: row.get(1)?,
                    email: row.get(2)?,
                    country: row.get(3)?,
                    currency: row.get(4)?,
                    since: row.get(5)?,
                })
            })
            .optional()
    }

    /// Whether SQLite reads it as a date and writes it back the same: `2026-02-30` is none.
    pub(crate) fn is_date(&self, text: &str) -> rusqlite::Result<bool> {
        self.lock().query_row("SELECT date(?1) IS ?1", [text], |row| row.get(0))
    }

    pub(crate) fn invoices(&self, filter: &InvoiceFilter) -> rusqlite::Result<Vec<Invoice>> {
        self.lock()
            .prepare_cached(
                "SELECT id, customer, date, status, currency, cents, ledger_id FROM invoices
                 WHERE (?1 IS NULL OR date >= ?1) AND (?2 IS NULL OR date <= ?2)
                   AND (?3 IS NULL OR status = ?3)
                 ORDER BY date, id",
            )?
            .query_map(params![filter.start_date, filter.end_date, filter.status], |row| {
                Ok(Invoice {
                    id: row.get(0)?,
                    customer: row.get(1)?,
                    date: row.get(2)?,
                    status: row.get(3)?,
                    currency: row.get(4)?,
                    total: money(row.get(5)?)?,
                    ledger_id: row.get(6)?,
                })
            })?
            .collect()
    }

    pub(crate) fn add_note(&self, new: &NewNote) -> rusqlite::Result<Added> {
        const COLUMNS: &str = "id, ticket, author, text, at";
        let mut connection = self.lock();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Before everything else: the repeat of a write that worked gets its answer even if the
        // ticket was closed since.
        if let Some(key) = &new.key {
            let seen = transaction
                .query_row(
                    &format!("SELECT {COLUMNS} FROM notes WHERE idempotency_key = ?1"),
                    [key],
                    note,
                )
                .optional()?;
            if let Some(seen) = seen {
                let same = (&seen.ticket, &seen.text, &seen.author)
                    == (&new.ticket, &new.text, &new.author);
                return Ok(if same { Added::Again(seen) } else { Added::KeyTaken });
            }
        }
        let status: Option<String> = transaction
            .query_row("SELECT status FROM tickets WHERE id = ?1", [&new.ticket], |row| row.get(0))
            .optional()?;
        match status.as_deref() {
            None => return Ok(Added::NoTicket),
            Some("closed") => return Ok(Added::Closed),
            Some(_) => {}
        }
        let added = transaction.query_row(
            &format!(
                "INSERT INTO notes (ticket, author, text, at, idempotency_key)
                 VALUES (?1, ?2, ?3, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?4)
                 RETURNING {COLUMNS}"
            ),
            params![new.ticket, new.author, new.text, new.key],
            note,
        )?;
        transaction.commit()?;
        Ok(Added::New(added))
    }
}

fn note(row: &Row<'_>) -> rusqlite::Result<Note> {
    let id: i64 = row.get(0)?;
    Ok(Note {
        id: format!("N-{id}"),
        ticket: row.get(1)?,
        author: row.get(2)?,
        text: row.get(3)?,
        at: row.get(4)?,
    })
}

/// Cents as a JSON number with two decimals. Totals are never negative.
fn money(cents: i64) -> rusqlite::Result<Box<RawValue>> {
    RawValue::from_string(format!("{}.{:02}", cents / 100, cents % 100)).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(5, rusqlite::types::Type::Integer, error.into())
    })
}
