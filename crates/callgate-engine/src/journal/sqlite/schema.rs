//! The file: its tables, how old ones become new ones, and what SQLite's refusals mean.

use std::{path::Path, time::Duration};

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use super::Synchronous;
use crate::journal::JournalError;

/// Says whose file it is: "CGJ1" in the header.
const APPLICATION: i64 = 0x4347_4A31;

/// Each brings a file of the version of its position to the next. Only ever added to.
///
/// What an append brings is one row of `entry`: half the work of a row an event. Rows go to the end
/// of the table whatever their run, so a commit of many runs writes few pages. The view `event`
/// shows events singly.
const MIGRATIONS: [&str; 2] = [
    "
CREATE TABLE run(
    key INTEGER PRIMARY KEY,
    run TEXT NOT NULL UNIQUE,
    agent TEXT NOT NULL,
    model TEXT NOT NULL,
    goal TEXT NOT NULL,
    state TEXT NOT NULL,
    open TEXT,                   -- JSON: what it waits for
    paused INTEGER NOT NULL,
    started_at INTEGER NOT NULL, -- milliseconds since 1970
    updated_at INTEGER NOT NULL,
    events INTEGER NOT NULL,     -- and so the position of the next one
    hops INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    parent TEXT,
    note TEXT,
    owner TEXT                   -- the file in owners/ of the process that drives it
);
CREATE INDEX run_started ON run(started_at);
CREATE INDEX run_state ON run(state, started_at);
CREATE INDEX run_agent ON run(agent, started_at);
CREATE INDEX run_parent ON run(parent) WHERE parent IS NOT NULL;
CREATE TABLE entry(
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    seq INTEGER NOT NULL,        -- of its first event
    count INTEGER NOT NULL,
    body TEXT NOT NULL,          -- JSON: a list of events
    sum INTEGER NOT NULL,        -- CRC-32 of run, seq, body and blobs
    blobs TEXT                   -- JSON: which parts of the body are in files
);
CREATE UNIQUE INDEX entry_run ON entry(run, seq);
CREATE VIEW event AS
    SELECT run.run AS run, entry.seq + each.key AS seq, each.value ->> '$.at' AS at,
           each.value ->> '$.type' AS type, each.value AS body
    FROM run JOIN entry ON entry.run = run.key JOIN json_each(entry.body) AS each;
CREATE TABLE blob(sha256 TEXT, run INTEGER, PRIMARY KEY(sha256, run)) WITHOUT ROWID;
CREATE INDEX blob_run ON blob(run);
CREATE TABLE inbox(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run INTEGER NOT NULL,
    at INTEGER NOT NULL,
    once TEXT,                   -- what only one message of a run can say
    body TEXT NOT NULL,
    settled INTEGER NOT NULL DEFAULT 0,
    UNIQUE(run, once)
);
CREATE INDEX inbox_run ON inbox(run) WHERE settled = 0;
CREATE TABLE document(sha256 TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
",
    "
ALTER TABLE run ADD COLUMN tools TEXT;  -- JSON: the tools that were called
ALTER TABLE run ADD COLUMN faults TEXT; -- JSON: how calls were refused and failed
UPDATE run SET
    tools = (
        SELECT json_group_array(name) FROM (
            SELECT DISTINCT ifnull(each.value ->> '$.tool', each.value ->> '$.name') AS name
            FROM entry JOIN json_each(entry.body) AS each
            WHERE entry.run = run.key AND each.value ->> '$.type' = 'callGated' LIMIT 32
        )
    ),
    faults = (
        SELECT json_group_array(kind) FROM (
            SELECT DISTINCT ifnull(each.value ->> '$.verdict.fault.kind',
                each.value ->> '$.failure.kind') AS kind
            FROM entry JOIN json_each(entry.body) AS each
            WHERE entry.run = run.key AND each.value ->> '$.type' IN ('callGated', 'callFinished')
        ) WHERE kind IS NOT NULL
    );
",
];

/// What every connection is given.
pub(super) struct Place<'p> {
    pub path: &'p Path,
    pub busy: Duration,
}

impl Place<'_> {
    /// A connection that only reads.
    pub(super) fn reader(&self) -> Result<Connection, JournalError> {
        let connection = self.open(OpenFlags::empty())?;
        // Not opened as read-only: reading a log needs its shared index, which is a file, too.
        self.set(&connection, "query_only", 1)?;
        Ok(connection)
    }

    /// The connection that writes; makes or migrates the file.
    pub(super) fn writer(
        &self,
        synchronous: Synchronous,
        checkpoint_pages: u32,
        max_bytes: Option<u64>,
    ) -> Result<Connection, JournalError> {
        let mut connection = self.open(OpenFlags::SQLITE_OPEN_CREATE)?;
        self.migrate(&mut connection)?;
        let mode: String = connection
            .query_row("PRAGMA journal_mode = wal", [], |row| row.get(0))
            .map_err(|e| self.fault(&e))?;
        if mode != "wal" {
            let detail = format!(
                "SQLite cannot keep a write-ahead log here (its journal mode stays {mode}); use a \
                 folder on a local disk"
            );
            return Err(JournalError::Sqlite { path: self.path.to_owned(), detail });
        }
        let synchronous = match synchronous {
            Synchronous::Full => 2,
            Synchronous::Normal => 1,
        };
        self.set(&connection, "synchronous", synchronous)?;
        self.set(&connection, "wal_autocheckpoint", i64::from(checkpoint_pages))?;
        // What the log may keep after a checkpoint, so that one long reader does not leave a giant.
        self.set(&connection, "journal_size_limit", 64 << 20)?;
        if let Some(bytes) = max_bytes {
            let page: i64 = connection
                .query_row("PRAGMA page_size", [], |row| row.get(0))
                .map_err(|e| self.fault(&e))?;
            let pages = i64::try_from(bytes).unwrap_or(i64::MAX) / page;
            self.set(&connection, "max_page_count", pages.max(1))?;
        }
        connection.set_prepared_statement_cache_capacity(64);
        Ok(connection)
    }

    /// A connection to a file that may be damaged, which leaves it as it is.
    pub(super) fn salvager(&self) -> Result<Connection, JournalError> {
        let connection = self.open(OpenFlags::empty())?;
        connection
            .set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
            .map_err(|e| self.fault(&e))?;
        self.set(&connection, "query_only", 1)?;
        Ok(connection)
    }

    fn open(&self, more: OpenFlags) -> Result<Connection, JournalError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
        let connection =
            Connection::open_with_flags(self.path, flags).map_err(|e| self.fault(&e))?;
        connection.busy_timeout(self.busy).map_err(|e| self.fault(&e))?;
        Ok(connection)
    }

    fn set(&self, connection: &Connection, name: &str, value: i64) -> Result<(), JournalError> {
        connection.pragma_update(None, name, value).map_err(|e| self.fault(&e))
    }

    fn migrate(&self, connection: &mut Connection) -> Result<(), JournalError> {
        // Mostly there is nothing to do, and then no one is kept from writing.
        let look = connection.transaction().map_err(|e| self.fault(&e))?;
        if self.version(&look)? == known() {
            return Ok(());
        }
        drop(look);
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|e| self.fault(&e))?;
        // Asked again: another process may have been faster.
        let from = self.version(&transaction)?;
        let apply = |transaction: &Transaction<'_>| {
            for migration in MIGRATIONS.iter().skip(from) {
                transaction.execute_batch(migration)?;
            }
            transaction.pragma_update(None, "application_id", APPLICATION)?;
            transaction.pragma_update(None, "user_version", known() as i64)
        };
        apply(&transaction).map_err(|e| self.fault(&e))?;
        transaction.commit().map_err(|e| self.fault(&e))
    }

    /// The file's version: how many migrations it has had. Asked in a transaction, so that the
    /// answers are of one moment: between two of them another process may have made the tables.
    fn version(&self, transaction: &Transaction<'_>) -> Result<usize, JournalError> {
        let ask = |sql: &str| transaction.query_row(sql, [], |row| row.get::<_, i64>(0));
        let application = ask("PRAGMA application_id").map_err(|e| self.fault(&e))?;
        let found = ask("PRAGMA user_version").map_err(|e| self.fault(&e))?;
        let tables = ask("SELECT count(*) FROM sqlite_schema").map_err(|e| self.fault(&e))?;
        match (application, found) {
            (0, 0) if tables == 0 => Ok(0),
            (APPLICATION, found) => match usize::try_from(found) {
                Ok(version) if version <= known() => Ok(version),
                _ => Err(JournalError::Newer {
                    path: self.path.to_owned(),
                    found,
                    known: known() as i64,
                }),
            },
            _ => Err(JournalError::Foreign { path: self.path.to_owned() }),
        }
    }

    /// What SQLite's refusal means.
    pub(super) fn fault(&self, error: &rusqlite::Error) -> JournalError {
        let path = self.path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => JournalError::Full { path },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                JournalError::ReadOnly { path }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                JournalError::Busy { path, seconds: self.busy.as_secs() }
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                JournalError::Corrupt { path, detail: error.to_string() }
            }
            _ => JournalError::Sqlite { path, detail: error.to_string() },
        }
    }
}

fn known() -> usize {
    MIGRATIONS.len()
}
