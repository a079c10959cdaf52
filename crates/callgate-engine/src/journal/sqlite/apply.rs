//! What each command does to the file, inside the group's transaction.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use rusqlite::{CachedStatement, Connection, OptionalExtension, params};

use super::{
    body::{Body, Row, elements, sum},
    owners,
    runs::{Kept, list_text},
    writer::Shared,
};
use crate::journal::{Inbox, JournalError, Message, Sent, now, summary::RunSummary};

/// Runs whose rows are remembered; a process that drives more reads them again.
const REMEMBERED: usize = 1 << 16;

/// Why a command was not done.
pub(super) enum Failed {
    /// It was refused and has changed nothing.
    Refused(JournalError),
    /// The file failed; the transaction is to be undone.
    File(JournalError),
}

/// Does commands.
pub(super) struct Applier<'c> {
    shared: &'c Shared,
    connection: &'c Connection,
    owner: Arc<str>,
    /// The rows of runs that are being driven here, as they stand in the file.
    known: HashMap<Arc<str>, Kept>,
    /// Runs that ended here and whose lease has not been given back yet.
    ended: HashSet<Arc<str>>,
    /// Files that nothing refers to once the transaction is committed.
    orphans: Vec<String>,
    statements: Statements<'c>,
}

/// What every append needs, prepared once.
struct Statements<'c> {
    begin: CachedStatement<'c>,
    commit: CachedStatement<'c>,
    entry: CachedStatement<'c>,
    step: CachedStatement<'c>,
    change: CachedStatement<'c>,
    first: CachedStatement<'c>,
}

const ENTRY: &str =
    "INSERT INTO entry(run, seq, count, body, sum, blobs) VALUES (?, ?, ?, ?, ?, ?)";
/// The condition is the fence: whoever is second finds another number of events.
const STEP: &str = "UPDATE run SET updated_at = ?, events = ?, hops = ?, calls = ?, tokens = ? \
    WHERE key = ? AND events = ? AND run = ?";
const CHANGE: &str = "UPDATE run SET updated_at = ?, events = ?, hops = ?, calls = ?, tokens = ?, \
    state = ?, open = ?, paused = ?, agent = ?, model = ?, goal = ?, note = ?, owner = ?, \
    tools = ?, faults = ? \
    WHERE key = ? AND events = ? AND run = ?";
const FIRST: &str = "INSERT INTO run(run, agent, model, goal, state, open, paused, started_at, \
    updated_at, events, hops, calls, tokens, parent, note, owner, tools, faults) \
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

impl<'c> Applier<'c> {
    pub(super) fn new(
        shared: &'c Shared,
        connection: &'c Connection,
        owner: Arc<str>,
    ) -> Result<Self, JournalError> {
        let prepare = |sql| connection.prepare_cached(sql).map_err(|e| shared.place().fault(&e));
        let statements = Statements {
            begin: prepare("BEGIN IMMEDIATE")?,
            commit: prepare("COMMIT")?,
            entry: prepare(ENTRY)?,
            step: prepare(STEP)?,
            change: prepare(CHANGE)?,
            first: prepare(FIRST)?,
        };
        let (known, ended) = (HashMap::new(), HashSet::new());
        Ok(Self { shared, connection, owner, known, ended, orphans: Vec::new(), statements })
    }

    pub(super) fn begin(&mut self) -> Result<(), JournalError> {
        let begun = self.statements.begin.execute([]);
        begun.map(drop).map_err(|e| self.shared.place().fault(&e))
    }

    pub(super) fn commit(&mut self) -> Result<(), JournalError> {
        let committed = self.statements.commit.execute([]);
        committed.map(drop).map_err(|e| self.shared.place().fault(&e))
    }

    /// After a failure: as if nothing had been tried.
    pub(super) fn undo(&mut self) {
        self.roll_back();
        self.known.clear();
        self.ended.clear();
        self.orphans.clear();
    }

    fn roll_back(&self) {
        // SQLite may have rolled back by itself.
        if !self.connection.is_autocommit()
            && let Err(error) = self.connection.execute_batch("ROLLBACK")
        {
            tracing::error!(%error, "the journal could not roll back");
        }
    }

    fn file(&self, error: &rusqlite::Error) -> Failed {
        Failed::File(self.shared.place().fault(error))
    }

    pub(super) fn append(&mut self, body: &Body) -> Result<(), Failed> {
        let conflict =
            || Failed::Refused(JournalError::Conflict { run: body.run.clone(), seq: body.seq });
        // Remembered as it was here; if another process has driven the run since, it is read anew.
        let mut kept = match self.known.remove(&body.run) {
            Some(kept) if kept.summary.events == body.seq => Some(kept),
            _ => self.read(&body.run)?,
        };
        for is_last_try in [false, true] {
            let is_next = kept.as_ref().map_or(0, |kept| kept.summary.events) == body.seq;
            if !is_next {
                return Err(conflict());
            }
            // Before anything is changed, so that a full disk under blobs/ is this append's alone.
            self.write_blobs(body)?;
            match self.step(kept, body)? {
                Some(kept) => {
                    self.entry(&kept, body)?;
                    self.remember(kept);
                    return Ok(());
                }
                None if is_last_try => break,
                None => kept = self.read(&body.run)?,
            }
        }
        Err(conflict())
    }

    /// Brings the run's row up to date. `None` where it is not as it was remembered.
    fn step(&mut self, kept: Option<Kept>, body: &Body) -> Result<Option<Kept>, Failed> {
        let Some(mut kept) = kept else {
            let mut summary = RunSummary::new(body.run.clone());
            fold(&mut summary, &body.text);
            return self.first(summary, true).map(Some);
        };
        let (was, changes) = (kept.summary.state.is_over(), fold(&mut kept.summary, &body.text));
        let is = kept.summary.state.is_over();
        if was != is {
            kept.owner = (!is).then(|| self.owner.clone());
        }
        let new = &kept.summary;
        let done = if !changes {
            self.statements.step.execute(params![
                new.updated_at as i64,
                new.events as i64,
                new.hops as i64,
                new.calls as i64,
                new.tokens as i64,
                kept.key,
                body.seq as i64,
                body.run,
            ])
        } else {
            self.statements.change.execute(params![
                new.updated_at as i64,
                new.events as i64,
                new.hops as i64,
                new.calls as i64,
                new.tokens as i64,
                new.state.as_str(),
                kept.open_text(),
                new.paused,
                new.agent,
                new.model,
                new.goal,
                new.note,
                kept.owner,
                list_text(&new.tools),
                list_text(&new.faults),
                kept.key,
                body.seq as i64,
                body.run,
            ])
        };
        let rows = done.map_err(|e| self.file(&e))?;
        Ok((rows == 1).then_some(kept))
    }

    /// Makes a run's row. Who begins a run drives it.
    fn first(&mut self, summary: RunSummary, drives: bool) -> Result<Kept, Failed> {
        let owner = (drives && !summary.state.is_over()).then(|| self.owner.clone());
        let mut kept = Kept { key: 0, summary, owner };
        let new = &kept.summary;
        let made = self.statements.first.insert(params![
            new.run,
            new.agent,
            new.model,
            new.goal,
            new.state.as_str(),
            kept.open_text(),
            new.paused,
            new.started_at as i64,
            new.updated_at as i64,
            new.events as i64,
            new.hops as i64,
            new.calls as i64,
            new.tokens as i64,
            new.parent,
            new.note,
            kept.owner,
            list_text(&new.tools),
            list_text(&new.faults),
        ]);
        kept.key = made.map_err(|e| self.file(&e))?;
        Ok(kept)
    }

    fn entry(&mut self, kept: &Kept, body: &Body) -> Result<(), Failed> {
        let (stored, note) = body.stored();
        let made = self.statements.entry.execute(params![
            kept.key,
            body.seq as i64,
            body.count as i64,
            stored,
            sum(&body.run, body.seq, stored, note.as_deref()),
            note,
        ]);
        made.map_err(|e| self.file(&e))?;
        for cut in body.cut.iter().flat_map(|(_, cuts)| cuts) {
            self.run_sql(
                "INSERT OR IGNORE INTO blob VALUES (?, ?)",
                params![cut.sha256, kept.key],
            )?;
        }
        Ok(())
    }

    /// They were written before, outside of the transaction; here, where nobody else can remove
    /// any, it is made sure that they are still there.
    fn write_blobs(&self, body: &Body) -> Result<(), Failed> {
        let mut cuts = body.cut.iter().flat_map(|(_, cuts)| cuts);
        cuts.try_for_each(|cut| self.shared.blobs.write(cut)).map_err(Failed::Refused)
    }

    fn remember(&mut self, kept: Kept) {
        let run = kept.summary.run.clone();
        if kept.summary.state.is_over() {
            // Its lease ended with it; that is all there is to remember.
            if self.ended.len() >= REMEMBERED {
                self.ended.clear();
            }
            if kept.owner.is_none() {
                self.ended.insert(run);
            }
            return;
        }
        self.ended.remove(&run);
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        self.known.insert(run, kept);
    }

    fn read(&self, run: &str) -> Result<Option<Kept>, Failed> {
        Kept::of(self.connection, run).map_err(|e| self.file(&e))
    }

    fn existing(&self, run: &Arc<str>) -> Result<Kept, Failed> {
        let unknown = || Failed::Refused(JournalError::UnknownRun { run: run.clone() });
        self.read(run)?.ok_or_else(unknown)
    }

    fn run_sql(&self, sql: &str, values: &[&dyn rusqlite::ToSql]) -> Result<usize, Failed> {
        let done = self.connection.prepare_cached(sql).and_then(|mut s| s.execute(values));
        done.map_err(|e| self.file(&e))
    }

    /// Refuses where another live process drives the run.
    fn free_or_mine(&self, kept: &Kept) -> Result<(), Failed> {
        let Some(owner) = kept.owner.as_ref().filter(|owner| **owner != self.owner) else {
            return Ok(());
        };
        match owners::holder(&self.shared.owners, owner) {
            Ok(None) => Ok(()),
            Ok(Some(holder)) => Err(Failed::Refused(JournalError::Held {
                run: kept.summary.run.clone(),
                pid: holder.pid,
                since: holder.since,
            })),
            Err(error) => Err(Failed::Refused(error)),
        }
    }

    pub(super) fn claim(&mut self, run: &Arc<str>) -> Result<(), Failed> {
        // None yet: the first append says whose it is.
        let Some(kept) = self.read(run)? else { return Ok(()) };
        self.free_or_mine(&kept)?;
        self.run_sql("UPDATE run SET owner = ? WHERE key = ?", params![self.owner, kept.key])?;
        self.known.remove(run);
        self.ended.remove(run);
        Ok(())
    }

    pub(super) fn release(&mut self, run: &Arc<str>) -> Result<(), Failed> {
        self.known.remove(run);
        if !self.ended.remove(run) {
            let sql = "UPDATE run SET owner = NULL WHERE run = ? AND owner = ?";
            self.run_sql(sql, params![run, self.owner])?;
        }
        Ok(())
    }

    pub(super) fn send(&mut self, run: &Arc<str>, message: &Inbox) -> Result<Sent, Failed> {
        let kept = self.existing(run)?;
        let unique = message.unique();
        if let Some(unique) = &unique
            && let Some(before) = self.said(kept.key, unique)?
        {
            return Ok(Sent::Already(before));
        }
        if kept.summary.state.is_over() {
            let state = kept.summary.state;
            return Err(Failed::Refused(JournalError::Over { run: run.clone(), state }));
        }
        let body = serde_json::to_string(message).map_err(|e| {
            let detail = e.to_string();
            Failed::Refused(JournalError::Unwritable { run: run.clone(), seq: 0, detail })
        })?;
        let sql = "INSERT INTO inbox(run, at, once, body) VALUES (?, ?, ?, ?)";
        self.run_sql(sql, params![kept.key, now() as i64, unique, body])?;
        Ok(Sent::Kept(self.connection.last_insert_rowid().cast_unsigned()))
    }

    /// What somebody said before that only one can say.
    fn said(&self, key: i64, unique: &str) -> Result<Option<Message>, Failed> {
        let sql = "SELECT id, at, body FROM inbox WHERE run = ? AND once = ?";
        let found = self.connection.prepare_cached(sql).and_then(|mut statement| {
            statement.query_row(params![key, unique], super::read::message).optional()
        });
        Ok(found.map_err(|e| self.file(&e))?.flatten())
    }

    pub(super) fn settle(&mut self, run: &Arc<str>, messages: &[u64]) -> Result<(), Failed> {
        let sql = "UPDATE inbox SET settled = 1 \
            WHERE id = ? AND run = (SELECT key FROM run WHERE run = ?)";
        for id in messages {
            self.run_sql(sql, params![id.cast_signed(), run])?;
        }
        Ok(())
    }

    pub(super) fn import(&mut self, bodies: &[Body]) -> Result<bool, Failed> {
        let Some(first) = bodies.first() else { return Ok(false) };
        if let Some(kept) = self.read(&first.run)? {
            return self.same(&kept, bodies).map(|()| false);
        }
        for body in bodies {
            self.write_blobs(body)?;
        }
        let mut summary = RunSummary::new(first.run.clone());
        for body in bodies {
            fold(&mut summary, &body.text);
        }
        let kept = self.first(summary, false)?;
        for body in bodies {
            self.entry(&kept, body)?;
        }
        Ok(true)
    }

    /// Whether a run holds these events and no others, byte for byte.
    fn same(&self, kept: &Kept, bodies: &[Body]) -> Result<(), Failed> {
        let run = &kept.summary.run;
        let rows = super::read::rows(self.connection, kept.key).map_err(|e| self.file(&e))?;
        let lists = rows.iter().map(|row: &Row| row.checked(run, &self.shared.blobs));
        let lists = lists.collect::<Result<Vec<_>, _>>().map_err(Failed::Refused)?;
        let mut there = lists.iter().flat_map(|list| elements(list));
        let mut here = bodies.iter().flat_map(|body| elements(&body.text));
        let mut seq = 0;
        loop {
            match (there.next(), here.next()) {
                (None, None) => return Ok(()),
                (a, b) if a == b => seq += 1,
                _ => return Err(Failed::Refused(JournalError::Exists { run: run.clone(), seq })),
            }
        }
    }

    pub(super) fn remove(&mut self, run: &Arc<str>) -> Result<(), Failed> {
        let kept = self.existing(run)?;
        self.free_or_mine(&kept)?;
        self.known.remove(run);
        let sql = "SELECT sha256 FROM blob AS b WHERE run = ? \
            AND NOT EXISTS (SELECT 1 FROM blob WHERE sha256 = b.sha256 AND run <> b.run)";
        let orphans = self.connection.prepare_cached(sql).and_then(|mut statement| {
            let rows = statement.query_map([kept.key], |row| row.get::<_, String>(0))?;
            rows.collect::<Result<Vec<_>, _>>()
        });
        self.orphans.extend(orphans.map_err(|e| self.file(&e))?);
        for sql in [
            "DELETE FROM entry WHERE run = ?",
            "DELETE FROM blob WHERE run = ?",
            "DELETE FROM inbox WHERE run = ?",
            "DELETE FROM run WHERE key = ?",
        ] {
            self.run_sql(sql, params![kept.key])?;
        }
        Ok(())
    }

    pub(super) fn keep(&mut self, hash: &Arc<str>, text: &str) -> Result<(), Failed> {
        self.run_sql("INSERT OR IGNORE INTO document VALUES (?, ?)", params![hash, text]).map(drop)
    }

    /// All files are looked at: once this is committed, those that nothing refers to go.
    pub(super) fn collect(&mut self) -> Result<(), Failed> {
        self.orphans.extend(self.shared.blobs.all().map_err(Failed::Refused)?);
        Ok(())
    }

    /// Removes files that nothing refers to any more, now that this is certain. Under the lock of
    /// a transaction: nobody can begin to refer to one meanwhile.
    pub(super) fn after_commit(&mut self) {
        if self.orphans.is_empty() {
            return;
        }
        let orphans = std::mem::take(&mut self.orphans);
        let removed = self.begin().and_then(|()| self.remove_unused(&orphans));
        if let Err(error) = removed {
            // They stay until `collect` finds them.
            tracing::warn!(%error, "large texts of a removed run could not be removed");
        }
        self.roll_back();
    }

    fn remove_unused(&self, hashes: &[String]) -> Result<(), JournalError> {
        for hash in hashes {
            let sql = "SELECT EXISTS (SELECT 1 FROM blob WHERE sha256 = ?)";
            let used = self.connection.query_row(sql, [hash], |row| row.get::<_, bool>(0));
            if !used.map_err(|e| self.shared.place().fault(&e))? {
                self.shared.blobs.remove(hash)?;
            }
        }
        Ok(())
    }
}

/// Takes the events of a list in. Whether more than times and counts changed.
fn fold(summary: &mut RunSummary, list: &str) -> bool {
    let mut changes = false;
    for element in elements(list) {
        let at = crate::journal::line::at_of(element).unwrap_or(summary.updated_at);
        changes |= summary.fold(at, element);
    }
    changes
}
