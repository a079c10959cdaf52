//! What is read: by any thread, beside the writer.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension, Row as SqlRow, params_from_iter};

use super::{
    body::{Row, elements},
    runs::Kept,
    writer::Shared,
};
use callgate_machine::Record;

use crate::journal::{
    Filter, JournalError, Line, Message, RunSummary, line::record_of, memory::one_of,
};

/// Events that are read at once at most.
const MOST: usize = 100_000;

/// Connections that are kept open for the next reader.
const SPARE: usize = 4;

/// Reads.
#[derive(Debug)]
pub(super) struct Reader {
    shared: Arc<Shared>,
    spare: Mutex<Vec<Connection>>,
}

impl Reader {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, spare: Mutex::default() }
    }

    fn with<T>(
        &self,
        ask: impl FnOnce(&Connection) -> Result<T, rusqlite::Error>,
    ) -> Result<T, JournalError> {
        let place = self.shared.place();
        let spare = || self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = spare().pop();
        let connection = match connection {
            Some(connection) => connection,
            None => place.reader()?,
        };
        let answer = ask(&connection).map_err(|e| place.fault(&e));
        let mut spare = spare();
        if spare.len() < SPARE {
            spare.push(connection);
        }
        answer
    }

    /// A run's rows with their lists in full, one after the other.
    pub(super) fn each<T>(
        &self,
        run: &str,
        mut take: impl FnMut(&Arc<str>, u64, &str, &mut Vec<T>) -> Result<(), JournalError>,
    ) -> Result<Vec<T>, JournalError> {
        let found = self.with(|c| {
            // Both questions see the same moment.
            let _snapshot = c.unchecked_transaction()?;
            let sql = "SELECT key, run, events FROM run WHERE run = ?";
            let key = c.prepare_cached(sql)?.query_row([run], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, Arc<str>>(1)?, row.get::<_, i64>(2)?))
            });
            let Some((key, run, events)) = key.optional()? else { return Ok(None) };
            Ok(Some((run, events.cast_unsigned(), rows(c, key)?)))
        })?;
        let Some((run, events, rows)) = found else { return Ok(Vec::new()) };
        let mut all = Vec::with_capacity(usize::try_from(events).unwrap_or(0));
        let mut next = 0;
        for row in &rows {
            let list = row.checked(&run, &self.shared.blobs)?;
            if row.seq != next {
                let detail = format!("events from {next} on are missing");
                return Err(JournalError::Damaged { run, seq: next, detail });
            }
            for element in elements(&list) {
                take(&run, next, element, &mut all)?;
                next += 1;
            }
        }
        if next != events {
            let detail = format!("{next} events are there where {events} should be");
            return Err(JournalError::Damaged { run, seq: next, detail });
        }
        Ok(all)
    }

    pub(super) fn lines(&self, run: &str) -> Result<Vec<Line>, JournalError> {
        self.each(run, |run, seq, element, lines| {
            let line = Line::of_element(run, seq, element);
            lines.push(line.ok_or_else(|| JournalError::Damaged {
                run: run.clone(),
                seq,
                detail: "it does not begin with its time".to_owned(),
            })?);
            Ok(())
        })
    }

    pub(super) fn inbox(&self, run: &str) -> Result<Vec<Message>, JournalError> {
        self.with(|c| {
            let sql = "SELECT id, at, body FROM inbox WHERE settled = 0 \
                AND run = (SELECT key FROM run WHERE run = ?) ORDER BY id";
            let mut statement = c.prepare_cached(sql)?;
            let found = statement.query_map([run], message)?;
            found.filter_map(Result::transpose).collect()
        })
    }

    pub(super) fn mailed(&self) -> Result<Vec<Arc<str>>, JournalError> {
        self.with(|c| {
            // Of a run that is over nobody reads a message any more.
            let sql = "SELECT run FROM run WHERE key IN (SELECT run FROM inbox WHERE settled = 0) \
                AND state IN ('running', 'waiting', 'paused', 'in_doubt')";
            c.prepare_cached(sql)?.query_map([], |row| row.get(0))?.collect()
        })
    }

    /// Events from a position on. Whether those before it are whole is not looked at.
    pub(super) fn some(
        &self,
        run: &str,
        from: u64,
        most: usize,
    ) -> Result<Vec<Record>, JournalError> {
        let most = most.min(MOST);
        let found = self.with(|c| {
            let sql = "SELECT key, run FROM run WHERE run = ?";
            let key = c
                .prepare_cached(sql)?
                .query_row([run], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Arc<str>>(1)?)));
            let Some((key, run)) = key.optional()? else { return Ok(None) };
            // Each row has at least one event; the first one may begin before the position.
            let sql = format!(
                "SELECT {} FROM entry WHERE run = ?1 AND seq >= ifnull((SELECT max(seq) FROM entry \
                 WHERE run = ?1 AND seq <= ?2), 0) ORDER BY seq LIMIT ?3",
                Row::COLUMNS
            );
            let mut statement = c.prepare_cached(&sql)?;
            let (first, limit) = (from.cast_signed(), most as i64 + 1);
            let rows = statement.query_map((key, first, limit), Row::read)?;
            Ok(Some((run, rows.collect::<Result<Vec<Row>, _>>()?)))
        })?;
        let Some((run, rows)) = found else { return Ok(Vec::new()) };
        let mut records = Vec::new();
        for row in &rows {
            let list = row.checked(&run, &self.shared.blobs)?;
            for (seq, element) in (row.seq..).zip(elements(&list)) {
                if records.len() == most {
                    return Ok(records);
                }
                if seq < from {
                    continue;
                }
                let next = from + records.len() as u64;
                if seq != next {
                    let detail = format!("events from {next} on are missing");
                    return Err(JournalError::Damaged { run, seq: next, detail });
                }
                records.push(record_of(&run, seq, element)?);
            }
        }
        Ok(records)
    }

    pub(super) fn list(&self, filter: &Filter) -> Result<Vec<RunSummary>, JournalError> {
        let mut sql = format!("SELECT {} FROM run WHERE 1", Kept::COLUMNS);
        let mut values: Vec<Box<dyn rusqlite::ToSql>> = Vec::new();
        let mut also = |condition: &str, value: Box<dyn rusqlite::ToSql>| {
            sql.push_str(" AND ");
            sql.push_str(condition);
            values.push(value);
        };
        if let [state] = filter.states[..] {
            also("state = ?", Box::new(state.as_str()));
        } else if !filter.states.is_empty() {
            let words: Vec<_> = filter.states.iter().map(|state| state.as_str()).collect();
            let words = serde_json::to_string(&words).unwrap_or_default();
            also("state IN (SELECT value FROM json_each(?))", Box::new(words));
        }
        if let Some(agent) = &filter.agent {
            also("agent = ?", Box::new(agent.clone()));
        }
        if let Some(parent) = &filter.parent {
            also("parent = ?", Box::new(parent.clone()));
        }
        let in_list = |one: &String| serde_json::to_string(one).unwrap_or_default();
        if let Some(tool) = &filter.tool {
            also("instr(tools, ?) > 0", Box::new(in_list(tool)));
        }
        if let Some(fault) = &filter.fault {
            also("instr(faults, ?) > 0", Box::new(in_list(fault)));
        }
        if let Some(since) = filter.since {
            also("started_at >= ?", Box::new(since.cast_signed()));
        }
        if let Some(before) = filter.before {
            also("started_at < ?", Box::new(before.cast_signed()));
        }
        if let Some(text) = &filter.text {
            let condition = "instr(lower(run || char(10) || goal || char(10) || ifnull(note, '')), lower(?)) > 0";
            also(condition, Box::new(text.clone()));
        }
        if let Some((at, run)) = &filter.below {
            sql.push_str(" AND (started_at, run) < (?, ?)");
            values.push(Box::new(at.cast_signed()));
            values.push(Box::new(run.clone()));
        }
        sql.push_str(" ORDER BY started_at DESC, run DESC LIMIT ?");
        let limit = filter.limit.and_then(|limit| i64::try_from(limit).ok());
        values.push(Box::new(limit.unwrap_or(-1)));
        self.with(|c| {
            let mut statement = c.prepare_cached(&sql)?;
            let found = statement.query_map(params_from_iter(&values), Kept::read)?;
            found.map(|kept| kept.map(|kept| kept.summary)).collect()
        })
    }

    /// The token of the process that claimed a run, whether it lives or not.
    pub(super) fn owner(&self, run: &str) -> Result<Option<Arc<str>>, JournalError> {
        self.with(|c| {
            let sql = "SELECT owner FROM run WHERE run = ?";
            let owner = c.prepare_cached(sql)?.query_row([run], |row| row.get(0)).optional()?;
            Ok(owner.flatten())
        })
    }

    pub(super) fn summary(&self, run: &str) -> Result<RunSummary, JournalError> {
        let kept = self.with(|c| Kept::of(c, run))?;
        let unknown = || JournalError::UnknownRun { run: run.into() };
        kept.map(|kept| kept.summary).ok_or_else(unknown)
    }

    pub(super) fn find(&self, prefix: &str) -> Result<Arc<str>, JournalError> {
        let found = self.with(|c| {
            // All that begin so lie together in the index of ids.
            let sql = "SELECT run FROM run WHERE run >= ?1 AND substr(run, 1, length(?1)) = ?1 \
                AND run < ?1 || char(1114111) ORDER BY run DESC LIMIT 11";
            let mut statement = c.prepare_cached(sql)?;
            let runs = statement.query_map([prefix], |row| row.get::<_, Arc<str>>(0))?;
            let mut runs = runs.collect::<Result<Vec<_>, _>>()?;
            let sql = "SELECT run FROM run WHERE run = ?";
            runs.extend(c.prepare_cached(sql)?.query_row([prefix], |row| row.get(0)).optional()?);
            runs.dedup();
            Ok(runs)
        })?;
        one_of(prefix, found)
    }

    pub(super) fn kept(&self, hash: &str) -> Result<Option<Arc<str>>, JournalError> {
        self.with(|c| {
            let sql = "SELECT body FROM document WHERE sha256 = ?";
            c.prepare_cached(sql)?.query_row([hash], |row| row.get(0)).optional()
        })
    }
}

/// A run's rows, in order.
pub(super) fn rows(connection: &Connection, key: i64) -> rusqlite::Result<Vec<Row>> {
    let sql = format!("SELECT {} FROM entry WHERE run = ? ORDER BY seq", Row::COLUMNS);
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_map([key], Row::read)?.collect()
}

/// A message; none where a later version's has no meaning here.
pub(super) fn message(row: &SqlRow<'_>) -> rusqlite::Result<Option<Message>> {
    let body: String = row.get(2)?;
    let (id, at) = (row.get::<_, i64>(0)?.cast_unsigned(), row.get::<_, i64>(1)?.cast_unsigned());
    let body = serde_json::from_str(&body);
    if let Err(error) = &body {
        tracing::warn!(id, %error, "a message to a run cannot be read by this version of Callgate");
    }
    Ok(body.ok().map(|body| Message { id, at, body }))
}
