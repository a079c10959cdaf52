//! Rows out of a file's bare pages, for when the pages that lead to them are damaged.
//!
//! Only what salvage needs of the file format (<https://sqlite.org/fileformat2.html>): leaves of
//! tables, their cells, their records. A page may be left over from something that was removed, or
//! be garbage; so whatever is found here is only believed once its checksum fits its run.

use super::body::Row;

/// A leaf of a table, by its first byte.
const LEAF: u8 = 0x0D;

/// Every row that may be one of events, with the key of its run.
pub(super) fn rows(file: &[u8]) -> Vec<(i64, Row)> {
    let Some(pages) = Pages::of(file) else { return Vec::new() };
    let mut found = Vec::new();
    for number in 1..=pages.count() {
        found.extend(pages.payloads(number).filter_map(|payload| entry(&payload)));
    }
    found
}

struct Pages<'f> {
    file: &'f [u8],
    size: usize,
    /// Bytes of a page that are used.
    usable: usize,
}

impl<'f> Pages<'f> {
    fn of(file: &'f [u8]) -> Option<Self> {
        let size = match u16_at(file, 16)? {
            1 => 1 << 16,
            size if size.is_power_of_two() && size >= 512 => usize::from(size),
            _ => return None,
        };
        let usable =
            size.checked_sub(usize::from(*file.get(20)?)).filter(|usable| *usable >= 480)?;
        Some(Self { file, size, usable })
    }

    fn count(&self) -> usize {
        self.file.len() / self.size
    }

    /// A page by its number, from 1.
    fn page(&self, number: usize) -> Option<&'f [u8]> {
        let start = number.checked_sub(1)?.checked_mul(self.size)?;
        self.file.get(start..start.checked_add(self.usable)?)
    }

    /// The payloads of a leaf's cells; none where the page is something else.
    fn payloads(&self, number: usize) -> impl Iterator<Item = Vec<u8>> {
        let page = self.page(number).unwrap_or_default();
        // The first page begins with the file's own header.
        let start = if number == 1 { 100 } else { 0 };
        let is_leaf = page.get(start) == Some(&LEAF);
        let cells = if is_leaf { u16_at(page, start + 3).unwrap_or(0) } else { 0 };
        (0..usize::from(cells)).filter_map(move |cell| {
            let at = usize::from(u16_at(page, start + 8 + cell * 2)?);
            self.payload(page.get(at..)?)
        })
    }

    /// What a cell holds, its overflow pages included.
    fn payload(&self, cell: &[u8]) -> Option<Vec<u8>> {
        let (length, cell) = varint(cell)?;
        let (_id, cell) = varint(cell)?;
        let length = usize::try_from(length).ok().filter(|length| *length <= self.file.len())?;
        let most = self.usable - 35;
        let least = (self.usable - 12) * 32 / 255 - 23;
        if length <= most {
            return cell.get(..length).map(<[u8]>::to_vec);
        }
        let fitting = least + (length - least) % (self.usable - 4);
        let local = if fitting <= most { fitting } else { least };
        let mut payload = cell.get(..local)?.to_vec();
        let mut next = u32_at(cell, local)?;
        // Each page brings something, so a ring of pages comes to an end, too.
        while payload.len() < length {
            let page = self.page(usize::try_from(next).ok()?)?;
            next = u32_at(page, 0)?;
            let more = (length - payload.len()).min(self.usable - 4);
            payload.extend_from_slice(page.get(4..4 + more)?);
        }
        Some(payload)
    }
}

/// A column's value, as far as these rows have them.
enum Value<'p> {
    Null,
    Number(i64),
    Text(&'p [u8]),
}

/// A row of the table of events: id, run, seq, count, body, sum, blobs.
fn entry(payload: &[u8]) -> Option<(i64, Row)> {
    let columns = record(payload)?;
    let [Value::Null, Value::Number(run), seq, count, Value::Text(body), sum, blobs] = &columns[..]
    else {
        return None;
    };
    let number = |value: &Value<'_>| match value {
        Value::Number(number) => Some(*number),
        _ => None,
    };
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    let blobs = match blobs {
        Value::Text(bytes) => Some(text(bytes)?),
        _ => None,
    };
    let (seq, count) = (number(seq)?.cast_unsigned(), number(count)?.cast_unsigned());
    Some((*run, Row { seq, count, body: text(body)?, sum: number(sum)?, blobs }))
}

fn record(payload: &[u8]) -> Option<Vec<Value<'_>>> {
    let (length, kinds) = varint(payload)?;
    let length = usize::try_from(length).ok()?;
    let begin = payload.len() - kinds.len();
    let mut kinds = payload.get(begin..length)?;
    let mut rest = payload.get(length..)?;
    let mut columns = Vec::new();
    while !kinds.is_empty() {
        let kind;
        (kind, kinds) = varint(kinds)?;
        let size = match kind {
            0 | 8 | 9 => 0,
            1..=4 => usize::try_from(kind).ok()?,
            5 => 6,
            6 | 7 => 8,
            12.. => usize::try_from((kind - 12) / 2).ok()?,
            _ => return None,
        };
        let bytes = rest.get(..size)?;
        rest = &rest[size..];
        columns.push(match kind {
            0 => Value::Null,
            8 => Value::Number(0),
            9 => Value::Number(1),
            1..=6 => Value::Number(signed(bytes)),
            7 => return None,
            _ => Value::Text(bytes),
        });
    }
    Some(columns)
}

fn signed(bytes: &[u8]) -> i64 {
    let first = bytes.first().map_or(0, |byte| i64::from(byte.cast_signed()));
    bytes.iter().skip(1).fold(first, |number, byte| number << 8 | i64::from(*byte))
}

/// A number of 1 to 9 bytes and what follows it.
fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0;
    for (index, byte) in bytes.iter().enumerate().take(9) {
        if index == 8 {
            return Some((number << 8 | u64::from(*byte), &bytes[9..]));
        }
        number = number << 7 | u64::from(byte & 0x7F);
        if byte & 0x80 == 0 {
            return Some((number, &bytes[index + 1..]));
        }
    }
    None
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2)?.try_into().ok().map(u16::from_be_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes)
}
