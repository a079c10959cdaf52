//! Server-sent events, taken in at any cut.
//!
//! The event stream format of the WHATWG HTML standard, section 9.2.6: lines end in CR, LF or CRLF,
//! one space after the colon is not part of the value, lines that begin with a colon are comments,
//! several `data` lines make one text joined by line feeds, a byte order mark may come first.
//! Because a line is only looked at when it is whole, a character or a line end that is split
//! between two chunks needs no care of its own, except CRLF: see `after_cr`.
//!
//! Two things differ from a browser on purpose. The end of the stream delivers an event that lacks
//! its closing blank line ([`Decoder::finish`]), since servers leave it out; whoever reads the data
//! must therefore know a cut text when it sees one. And an event may not grow without limit.
//!
//! ```
//! use callgate_wire::sse::Decoder;
//!
//! let mut decoder = Decoder::default();
//! let mut seen = Vec::new();
//! for chunk in [&b": ping\r"[..], b"\nda", b"ta:{\"a\":1}\r\n\r", b"\n"] {
//!     decoder.push(chunk, |event| seen.push(event.data.to_owned()))?;
//! }
//! assert_eq!(seen, ["{\"a\":1}"]);
//! # Ok::<(), callgate_wire::sse::SseError>(())
//! ```

use std::borrow::Cow;

use memchr::memchr2;

use crate::raw::lossy;

/// Bytes that one event may have at most, unless told otherwise: 8 MiB.
pub const MAX_EVENT_BYTES: usize = 8 << 20;

/// One event, borrowed from the decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// The `event` field; empty where none came, which stands for `message`.
    pub name: &'a str,
    /// The `data` lines, joined by line feeds. Empty after a bare `data:`; an event without any
    /// `data` line is none.
    pub data: &'a str,
    /// The last `id` that the stream gave, for resuming; empty where none came.
    pub id: &'a str,
}

/// A stream that cannot be read any further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    /// An event, or a line of it, has more bytes than allowed.
    #[error("an event of the stream is larger than {limit} bytes")]
    EventTooLarge {
        /// The limit in bytes.
        limit: usize,
    },
}

/// The decoder. Keeps what is not whole yet; after an error it delivers nothing more.
#[derive(Debug)]
pub struct Decoder {
    /// The line that is still coming.
    line: Vec<u8>,
    /// The data of the event that is still coming, each line followed by a line feed.
    data: Vec<u8>,
    name: Vec<u8>,
    id: Vec<u8>,
    retry_ms: Option<u64>,
    /// The last line ended in CR: if LF comes next, it belongs to that line end.
    after_cr: bool,
    /// No line has been seen yet, so a byte order mark may come.
    at_start: bool,
    limit: usize,
    failed: Option<SseError>,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::with_limit(MAX_EVENT_BYTES)
    }
}

impl Decoder {
    /// A decoder for events of at most `limit` bytes.
    pub fn with_limit(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            data: Vec::new(),
            name: Vec::new(),
            id: Vec::new(),
            retry_ms: None,
            after_cr: false,
            at_start: true,
            limit,
            failed: None,
        }
    }

    /// The reconnection time in milliseconds that the stream asked for, where it did.
    pub fn retry_ms(&self) -> Option<u64> {
        self.retry_ms
    }

    /// The last `id` that the stream gave, also by an event without data: a stream is resumed after
    /// it. Empty where none came.
    pub fn last_id(&self) -> Cow<'_, str> {
        lossy(&self.id)
    }

    /// Takes the next bytes and gives every event that they complete.
    ///
    /// # Errors
    /// An event that is too large; the same error again ever after.
    pub fn push(
        &mut self,
        mut bytes: &[u8],
        mut on_event: impl FnMut(Event<'_>),
    ) -> Result<(), SseError> {
        self.check()?;
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_cr) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = memchr2(b'\r', b'\n', bytes) else {
                self.fits(self.line.len() + bytes.len())?;
                self.line.extend_from_slice(bytes);
                return Ok(());
            };
            self.after_cr = bytes[end] == b'\r';
            let line = &bytes[..end];
            bytes = &bytes[end + 1..];
            if self.line.is_empty() {
                self.take_line(line, &mut on_event)?;
            } else {
                let mut whole = std::mem::take(&mut self.line);
                whole.extend_from_slice(line);
                self.take_line(&whole, &mut on_event)?;
                whole.clear();
                self.line = whole;
            }
        }
        Ok(())
    }

    /// The end of the stream: gives the event that lacks its blank line, if there is one.
    ///
    /// Its last line may be cut.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn finish(&mut self, mut on_event: impl FnMut(Event<'_>)) -> Result<(), SseError> {
        self.check()?;
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.take_line(&line, &mut on_event)?;
        }
        self.dispatch(&mut on_event);
        Ok(())
    }

    fn take_line(
        &mut self,
        mut line: &[u8],
        on_event: &mut impl FnMut(Event<'_>),
    ) -> Result<(), SseError> {
        self.fits(line.len())?;
        if std::mem::take(&mut self.at_start) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            self.dispatch(on_event);
            return Ok(());
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(0) => return Ok(()),
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                self.fits(self.data.len() + value.len() + 1)?;
                self.data.extend_from_slice(value);
                self.data.push(b'\n');
            }
            b"event" => value.clone_into(&mut self.name),
            b"id" if !value.contains(&0) => value.clone_into(&mut self.id),
            b"retry" => {
                let digits = std::str::from_utf8(value).ok();
                self.retry_ms = digits.and_then(|digits| digits.parse().ok()).or(self.retry_ms);
            }
            _ => {}
        }
        Ok(())
    }

    fn dispatch(&mut self, on_event: &mut impl FnMut(Event<'_>)) {
        // The last line feed joins nothing.
        if let Some((_, data)) = self.data.split_last() {
            // The standard decodes with replacement characters rather than failing.
            on_event(Event { name: &lossy(&self.name), data: &lossy(data), id: &lossy(&self.id) });
        }
        self.data.clear();
        self.name.clear();
    }

    fn check(&self) -> Result<(), SseError> {
        self.failed.map_or(Ok(()), Err)
    }

    fn fits(&mut self, bytes: usize) -> Result<(), SseError> {
        if bytes > self.limit {
            self.failed = Some(SseError::EventTooLarge { limit: self.limit });
        }
        self.check()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn events(chunks: &[&[u8]]) -> Vec<(String, String, String)> {
        let mut decoder = Decoder::default();
        let mut seen = Vec::new();
        let mut keep = |event: Event<'_>| {
            seen.push((event.name.to_owned(), event.data.to_owned(), event.id.to_owned()));
        };
        for chunk in chunks {
            decoder.push(chunk, &mut keep).unwrap();
        }
        decoder.finish(&mut keep).unwrap();
        seen
    }

    fn data(stream: &str) -> Vec<String> {
        events(&[stream.as_bytes()]).into_iter().map(|event| event.1).collect()
    }

    #[test]
    fn the_format() {
        for (stream, expected) in [
            ("data: a\n\n", vec!["a"]),
            ("data:a\n\ndata:  b\n\n", vec!["a", " b"]),
            ("data: a\r\rdata: b\r\r", vec!["a", "b"]),
            ("data: a\r\n\r\ndata: b\r\n\r\n", vec!["a", "b"]),
            ("data: a\ndata: b\ndata\ndata: c\n\n", vec!["a\nb\n\nc"]),
            (": ping\n\n:\n\ndata: a\n: in between\n\n", vec!["a"]),
            ("\u{feff}data: a\n\n", vec!["a"]),
            ("data: a\n\n\u{feff}data: not at the start\n\n", vec!["a"]),
            ("event: x\n\ndata: a\n\n", vec!["a"]),
            ("data:\n\ndata: a\n\n", vec!["", "a"]),
            ("{\"error\":1}\n\ndata: a\n\n", vec!["a"]),
            // Not closed by a blank line, not even by a line end.
            ("data: a\n", vec!["a"]),
            ("data: a", vec!["a"]),
            ("data: é😀\n\n", vec!["é😀"]),
        ] {
            assert_eq!(data(stream), expected, "{stream:?}");
        }
    }

    #[test]
    fn name_and_id() {
        let seen = events(&[b"event: error\nid: 7\ndata: a\n\ndata: b\n\n"]);
        let own = |name: &str, data: &str, id: &str| (name.into(), data.into(), id.into());
        assert_eq!(seen, [own("error", "a", "7"), own("", "b", "7")]);
    }

    #[test]
    fn an_id_counts_without_data() {
        let mut decoder = Decoder::default();
        decoder.push(b"id: 7\nretry: 500\n\n", |_| panic!("there is no data")).unwrap();
        assert_eq!((&*decoder.last_id(), decoder.retry_ms()), ("7", Some(500)));
    }

    #[test]
    fn invalid_utf8_is_replaced() {
        assert_eq!(events(&[b"data: \xff\n\n"])[0].1, "\u{fffd}");
    }

    #[test]
    fn an_event_has_a_limit() {
        let too_large = SseError::EventTooLarge { limit: 10 };
        for stream in [
            "data: 0123456789abc",
            "data: 0123456789abc\n",
            "data: 01\ndata: 23\n".repeat(3).as_str(),
        ] {
            let mut decoder = Decoder::with_limit(10);
            assert_eq!(decoder.push(stream.as_bytes(), |_| ()), Err(too_large), "{stream:?}");
            assert_eq!(decoder.push(b"\n\ndata: a\n\n", |_| ()), Err(too_large));
            assert_eq!(decoder.finish(|_| ()), Err(too_large));
        }
    }

    proptest! {
        /// Law 6.
        #[test]
        fn cuts_change_nothing(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "data: a", "data:é", ": c", "event: e", "id: 1", "\r", "\n", "\r\n", "\n\n", "\u{feff}", "x",
                ]),
                0..20,
            ),
            cuts in prop::collection::vec(0usize..200, 0..6),
        ) {
            let stream = pieces.concat().into_bytes();
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(stream.len())).collect();
            cuts.extend([0, stream.len()]);
            cuts.sort_unstable();
            let chunks: Vec<_> = cuts.windows(2).map(|pair| &stream[pair[0]..pair[1]]).collect();
            prop_assert_eq!(events(&chunks), events(&[&stream]));
        }
    }
}
