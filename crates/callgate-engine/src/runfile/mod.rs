//! A run as one file: for a colleague, a bug report, a regression test.
//!
//! JSON, an object a line:
//!
//! ```text
//! {"callgate":"run","version":1,"run":"…","agent":"…","exporter":"0.1.0","catalog":[…],"masked":[…]}
//! {"run":"…","seq":0,"at":…,"type":"runStarted",…}
//! …
//! {"callgate":"end","records":14,"sha256":"…"}
//! ```
//!
//! The first line says what it is and carries the tools' contracts, so that the run can be replayed
//! elsewhere; the last one has a hash of all bytes before it, so that a flipped byte and a cut file
//! are found. In between stand the events, large texts in full. Lines are kept as they came: an
//! event or a field of a later version passes through byte for byte.
//!
//! Secrets do not reach a journal (law 9); a [`Mask`] is the second lock: values that are known to
//! be secret are replaced by their names wherever they still stand.

mod mask;

use std::{
    io::{BufRead, Write},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

pub use self::mask::{Mask, variables};
use crate::{
    hash::hex,
    journal::{Line, LineError},
};

/// The version of the format that is written here.
pub const VERSION: u64 = 1;

/// The first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Always `run`.
    callgate: String,
    /// The format's version.
    pub version: u64,
    /// The run.
    pub run: Arc<str>,
    /// The agent's name; empty where it has none.
    #[serde(default)]
    pub agent: String,
    /// The version of Callgate that wrote the file.
    #[serde(default)]
    pub exporter: String,
    /// The tools' contracts: what a replay needs. As in `tools/*.json`.
    #[serde(default)]
    pub catalog: Vec<Value>,
    /// The names of the secrets whose values were looked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masked: Vec<String>,
    /// What a later version says beside.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl Header {
    /// For a run with the contracts of its tools.
    pub fn new(run: impl Into<Arc<str>>, agent: &str, catalog: Vec<Value>) -> Self {
        Self {
            callgate: "run".to_owned(),
            version: VERSION,
            run: run.into(),
            agent: agent.to_owned(),
            exporter: env!("CARGO_PKG_VERSION").to_owned(),
            catalog,
            masked: Vec::new(),
            more: Map::new(),
        }
    }
}

/// A run file, read.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFile {
    /// The first line.
    pub header: Header,
    /// The first line as it came.
    pub header_text: String,
    /// The events.
    pub lines: Vec<Line>,
}

#[derive(Serialize, Deserialize)]
struct End {
    callgate: String,
    records: u64,
    sha256: String,
}

/// What is wrong with a run file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunFileError {
    /// It could not be read or written.
    #[error("the run file cannot be read or written: {0}")]
    Io(#[from] std::io::Error),
    /// Its first line is another one.
    #[error("this is not a run file: its first line is not {{\"callgate\":\"run\",…}} ({detail})")]
    NotARun {
        /// Why.
        detail: String,
    },
    /// A later version of Callgate wrote it.
    #[error(
        "the run file has format {found}; this version of Callgate reads up to {VERSION}: use a later one"
    )]
    Newer {
        /// Its format.
        found: u64,
    },
    /// A line is no event.
    #[error("line {line} of the run file is {source}")]
    Line {
        /// From 1.
        line: usize,
        /// Why.
        source: LineError,
    },
    /// An event is not where it should be.
    #[error(
        "line {line} of the run file is event {seq} of run {run}, where event {expected} of run {of} should be"
    )]
    Order {
        /// From 1.
        line: usize,
        /// The run it is of.
        run: Arc<str>,
        /// Its position.
        seq: u64,
        /// The run of the file.
        of: Arc<str>,
        /// The position due.
        expected: u64,
    },
    /// The last line is missing.
    #[error("the run file was cut: it has no last line after {records} events")]
    Cut {
        /// Whole events that are there.
        records: u64,
    },
    /// There is more after the last line.
    #[error("the run file goes on after its last line, at line {line}")]
    Trailing {
        /// From 1.
        line: usize,
    },
    /// The hash is another one.
    #[error("the run file was changed or damaged: its bytes do not fit the hash in its last line")]
    Damaged,
}

/// Writes a run file. Give the lines of [`Journal::lines`](crate::Journal::lines).
///
/// # Errors
/// The writer fails.
pub fn write(
    out: &mut dyn Write,
    mut header: Header,
    lines: &[Line],
    mask: &Mask,
) -> Result<(), RunFileError> {
    header.masked.extend(mask.names().map(str::to_owned));
    header.masked.sort();
    header.masked.dedup();
    let first = serde_json::to_string(&header).map_err(std::io::Error::from)?;
    // Names of secrets are no secrets, and the mask leaves them as they are.
    let texts = lines.iter().map(Line::text);
    write_lines(out, std::iter::once(&*first).chain(texts).map(|text| mask.apply(text)))
}

impl RunFile {
    /// Writes the file again, byte for byte as it was read.
    ///
    /// # Errors
    /// The writer fails.
    pub fn write(&self, out: &mut dyn Write) -> Result<(), RunFileError> {
        let texts = self.lines.iter().map(|line| line.text().into());
        write_lines(out, std::iter::once((&*self.header_text).into()).chain(texts))
    }
}

fn write_lines<'l>(
    out: &mut dyn Write,
    lines: impl Iterator<Item = std::borrow::Cow<'l, str>>,
) -> Result<(), RunFileError> {
    let mut hasher = Sha256::new();
    let mut count: u64 = 0;
    for line in lines {
        hasher.update(line.as_bytes());
        hasher.update(b"\n");
        out.write_all(line.as_bytes())?;
        out.write_all(b"\n")?;
        count += 1;
    }
    let end = end_line(count.saturating_sub(1), &hasher.finalize());
    out.write_all(end.as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(())
}

fn end_line(records: u64, hash: &[u8]) -> String {
    format!("{{\"callgate\":\"end\",\"records\":{records},\"sha256\":\"{}\"}}", hex(hash))
}

/// A file's name for a run: ids of calls may hold anything.
pub fn file_name(run: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    format!("{}.jsonl", run.chars().map(plain).collect::<String>())
}

/// Reads a run file and makes sure that it is whole.
///
/// # Errors
/// It is no run file, of a later format, damaged or cut.
pub fn read(input: &mut dyn BufRead) -> Result<RunFile, RunFileError> {
    let mut hasher = Sha256::new();
    let header_text = next_line(input)?
        .ok_or_else(|| RunFileError::NotARun { detail: "it is empty".to_owned() })?;
    let header = header(header_text.text())?;
    hasher.update(&header_text.bytes);
    let header_text = header_text.text().to_owned();
    let mut lines: Vec<Line> = Vec::new();
    let mut number = 1;
    loop {
        let records = lines.len() as u64;
        let Some(raw) = next_line(input)? else { return Err(RunFileError::Cut { records }) };
        number += 1;
        if is_end(raw.text()) {
            if raw.bytes != format!("{}\n", end_line(records, &hasher.finalize())).as_bytes() {
                return Err(RunFileError::Damaged);
            }
            break;
        }
        // A line without its end: the file stops here.
        if !raw.bytes.ends_with(b"\n") {
            return Err(RunFileError::Cut { records });
        }
        hasher.update(&raw.bytes);
        let line = Line::parse(raw.text())
            .map_err(|source| RunFileError::Line { line: number, source })?;
        if *line.run() != header.run || line.seq() != records {
            let (run, seq, of) = (line.run().clone(), line.seq(), header.run);
            return Err(RunFileError::Order { line: number, run, seq, of, expected: records });
        }
        lines.push(line);
    }
    match next_line(input)? {
        Some(_) => Err(RunFileError::Trailing { line: number + 1 }),
        None => Ok(RunFile { header, header_text, lines }),
    }
}

fn header(text: &str) -> Result<Header, RunFileError> {
    let not = |detail: String| RunFileError::NotARun { detail };
    // The version first: what a later one has made of the rest is its own.
    #[derive(Deserialize)]
    struct Kind {
        callgate: String,
        version: u64,
    }
    let kind: Kind = serde_json::from_str(text).map_err(|e| not(e.to_string()))?;
    if kind.callgate != "run" {
        return Err(not(format!("it says {}", kind.callgate)));
    }
    if kind.version > VERSION {
        return Err(RunFileError::Newer { found: kind.version });
    }
    serde_json::from_str(text).map_err(|e| not(e.to_string()))
}

fn is_end(text: &str) -> bool {
    text.starts_with("{\"callgate\":\"end\"")
        || serde_json::from_str::<End>(text).is_ok_and(|end| end.callgate == "end")
}

struct Raw {
    bytes: Vec<u8>,
    /// Whether the bytes are UTF-8; the text of others is empty, and no JSON.
    is_text: bool,
}

impl Raw {
    /// Without the line break.
    fn text(&self) -> &str {
        if !self.is_text {
            return "";
        }
        let text = std::str::from_utf8(&self.bytes).unwrap_or_default();
        text.strip_suffix('\n').unwrap_or(text)
    }
}

fn next_line(input: &mut dyn BufRead) -> Result<Option<Raw>, RunFileError> {
    let mut bytes = Vec::new();
    if input.read_until(b'\n', &mut bytes)? == 0 {
        return Ok(None);
    }
    let is_text = std::str::from_utf8(&bytes).is_ok();
    Ok(Some(Raw { bytes, is_text }))
}
