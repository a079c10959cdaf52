//! Lines out of a byte stream, none longer than a limit.

use memchr::memchr;

use crate::mcp::message::sniff_id;

/// What is kept of the beginning of a line that is too long: enough for its id.
const HEAD: usize = 4 << 10;
/// And of its end.
const TAIL: usize = 128;

/// A line, without its line feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line<'a> {
    Whole(&'a [u8]),
    /// Longer than the limit. It was skipped without being kept; the request it answers is told
    /// where its id stands first or last.
    TooLong {
        id: Option<u64>,
    },
}

/// Takes bytes at any cut and gives lines. Never holds more than the limit.
#[derive(Debug)]
pub(super) struct Lines {
    limit: usize,
    held: Vec<u8>,
    skipping: Option<Skipped>,
}

#[derive(Debug)]
struct Skipped {
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl Lines {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, held: Vec::new(), skipping: None }
    }

    pub(super) fn push(&mut self, mut bytes: &[u8], mut on_line: impl FnMut(Line<'_>)) {
        while let Some(end) = memchr(b'\n', bytes) {
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            bytes = rest;
            if self.skipping.is_none() && self.held.is_empty() && line.len() <= self.limit {
                give(line, &mut on_line);
                continue;
            }
            self.hold(line);
            self.end(&mut on_line);
        }
        self.hold(bytes);
    }

    /// The end of the stream: the last line may lack its line feed.
    pub(super) fn finish(&mut self, mut on_line: impl FnMut(Line<'_>)) {
        self.end(&mut on_line);
    }

    fn end(&mut self, on_line: &mut impl FnMut(Line<'_>)) {
        if let Some(skipped) = self.skipping.take() {
            let id = sniff_id(&skipped.head).or_else(|| sniff_id(&skipped.tail));
            on_line(Line::TooLong { id });
        } else {
            give(&self.held, on_line);
        }
        self.held.clear();
        // One large answer must not cost its size for ever.
        self.held.shrink_to(64 << 10);
    }

    fn hold(&mut self, bytes: &[u8]) {
        if let Some(skipped) = &mut self.skipping {
            skipped.keep_tail(bytes);
            return;
        }
        if self.held.len() + bytes.len() <= self.limit {
            self.held.extend_from_slice(bytes);
            return;
        }
        let mut head = std::mem::take(&mut self.held);
        head.truncate(HEAD);
        let room = HEAD - head.len();
        head.extend_from_slice(&bytes[..bytes.len().min(room)]);
        let mut skipped = Skipped { head, tail: Vec::new() };
        skipped.keep_tail(bytes);
        self.skipping = Some(skipped);
    }
}

impl Skipped {
    fn keep_tail(&mut self, bytes: &[u8]) {
        self.tail.extend_from_slice(&bytes[bytes.len().saturating_sub(TAIL)..]);
        let extra = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..extra);
    }
}

fn give(line: &[u8], on_line: &mut impl FnMut(Line<'_>)) {
    if !line.trim_ascii().is_empty() {
        on_line(Line::Whole(line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(limit: usize, text: &str, cut: usize) -> Vec<String> {
        let mut lines = Lines::new(limit);
        let mut seen = Vec::new();
        let mut on_line = |line: Line<'_>| {
            seen.push(match line {
                Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                Line::TooLong { id } => format!("too long {id:?}"),
            });
        };
        for chunk in text.as_bytes().chunks(cut) {
            lines.push(chunk, &mut on_line);
        }
        lines.finish(&mut on_line);
        seen
    }

    #[test]
    fn the_same_lines_at_every_cut() {
        let long = format!(r#"{{"id":7,"result":"{}"}}"#, "x".repeat(200));
        let last = format!(r#"{{"result":"{}","id":8}}"#, "x".repeat(200));
        let text = format!("one\n\n  \r\ntwo\r\n{long}\nthree\n{last}\nfour");
        let expected = ["one", "two\r", "too long Some(7)", "three", "too long Some(8)", "four"];
        for cut in [1, 2, 3, 7, 64, 150, text.len()] {
            assert_eq!(all(100, &text, cut), expected, "{cut}");
        }
    }

    #[test]
    fn nothing_above_the_limit_is_held() {
        let mut lines = Lines::new(1000);
        for _ in 0..1000 {
            lines.push(&[b'x'; 100], |_| panic!("no line ends here"));
            let skipped = lines.skipping.as_ref().map_or(0, |s| s.head.len() + s.tail.len());
            assert!(lines.held.len() + skipped <= HEAD + TAIL);
        }
    }
}
