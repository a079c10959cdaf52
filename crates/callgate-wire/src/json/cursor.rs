//! A place in a JSON text, and the steps from it: strings, numbers, whole values.

use std::borrow::Cow;

use super::{NotPlain, Plain, scan};

/// How deep what is plain may nest.
const DEPTH: u8 = 100;

/// A place in a text.
pub(super) struct Cursor<'a> {
    text: &'a str,
    pub(super) at: usize,
    /// How much deeper it may nest.
    left: u8,
}

impl<'a> Cursor<'a> {
    #[inline]
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, left: DEPTH }
    }

    #[inline]
    pub(super) fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next byte that is no white space.
    #[inline]
    pub(super) fn peek(&mut self) -> Plain<u8> {
        loop {
            match self.byte().ok_or(NotPlain)? {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                byte => return Ok(byte),
            }
        }
    }

    #[inline]
    pub(super) fn take(&mut self, byte: u8) -> Plain<()> {
        if self.peek()? != byte {
            return Err(NotPlain);
        }
        self.at += 1;
        Ok(())
    }

    #[inline]
    pub(super) fn word(&mut self, word: &str) -> Plain<()> {
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return Err(NotPlain);
        }
        self.at += word.len();
        Ok(())
    }

    pub(super) fn end(&mut self) -> Plain<()> {
        let rest = &self.text.as_bytes()[self.at..];
        if rest.trim_ascii_start().is_empty() { Ok(()) } else { Err(NotPlain) }
    }

    #[inline]
    pub(super) fn since(&self, start: usize) -> Plain<&'a str> {
        self.text.get(start..self.at).ok_or(NotPlain)
    }

    #[inline]
    pub(super) fn string(&mut self) -> Plain<Cow<'a, str>> {
        self.take(b'"')?;
        let start = self.at;
        self.at = scan::plain(self.text.as_bytes(), start);
        match self.byte() {
            Some(b'"') => {
                let said = self.since(start)?;
                self.at += 1;
                Ok(Cow::Borrowed(said))
            }
            Some(b'\\') => self.unescaped(start).map(Cow::Owned),
            _ => Err(NotPlain),
        }
    }

    /// A string that has an escape where we are.
    fn unescaped(&mut self, start: usize) -> Plain<String> {
        let bytes = self.text.as_bytes();
        let mut said = Vec::with_capacity(2 * (self.at - start) + 64);
        said.extend_from_slice(&bytes[start..self.at]);
        loop {
            match self.byte() {
                Some(b'"') => break,
                Some(b'\\') => {
                    self.at += 1;
                    match self.escape()? {
                        ascii @ '\0'..='\x7f' => said.push(ascii as u8),
                        other => said.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
                    }
                }
                _ => return Err(NotPlain),
            }
            self.at = scan::copy_plain(&mut said, bytes, self.at);
        }
        self.at += 1;
        String::from_utf8(said).map_err(|_| NotPlain)
    }

    /// What stands for a character, after the backslash.
    #[inline]
    fn escape(&mut self) -> Plain<char> {
        let said = match self.byte().ok_or(NotPlain)? {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => {
                self.at += 1;
                return self.unicode();
            }
            _ => return Err(NotPlain),
        };
        self.at += 1;
        Ok(said)
    }

    #[cold]
    fn unicode(&mut self) -> Plain<char> {
        let unit = self.hex()?;
        if !(0xd800..0xdc00).contains(&unit) {
            return char::from_u32(unit).ok_or(NotPlain);
        }
        self.word("\\u")?;
        let low = self.hex()?;
        if !(0xdc00..0xe000).contains(&low) {
            return Err(NotPlain);
        }
        char::from_u32(0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00)).ok_or(NotPlain)
    }

    fn hex(&mut self) -> Plain<u32> {
        let digits = self.text.get(self.at..self.at + 4).ok_or(NotPlain)?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(NotPlain);
        }
        self.at += 4;
        u32::from_str_radix(digits, 16).map_err(|_| NotPlain)
    }

    /// Past a string, whatever it says.
    #[inline]
    fn skip_string(&mut self) -> Plain<()> {
        self.at += 1;
        loop {
            self.at = scan::plain(self.text.as_bytes(), self.at);
            match self.byte() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    self.at += 1;
                    match self.byte() {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                            self.at += 1;
                        }
                        Some(b'u') => {
                            self.at += 1;
                            self.hex()?;
                        }
                        _ => return Err(NotPlain),
                    }
                }
                _ => return Err(NotPlain),
            }
        }
    }

    /// Past a number; whether it is whole.
    #[inline]
    pub(super) fn skip_number(&mut self) -> Plain<bool> {
        if self.byte() == Some(b'-') {
            self.at += 1;
        }
        let start = self.at;
        self.digits()?;
        // No zero before other digits.
        if self.at - start > 1 && self.text.as_bytes()[start] == b'0' {
            return Err(NotPlain);
        }
        let mut whole = true;
        if self.byte() == Some(b'.') {
            whole = false;
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            whole = false;
            self.at += 1;
            if let Some(b'+' | b'-') = self.byte() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(whole)
    }

    #[inline]
    fn digits(&mut self) -> Plain<()> {
        let start = self.at;
        while self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { Err(NotPlain) }
    }

    /// Past a value.
    pub(super) fn skip(&mut self) -> Plain<()> {
        match self.peek()? {
            b'"' => self.skip_string(),
            b'{' => {
                self.open()?;
                if self.peek()? == b'}' {
                    return self.close();
                }
                loop {
                    if self.peek()? != b'"' {
                        return Err(NotPlain);
                    }
                    self.skip_string()?;
                    self.take(b':')?;
                    self.skip()?;
                    match self.peek()? {
                        b',' => self.at += 1,
                        b'}' => return self.close(),
                        _ => return Err(NotPlain),
                    }
                }
            }
            b'[' => {
                self.open()?;
                if self.peek()? == b']' {
                    return self.close();
                }
                loop {
                    self.skip()?;
                    match self.peek()? {
                        b',' => self.at += 1,
                        b']' => return self.close(),
                        _ => return Err(NotPlain),
                    }
                }
            }
            b'n' => self.word("null"),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            _ => self.skip_number().map(drop),
        }
    }

    #[inline]
    pub(super) fn open(&mut self) -> Plain<()> {
        self.left = self.left.checked_sub(1).ok_or(NotPlain)?;
        self.at += 1;
        Ok(())
    }

    #[inline]
    pub(super) fn close(&mut self) -> Plain<()> {
        self.left += 1;
        self.at += 1;
        Ok(())
    }

    /// The text of a value.
    #[inline]
    pub(super) fn raw(&mut self) -> Plain<&'a str> {
        self.peek()?;
        let start = self.at;
        self.skip()?;
        self.since(start)
    }
}
