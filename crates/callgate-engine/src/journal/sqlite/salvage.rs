//! A journal that is damaged: what is wrong with it, and what can still be read.
//!
//! Nothing here writes to the file.

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};

use rusqlite::{Connection, OptionalExtension};

use super::{
    SqliteJournal,
    blobs::Blobs,
    body::{Row, elements},
    schema::Place,
};
use crate::journal::{JournalError, Line};

/// What can still be read of a damaged journal.
#[derive(Debug, Default)]
pub struct Salvage {
    /// The runs, by id.
    pub runs: Vec<Salvaged>,
    /// What is wrong with the file.
    pub problems: Vec<String>,
}

/// What can still be read of a run: its events from the first one on, without a gap.
#[derive(Debug)]
pub struct Salvaged {
    /// The run.
    pub run: Arc<str>,
    /// Its events.
    pub lines: Vec<Line>,
    /// Why there are no more, where there should be.
    pub lost: Option<JournalError>,
}

/// What an examination found.
#[derive(Debug, Default)]
pub struct Examination {
    /// Runs that were read.
    pub runs: usize,
    /// Events that were read.
    pub events: u64,
    /// What is wrong; nothing where all is well.
    pub findings: Vec<Finding>,
}

/// Something that is wrong with a journal.
#[derive(Debug)]
pub enum Finding {
    /// With the file.
    File(String),
    /// With a run.
    Run(JournalError),
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(words) => f.write_str(words),
            Self::Run(error) => error.fmt(f),
        }
    }
}

impl SqliteJournal {
    /// Reads everything and says what is wrong: the file's structure, each event's checksum, each
    /// large text's hash. Takes as long as reading the whole journal does.
    ///
    /// # Errors
    /// The file cannot be opened at all.
    pub fn examine(folder: impl AsRef<Path>) -> Result<Examination, JournalError> {
        let salvage = Self::salvage(folder)?;
        let mut found = Examination { runs: salvage.runs.len(), ..Examination::default() };
        found.findings.extend(salvage.problems.into_iter().map(Finding::File));
        for run in salvage.runs {
            found.events += run.lines.len() as u64;
            found.findings.extend(run.lost.map(Finding::Run));
        }
        Ok(found)
    }

    /// Reads what can still be read, each run as far as it goes. The file is left as it is.
    ///
    /// # Errors
    /// The file cannot be opened at all: not even its first page is what it should be.
    pub fn salvage(folder: impl AsRef<Path>) -> Result<Salvage, JournalError> {
        let folder = folder.as_ref();
        let path = super::file_of(folder);
        let place = Place { path: &path, busy: Duration::from_secs(10) };
        let connection = place.salvager()?;
        let blobs = Blobs::new(folder.join("blobs"), usize::MAX);
        let mut salvage = Salvage { problems: structure(&connection), ..Salvage::default() };
        // Not even the list of tables: then there is nothing to go by.
        let schema = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
        schema.map_err(|e| place.fault(&e))?;

        let ids = ids(&connection, &mut salvage.problems);
        let problems = salvage.problems.len();
        let mut rows = every_row(&connection, &mut salvage.problems);
        if salvage.problems.len() > problems {
            let file = std::fs::read(&path).map_err(JournalError::io("reading", &path))?;
            add_strays(&file, &ids, &mut rows);
        }
        for (key, (run, events)) in &ids {
            let rows = rows.remove(key).unwrap_or_default();
            salvage.runs.push(read_run(run, *events, rows, &blobs));
        }
        if !rows.is_empty() {
            let count: usize = rows.values().map(BTreeMap::len).sum();
            salvage
                .problems
                .push(format!("{count} appends belong to {} runs whose ids are lost", rows.len()));
        }
        salvage.runs.sort_by(|a, b| a.run.cmp(&b.run));
        Ok(salvage)
    }
}

/// What SQLite says of the file's structure.
fn structure(connection: &Connection) -> Vec<String> {
    let ask = || -> rusqlite::Result<Vec<String>> {
        let mut statement = connection.prepare("PRAGMA integrity_check(20)")?;
        statement.query_map([], |row| row.get(0))?.collect()
    };
    match ask() {
        Ok(words) => words.into_iter().filter(|word| word != "ok").collect(),
        Err(error) => vec![error.to_string()],
    }
}

type Ids = BTreeMap<i64, (Arc<str>, Option<u64>)>;

/// The runs' ids by their keys, from the table or, where that is damaged, from its index.
fn ids(connection: &Connection, problems: &mut Vec<String>) -> Ids {
    let mut ids = Ids::new();
    let from_index =
        "SELECT key, run, NULL FROM run INDEXED BY sqlite_autoindex_run_1 ORDER BY run";
    let backwards = format!("{from_index} DESC");
    let table = "SELECT key, run, events FROM run NOT INDEXED ORDER BY key";
    let table_backwards = format!("{table} DESC");
    for sql in [from_index, &backwards, table, &table_backwards] {
        let ask = |ids: &mut Ids| -> rusqlite::Result<()> {
            let mut statement = connection.prepare(sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let events: Option<i64> = row.get(2)?;
                ids.insert(row.get(0)?, (row.get(1)?, events.map(i64::cast_unsigned)));
            }
            Ok(())
        };
        if let Err(error) = ask(&mut ids) {
            problems.push(format!("the list of runs: {error}"));
        }
    }
    ids
}

type Rows = BTreeMap<i64, BTreeMap<u64, Row>>;

/// Every row of events that can be read, by run and position. A damaged page is stepped over.
fn every_row(connection: &Connection, problems: &mut Vec<String>) -> Rows {
    let mut found = Rows::new();
    // A step over what cannot be read grows until something can, then is one again.
    let (mut from, mut step, mut last) = (i64::MIN, 1, None::<i64>);
    let end = last_id(connection);
    loop {
        match read_from(connection, from, &mut found, &mut last) {
            Ok(()) => break,
            Err(error) => {
                let next = match last.take() {
                    Some(last) => {
                        step = 1;
                        last.saturating_add(1)
                    }
                    None => from.max(0).saturating_add(step),
                };
                if problems.len() < 40 {
                    problems.push(format!("events around row {next}: {error}"));
                }
                if next > end {
                    break;
                }
                // Past what was read: that one again would be no progress.
                from = next.max(from.saturating_add(1));
                step = (step * 2).min(64);
            }
        }
    }
    found
}

/// Adds rows of pages that nothing leads to any more, where they are what a run wrote.
fn add_strays(file: &[u8], ids: &Ids, rows: &mut Rows) {
    for (key, row) in super::pages::rows(file) {
        let Some((run, _)) = ids.get(&key) else { continue };
        if row.is_of(run) {
            rows.entry(key).or_default().entry(row.seq).or_insert(row);
        }
    }
}

/// The highest id that can be found, by the table or by the index.
fn last_id(connection: &Connection) -> i64 {
    let ask = |sql: &str| {
        let id = connection.query_row(sql, [], |row| row.get::<_, Option<i64>>(0)).optional();
        id.ok().flatten().flatten()
    };
    let by_table = ask("SELECT max(id) FROM entry NOT INDEXED");
    let by_index = ask("SELECT max(id) FROM entry INDEXED BY entry_run");
    // With neither there is no telling; ids are given one after the other.
    by_table.max(by_index).unwrap_or(1 << 20)
}

fn read_from(
    connection: &Connection,
    from: i64,
    found: &mut Rows,
    last: &mut Option<i64>,
) -> rusqlite::Result<()> {
    let sql = format!(
        "SELECT {}, run, id FROM entry NOT INDEXED WHERE id >= ? ORDER BY id",
        Row::COLUMNS
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([from])?;
    while let Some(row) = rows.next()? {
        *last = Some(row.get(6)?);
        let (key, entry) = (row.get::<_, i64>(5)?, Row::read(row)?);
        found.entry(key).or_default().entry(entry.seq).or_insert(entry);
    }
    Ok(())
}

/// A run as far as its events follow one another and are what was written.
fn read_run(
    run: &Arc<str>,
    events: Option<u64>,
    rows: BTreeMap<u64, Row>,
    blobs: &Blobs,
) -> Salvaged {
    let mut lines: Vec<Line> = Vec::new();
    let lost = |lines: &[Line], detail: &str| {
        let seq = lines.len() as u64;
        Some(JournalError::Damaged { run: run.clone(), seq, detail: detail.to_owned() })
    };
    for row in rows.into_values() {
        if row.seq != lines.len() as u64 {
            let lost = lost(&lines, "events are missing");
            return Salvaged { run: run.clone(), lines, lost };
        }
        let list = match row.checked(run, blobs) {
            Ok(list) => list,
            Err(error) => return Salvaged { run: run.clone(), lines, lost: Some(error) },
        };
        let read = (row.seq..).zip(elements(&list));
        let read: Option<Vec<Line>> =
            read.map(|(seq, element)| Line::of_element(run, seq, element)).collect();
        match read {
            Some(read) => lines.extend(read),
            None => {
                let lost = lost(&lines, "an event does not begin with its time");
                return Salvaged { run: run.clone(), lines, lost };
            }
        }
    }
    let lost = match events {
        Some(events) if events != lines.len() as u64 => lost(&lines, "events are missing"),
        _ => None,
    };
    Salvaged { run: run.clone(), lines, lost }
}
