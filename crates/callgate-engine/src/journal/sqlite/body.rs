//! What a row holds: the events of one append as a JSON list, an event a line, with a checksum.
//!
//! SQLite notices a torn page, not a flipped bit in a text. The checksum does, and it covers the
//! run and the position, too.

use std::{borrow::Cow, sync::Arc};

use callgate_machine::Record;

use super::blobs::{Blobs, Cut};
use crate::journal::{JournalError, Line, line};

/// Bytes of imported events that go into one row.
const ROW: usize = 256 << 10;

/// The events of one append, ready to be written.
#[derive(Debug)]
pub(super) struct Body {
    pub run: Arc<str>,
    pub seq: u64,
    pub count: u64,
    /// The list in full.
    pub text: String,
    /// The list as it is stored and the parts that are not in it, where a part is large.
    pub cut: Option<(String, Vec<Cut>)>,
}

impl Body {
    /// Of records that are known to be of one run and in order.
    pub(super) fn of(records: &[Record], blobs: &Blobs) -> Result<Option<Self>, JournalError> {
        let Some(first) = records.first() else { return Ok(None) };
        crate::journal::memory::check(records, first.seq)?;
        let mut text = Vec::with_capacity(records.len() * 400);
        for record in records {
            text.extend_from_slice(if text.is_empty() { b"[" } else { b",\n" });
            line::push_element(&mut text, record)?;
        }
        text.push(b']');
        let text = String::from_utf8(text).map_err(|e| JournalError::Unwritable {
            run: first.run.clone(),
            seq: first.seq,
            detail: e.to_string(),
        })?;
        Ok(Some(Self::new(first.run.clone(), first.seq, records.len(), text, blobs)))
    }

    /// Of lines that are known to be of one run and in order.
    pub(super) fn of_lines(lines: &[Line], blobs: &Blobs) -> Vec<Self> {
        let mut bodies = Vec::new();
        let mut from = 0;
        let mut text = String::new();
        for (index, line) in lines.iter().enumerate() {
            text.push_str(if text.is_empty() { "[" } else { ",\n" });
            line.push_element(&mut text);
            if text.len() >= ROW || index + 1 == lines.len() {
                text.push(']');
                let first = &lines[from];
                let text = std::mem::take(&mut text);
                let count = index + 1 - from;
                bodies.push(Self::new(first.run().clone(), first.seq(), count, text, blobs));
                from = index + 1;
            }
        }
        bodies
    }

    fn new(run: Arc<str>, seq: u64, count: usize, text: String, blobs: &Blobs) -> Self {
        let cut = blobs.cut(&text);
        Self { run, seq, count: count as u64, text, cut }
    }

    /// What goes into the row, and its note of blobs.
    pub(super) fn stored(&self) -> (&str, Option<String>) {
        match &self.cut {
            None => (&self.text, None),
            Some((stored, cuts)) => (stored, serde_json::to_string(cuts).ok()),
        }
    }
}

/// The elements of a list: each is the JSON of one event.
pub(super) fn elements(list: &str) -> impl Iterator<Item = &str> {
    let inner = list.strip_prefix('[').and_then(|l| l.strip_suffix(']')).unwrap_or_default();
    inner.split('\n').map(|element| element.strip_suffix(',').unwrap_or(element))
}

/// The row's checksum.
pub(super) fn sum(run: &str, seq: u64, stored: &str, blobs: Option<&str>) -> i64 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(run.as_bytes());
    hasher.update(&seq.to_le_bytes());
    hasher.update(stored.as_bytes());
    if let Some(blobs) = blobs {
        hasher.update(blobs.as_bytes());
    }
    i64::from(hasher.finalize())
}

/// A row as it was read.
pub(super) struct Row {
    pub seq: u64,
    pub count: u64,
    pub body: String,
    pub sum: i64,
    pub blobs: Option<String>,
}

impl Row {
    /// The columns, in this order.
    pub(super) const COLUMNS: &str = "seq, count, body, sum, blobs";

    pub(super) fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        let number = |index| row.get::<_, i64>(index).map(i64::cast_unsigned);
        // A damaged text need not be text: what is lost of it shows in the checksum.
        let text = |index| -> rusqlite::Result<Option<String>> {
            let bytes = row.get_ref(index)?.as_bytes_or_null();
            Ok(bytes.ok().flatten().map(|b| String::from_utf8_lossy(b).into_owned()))
        };
        Ok(Self {
            seq: number(0)?,
            count: number(1)?,
            body: text(2)?.unwrap_or_default(),
            sum: row.get(3)?,
            blobs: text(4)?,
        })
    }

    /// Whether the checksum fits.
    pub(super) fn is_of(&self, run: &str) -> bool {
        sum(run, self.seq, &self.body, self.blobs.as_deref()) == self.sum
    }

    /// The list in full, once it is known to be what was written.
    pub(super) fn checked<'r>(
        &'r self,
        run: &Arc<str>,
        blobs: &Blobs,
    ) -> Result<Cow<'r, str>, JournalError> {
        let damaged = |detail: &str| JournalError::Damaged {
            run: run.clone(),
            seq: self.seq,
            detail: detail.to_owned(),
        };
        if !self.is_of(run) {
            return Err(damaged("its checksum does not fit what is stored"));
        }
        if elements(&self.body).count() as u64 != self.count {
            return Err(damaged("it does not hold as many events as it says"));
        }
        let Some(note) = &self.blobs else { return Ok(Cow::Borrowed(&self.body)) };
        let cuts: Vec<Cut> =
            serde_json::from_str(note).map_err(|_| damaged("its note of blobs is unreadable"))?;
        blobs.mend(run, self.seq, &self.body, &cuts).map(Cow::Owned)
    }
}
