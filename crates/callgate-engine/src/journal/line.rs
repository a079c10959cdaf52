//! Events as text: a line of a run file, a piece of a journal's row.
//!
//! A line is the JSON of a [`Record`] as serde writes it: `{"run":…,"seq":…,"at":…,"type":…,…}`.
//! The text is the truth and is never written anew: an event that this version does not know, and
//! a field that it does not know, pass through byte for byte.

use std::{borrow::Cow, io::Write as _, sync::Arc};

use callgate_machine::{Event, Record};
use callgate_wire::json;
use serde::Deserialize;

use super::JournalError;

/// One event of a run as JSON text on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    run: Arc<str>,
    seq: u64,
    at: u64,
    text: String,
    /// Where what is the run's alone ends: `"at"` stands there.
    at_offset: usize,
}

/// Why a line is not an event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// No JSON object with the fields of an event.
    #[error("not an event: {0}")]
    Unreadable(String),
    /// The fields stand in another order or spelling than Callgate writes.
    #[error("not as Callgate writes it: an event begins {{\"run\":…,\"seq\":…,\"at\":…,\"type\":…")]
    Rewritten,
}

#[derive(Deserialize)]
struct Place<'a> {
    #[serde(borrow)]
    run: Cow<'a, str>,
    seq: u64,
    at: u64,
    #[serde(borrow, rename = "type")]
    _kind: Cow<'a, str>,
}

impl Line {
    /// The text of a record.
    ///
    /// # Errors
    /// A value in it has no JSON: a defect of the machine.
    pub fn of(record: &Record) -> Result<Self, JournalError> {
        let mut element = Vec::with_capacity(256);
        push_element(&mut element, record)?;
        let (run, seq) = (&record.run, record.seq);
        let text = String::from_utf8(element).map_err(|e| e.to_string());
        let line = text.map(|element| Self::of_element(run, seq, &element));
        let unwritable = |detail| JournalError::Unwritable { run: run.clone(), seq, detail };
        line.map_err(unwritable)?.ok_or_else(|| unwritable("it has no time".to_owned()))
    }

    /// A line as it was read, without its line break.
    ///
    /// # Errors
    /// It is no event, or not written as Callgate writes one.
    pub fn parse(text: &str) -> Result<Self, LineError> {
        let place: Place<'_> =
            serde_json::from_str(text).map_err(|e| LineError::Unreadable(e.to_string()))?;
        let start = prefix(&place.run, place.seq);
        let time = format!("\"at\":{},\"type\":\"", place.at);
        let as_written = text.strip_prefix(&start).is_some_and(|rest| rest.starts_with(&time));
        if !as_written || text.contains(['\n', '\r']) {
            return Err(LineError::Rewritten);
        }
        Ok(Self {
            run: place.run.into(),
            seq: place.seq,
            at: place.at,
            at_offset: start.len(),
            text: text.to_owned(),
        })
    }

    /// From what a journal keeps: see [`element`](Self::element).
    pub(crate) fn of_element(run: &Arc<str>, seq: u64, element: &str) -> Option<Self> {
        let mut text = prefix(run, seq);
        let at_offset = text.len();
        text.push_str(element.strip_prefix('{')?);
        Some(Self { run: run.clone(), seq, at: at_of(element)?, text, at_offset })
    }

    /// The text without what a journal's row says already: `{"at":…,"type":…,…}`.
    pub(crate) fn push_element(&self, out: &mut String) {
        out.push('{');
        out.push_str(&self.text[self.at_offset..]);
    }

    /// The run.
    pub fn run(&self) -> &Arc<str> {
        &self.run
    }

    /// The position.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// When, in milliseconds since 1970.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// The event's type.
    pub fn kind(&self) -> &str {
        kind_of(&self.text[self.at_offset..])
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The event as this version knows it.
    ///
    /// # Errors
    /// It is of a type, or has values, that this version does not know.
    pub fn record(&self) -> Result<Record, JournalError> {
        event_of(&self.run, self.seq, self.at, &self.text)
    }
}

/// What a line begins with.
fn prefix(run: &str, seq: u64) -> String {
    let mut text = String::with_capacity(256);
    text.push_str("{\"run\":");
    text.push_str(&serde_json::Value::from(run).to_string());
    text.push_str(",\"seq\":");
    text.push_str(&seq.to_string());
    text.push(',');
    text
}

/// Writes `{"at":…,"type":…,…}`.
pub(crate) fn push_element(out: &mut Vec<u8>, record: &Record) -> Result<(), JournalError> {
    let unwritable =
        |detail| JournalError::Unwritable { run: record.run.clone(), seq: record.seq, detail };
    let _ = write!(out, "{{\"at\":{}", record.at);
    let start = out.len();
    json::try_write(out, &record.event).map_err(|e| unwritable(e.to_string()))?;
    // Events are objects with a tag; its brace becomes the comma after the time.
    match out.get_mut(start) {
        Some(brace @ b'{') => *brace = b',',
        _ => return Err(unwritable("it is no object".to_owned())),
    }
    Ok(())
}

/// The time of `{"at":…` or `"at":…`.
pub(crate) fn at_of(element: &str) -> Option<u64> {
    let rest = element.trim_start_matches('{').strip_prefix("\"at\":")?;
    rest[..rest.find(',')?].parse().ok()
}

/// The type of `{"at":…,"type":"…"`.
pub(crate) fn kind_of(element: &str) -> &str {
    let kind = || {
        let after = &element[element.find(',')? + 1..];
        let rest = after.strip_prefix("\"type\":\"")?;
        Some(&rest[..rest.find('"')?])
    };
    kind().unwrap_or_default()
}

/// The record of an element of a journal's row.
#[cfg(feature = "sqlite")]
pub(crate) fn record_of(run: &Arc<str>, seq: u64, element: &str) -> Result<Record, JournalError> {
    let Some(at) = at_of(element) else {
        return Err(JournalError::Damaged {
            run: run.clone(),
            seq,
            detail: "it does not begin with its time".to_owned(),
        });
    };
    event_of(run, seq, at, element)
}

/// An event out of a text that also holds its place: the event leaves fields alone that it does
/// not know, and none of its own is called `run`, `seq` or `at`, which the record takes.
fn event_of(run: &Arc<str>, seq: u64, at: u64, text: &str) -> Result<Record, JournalError> {
    let event: Event = serde_json::from_str(text).map_err(|e| JournalError::UnknownEvent {
        run: run.clone(),
        seq,
        kind: kind_of(&text[text.find("\"at\":").unwrap_or(0)..]).to_owned(),
        detail: e.to_string(),
    })?;
    Ok(Record { run: run.clone(), seq, at, event })
}
