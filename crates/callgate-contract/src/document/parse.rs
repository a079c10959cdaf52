//! Strict parsing: RFC 8259, and for every fault its reason, place and likely cause.

use super::{Cell, Document, Kind, push_token};

/// Nesting that arguments and results may have.
pub const DEPTH_LIMIT: usize = 128;

/// Why a text is not a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// What is wrong.
    pub fault: Syntax,
    /// Byte offset of the fault.
    pub offset: usize,
    /// JSON Pointer of the value at fault; empty for malformed text.
    pub path: String,
}

/// What is wrong with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// Not JSON.
    Malformed(SyntaxReason),
    /// An object names a member twice.
    DuplicateKey,
    /// Nested deeper than the limit.
    TooDeep,
    /// A string holds an unpaired surrogate.
    InvalidUnicode,
}

/// Why a text is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyntaxReason {
    /// A character that cannot stand there.
    UnexpectedCharacter,
    /// The text ends within a value.
    UnexpectedEnd,
    /// A raw control character within a string.
    ControlCharacterInString,
    /// A backslash before a character that has no escape.
    InvalidEscape,
    /// A complete value, and then something that is no value.
    TrailingData,
    /// Several complete values one after the other.
    ConcatenatedValues {
        /// How many.
        values: usize,
    },
    /// Nothing but white space.
    Empty,
}

impl SyntaxReason {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UnexpectedCharacter => "unexpected_character",
            Self::UnexpectedEnd => "unexpected_end",
            Self::ControlCharacterInString => "control_character_in_string",
            Self::InvalidEscape => "invalid_escape",
            Self::TrailingData => "trailing_data",
            Self::ConcatenatedValues { .. } => "concatenated_values",
            Self::Empty => "empty",
        }
    }
}

impl SyntaxError {
    /// Puts a member name or index in front of the path, where the fault has one.
    fn below(mut self, token: &str) -> Self {
        if self.fault == Syntax::TooDeep {
            prefix(&mut self.path, token);
        }
        self
    }
}

pub(super) fn parse(text: &str, depth_limit: usize) -> Result<Document<'_>, SyntaxError> {
    if u32::try_from(text.len()).is_err() {
        return Err(malformed(SyntaxReason::UnexpectedEnd, u32::MAX as usize));
    }
    let mut parser = Parser {
        text,
        bytes: text.as_bytes(),
        at: 0,
        cells: Vec::with_capacity(text.len() / 8 + 4),
        unescaped: String::new(),
        depth_left: depth_limit,
        late: None,
    };
    parser.white_space();
    if parser.at == parser.bytes.len() {
        return Err(malformed(SyntaxReason::Empty, 0));
    }
    parser.value()?;
    parser.white_space();
    if parser.at < parser.bytes.len() {
        return Err(trailing(&text[parser.at..], parser.at, depth_limit));
    }
    if let Some(late) = parser.late {
        return Err(*late);
    }
    Ok(Document { text, cells: parser.cells, unescaped: parser.unescaped })
}

/// What follows a complete value: more values, or something else.
fn trailing(rest: &str, offset: usize, depth_limit: usize) -> SyntaxError {
    let mut values = 1;
    let mut left = rest;
    let reason = loop {
        left = left.trim_ascii_start();
        if left.is_empty() {
            break SyntaxReason::ConcatenatedValues { values };
        }
        let mut parser = Parser {
            text: left,
            bytes: left.as_bytes(),
            at: 0,
            cells: Vec::new(),
            unescaped: String::new(),
            depth_left: depth_limit,
            late: None,
        };
        if parser.value().is_err() {
            break SyntaxReason::TrailingData;
        }
        values += 1;
        left = &left[parser.at..];
    };
    malformed(reason, offset)
}

fn malformed(reason: SyntaxReason, offset: usize) -> SyntaxError {
    SyntaxError { fault: Syntax::Malformed(reason), offset, path: String::new() }
}

struct Parser<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    cells: Vec<Cell>,
    unescaped: String,
    depth_left: usize,
    /// The first duplicate name or unpaired surrogate: told only if the text is well-formed.
    late: Option<Box<SyntaxError>>,
}

/// Bytes that end a run of plain string content.
static STRING_STOP: [bool; 256] = {
    let mut table = [false; 256];
    let mut i = 0;
    while i < 0x20 {
        table[i] = true;
        i += 1;
    }
    table[b'"' as usize] = true;
    table[b'\\' as usize] = true;
    table
};

impl Parser<'_> {
    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn white_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn unexpected(&self) -> SyntaxError {
        let reason = if self.at >= self.bytes.len() {
            SyntaxReason::UnexpectedEnd
        } else {
            SyntaxReason::UnexpectedCharacter
        };
        malformed(reason, self.at)
    }

    #[allow(clippy::cast_possible_truncation)] // the text's length was checked to fit
    fn push(&mut self, kind: Kind, start: usize) -> usize {
        self.cells.push(Cell {
            kind,
            escaped: false,
            start: start as u32,
            end: self.at as u32,
            aux: 0,
            next: 0,
        });
        self.cells.len() - 1
    }

    fn value(&mut self) -> Result<(), SyntaxError> {
        match self.peek() {
            Some(b'{') => self.object(),
            Some(b'[') => self.array(),
            Some(b'"') => self.string().map(drop),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.literal("true", Kind::True),
            Some(b'f') => self.literal("false", Kind::False),
            Some(b'n') => self.literal("null", Kind::Null),
            _ => Err(self.unexpected()),
        }
    }

    fn literal(&mut self, word: &'static str, kind: Kind) -> Result<(), SyntaxError> {
        let start = self.at;
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                // A cut word ends; a wrong one is told from its first letter.
                return Err(if self.at >= self.bytes.len() {
                    self.unexpected()
                } else {
                    malformed(SyntaxReason::UnexpectedCharacter, start)
                });
            }
            self.at += 1;
        }
        self.push(kind, start);
        Ok(())
    }

    fn number(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(self.unexpected()),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.some_digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.some_digits()?;
        }
        self.push(Kind::Number, start);
        Ok(())
    }

    fn digits(&mut self) {
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
    }

    fn some_digits(&mut self) -> Result<(), SyntaxError> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.unexpected());
        }
        self.digits();
        Ok(())
    }

    /// A string; gives its cell.
    fn string(&mut self) -> Result<usize, SyntaxError> {
        let start = self.at;
        self.at += 1;
        self.plain();
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Ok(self.push(Kind::String, start));
        }
        let from = self.unescaped.len();
        let text = self.text;
        self.unescaped.push_str(&text[start + 1..self.at]);
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                Some(_) => return Err(malformed(SyntaxReason::ControlCharacterInString, self.at)),
                None => return Err(self.unexpected()),
            }
            let run = self.at;
            self.plain();
            self.unescaped.push_str(&text[run..self.at]);
        }
        self.at += 1;
        let index = self.push(Kind::String, start);
        let cell = &mut self.cells[index];
        cell.escaped = true;
        #[allow(clippy::cast_possible_truncation)] // unescaping only shortens
        {
            cell.aux = from as u32;
            cell.next = (self.unescaped.len() - from) as u32;
        }
        Ok(index)
    }

    #[inline]
    fn plain(&mut self) {
        while let Some(byte) = self.peek() {
            if STRING_STOP[byte as usize] {
                break;
            }
            self.at += 1;
        }
    }

    fn escape(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        self.at += 1;
        let c = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                let first = self.hex4()?;
                let c = self.code_point(first, start)?;
                self.unescaped.push(c);
                return Ok(());
            }
            Some(_) => return Err(malformed(SyntaxReason::InvalidEscape, start)),
            None => return Err(self.unexpected()),
        };
        self.at += 1;
        self.unescaped.push(c);
        Ok(())
    }

    fn code_point(&mut self, first: u32, start: usize) -> Result<char, SyntaxError> {
        if (0xD800..0xDC00).contains(&first) && self.bytes[self.at..].starts_with(b"\\u") {
            let back = self.at;
            self.at += 2;
            let second = self.hex4()?;
            if (0xDC00..0xE000).contains(&second) {
                let c = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                return Ok(char::from_u32(c).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = back;
        }
        Ok(char::from_u32(first).unwrap_or_else(|| {
            self.note(Syntax::InvalidUnicode, start);
            char::REPLACEMENT_CHARACTER
        }))
    }

    fn hex4(&mut self) -> Result<u32, SyntaxError> {
        let mut value = 0;
        for _ in 0..4 {
            let digit = match self.peek() {
                Some(b) => (b as char)
                    .to_digit(16)
                    .ok_or_else(|| malformed(SyntaxReason::InvalidEscape, self.at))?,
                None => return Err(self.unexpected()),
            };
            value = value * 16 + digit;
            self.at += 1;
        }
        Ok(value)
    }

    fn note(&mut self, fault: Syntax, offset: usize) {
        if self.late.is_none() {
            self.late = Some(Box::new(SyntaxError { fault, offset, path: String::new() }));
        }
    }

    fn enter(&mut self) -> Result<(), SyntaxError> {
        if self.depth_left == 0 {
            let path = String::new();
            return Err(SyntaxError { fault: Syntax::TooDeep, offset: self.at, path });
        }
        self.depth_left -= 1;
        Ok(())
    }

    fn object(&mut self) -> Result<(), SyntaxError> {
        self.enter()?;
        let index = self.push(Kind::Object, self.at);
        self.at += 1;
        self.white_space();
        let mut members = 0u32;
        if self.peek() == Some(b'}') {
            self.at += 1;
        } else {
            loop {
                if self.peek() != Some(b'"') {
                    return Err(self.unexpected());
                }
                let had_late = self.late.is_some();
                let key = self.string()?;
                self.white_space();
                if self.peek() != Some(b':') {
                    return Err(self.unexpected());
                }
                self.at += 1;
                self.white_space();
                self.value().map_err(|error| error.below(self.key(key)))?;
                self.late_below(had_late, |p| p.key(key).to_owned());
                members += 1;
                self.white_space();
                match self.peek() {
                    Some(b',') => self.at += 1,
                    Some(b'}') => {
                        self.at += 1;
                        break;
                    }
                    _ => return Err(self.unexpected()),
                }
                self.white_space();
            }
        }
        self.close(index, members);
        self.duplicates(index, members);
        Ok(())
    }

    fn array(&mut self) -> Result<(), SyntaxError> {
        self.enter()?;
        let index = self.push(Kind::Array, self.at);
        self.at += 1;
        self.white_space();
        let mut elements = 0u32;
        if self.peek() == Some(b']') {
            self.at += 1;
        } else {
            loop {
                let had_late = self.late.is_some();
                self.value().map_err(|error| error.below(&elements.to_string()))?;
                self.late_below(had_late, |_| elements.to_string());
                elements += 1;
                self.white_space();
                match self.peek() {
                    Some(b',') => self.at += 1,
                    Some(b']') => {
                        self.at += 1;
                        break;
                    }
                    _ => return Err(self.unexpected()),
                }
                self.white_space();
            }
        }
        self.close(index, elements);
        Ok(())
    }

    #[allow(clippy::cast_possible_truncation)] // no more cells than bytes
    fn close(&mut self, index: usize, children: u32) {
        self.depth_left += 1;
        let next = self.cells.len() as u32;
        let cell = &mut self.cells[index];
        cell.end = self.at as u32;
        cell.aux = children;
        cell.next = next;
    }

    /// The content of a string cell.
    fn key(&self, index: usize) -> &str {
        let cell = &self.cells[index];
        if cell.escaped {
            &self.unescaped[cell.aux as usize..(cell.aux + cell.next) as usize]
        } else {
            &self.text[cell.start as usize + 1..cell.end as usize - 1]
        }
    }

    fn late_below(&mut self, had_late: bool, token: impl Fn(&Self) -> String) {
        if !had_late && self.late.is_some() {
            let token = token(self);
            if let Some(late) = &mut self.late {
                prefix(&mut late.path, &token);
            }
        }
    }

    /// Looks for a name that stands twice; notes the second place.
    fn duplicates(&mut self, object: usize, members: u32) {
        if members < 2 || self.late.is_some() {
            return;
        }
        let mut keys = Vec::new();
        let mut small = [0usize; 8];
        let mut at = object + 1;
        for i in 0..members as usize {
            match small.get_mut(i) {
                Some(slot) if members <= 8 => *slot = at,
                _ => keys.push(at),
            }
            let value = &self.cells[at + 1];
            at = match value.kind {
                Kind::Object | Kind::Array => value.next as usize,
                _ => at + 2,
            };
        }
        let repeated = if members <= 8 {
            let keys = &small[..members as usize];
            (1..keys.len())
                .find(|&i| keys[..i].iter().any(|&k| self.key(k) == self.key(keys[i])))
                .map(|i| keys[i])
        } else {
            keys.sort_by(|&a, &b| self.key(a).cmp(self.key(b)).then(a.cmp(&b)));
            keys.windows(2).filter(|w| self.key(w[0]) == self.key(w[1])).map(|w| w[1]).min()
        };
        if let Some(key) = repeated {
            let offset = self.cells[key].start as usize;
            let name = self.key(key).to_owned();
            self.note(Syntax::DuplicateKey, offset);
            if let Some(late) = &mut self.late {
                prefix(&mut late.path, &name);
            }
        }
    }
}

fn prefix(path: &mut String, name: &str) {
    let mut front = String::new();
    push_token(&mut front, name);
    path.insert_str(0, &front);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> (Syntax, usize, String) {
        let e = Document::parse(text).unwrap_err();
        (e.fault, e.offset, e.path)
    }

    #[test]
    fn faults_are_told_by_reason_offset_and_path() {
        use Syntax::{DuplicateKey, InvalidUnicode, Malformed};
        use SyntaxReason as R;
        let rows: &[(&str, Syntax, usize, &str)] = &[
            ("", Malformed(R::Empty), 0, ""),
            (" \n", Malformed(R::Empty), 0, ""),
            ("{", Malformed(R::UnexpectedEnd), 1, ""),
            (r#"{"a": [1, 2"#, Malformed(R::UnexpectedEnd), 11, ""),
            (r#"{"a": tru"#, Malformed(R::UnexpectedEnd), 9, ""),
            (r#"{"a": True}"#, Malformed(R::UnexpectedCharacter), 6, ""),
            (r#"{"a": NaN}"#, Malformed(R::UnexpectedCharacter), 6, ""),
            (r#"{"a": nul}"#, Malformed(R::UnexpectedCharacter), 6, ""),
            (r#"{"a": 01}"#, Malformed(R::UnexpectedCharacter), 7, ""),
            (r#"{'a': 1}"#, Malformed(R::UnexpectedCharacter), 1, ""),
            ("{\"a\": \"x\ty\"}", Malformed(R::ControlCharacterInString), 8, ""),
            (r#"{"a": "\q"}"#, Malformed(R::InvalidEscape), 7, ""),
            (r#"{"a": 1} x"#, Malformed(R::TrailingData), 9, ""),
            (r#"{"a":1}{"a":2} {}"#, Malformed(R::ConcatenatedValues { values: 3 }), 7, ""),
            (r#"{"a":1}{"a":"#, Malformed(R::TrailingData), 7, ""),
            (r#"{"a": 1, "a": 2}"#, DuplicateKey, 9, "/a"),
            (r#"{"x": [{"a/b": 1, "a\/b": 2}]}"#, DuplicateKey, 18, "/x/0/a~1b"),
            (r#"{"x": ["ok", "\ud83d end"]}"#, InvalidUnicode, 14, "/x/1"),
            (r#"{"x": "\ude00"}"#, InvalidUnicode, 7, "/x"),
        ];
        for (text, want, offset, path) in rows {
            assert_eq!(fault(text), (*want, *offset, (*path).to_owned()), "{text}");
        }
    }

    #[test]
    fn duplicates_are_seen_among_many_members() {
        let members: Vec<String> = (0..40).map(|i| format!("\"k{}\": {i}", i % 39)).collect();
        let text = format!("{{{}}}", members.join(", "));
        let (kind, offset, path) = fault(&text);
        assert_eq!((kind, path.as_str()), (Syntax::DuplicateKey, "/k0"));
        assert_eq!(&text[offset..offset + 4], "\"k0\"");
    }

    #[test]
    fn nesting_is_bounded_by_the_limit() {
        let ok = "[".repeat(DEPTH_LIMIT) + &"]".repeat(DEPTH_LIMIT);
        assert!(Document::parse(&ok).is_ok());
        let deep = "[".repeat(DEPTH_LIMIT + 1) + &"]".repeat(DEPTH_LIMIT + 1);
        let (kind, offset, path) = fault(&deep);
        assert_eq!((kind, offset), (Syntax::TooDeep, DEPTH_LIMIT));
        assert_eq!(path, "/0".repeat(DEPTH_LIMIT));
    }

    #[test]
    fn strings_are_unescaped_and_numbers_kept() {
        let doc = Document::parse(r#"{"a\n": "\ud83d\ude00 \u00e9", "n": 1.10}"#).unwrap();
        let members: Vec<_> = doc.root().members().collect();
        assert_eq!(members[0].0, "a\n");
        assert_eq!(members[0].1.string(), Some("😀 é"));
        assert_eq!(members[1].1.number(), Some("1.10"));
        assert_eq!(doc.pointer("/n").map(|n| n.raw()), Some("1.10"));
    }
}
