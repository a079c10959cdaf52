//! Reading plain JSON: a `Deserializer` over text in memory.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{self, DeserializeSeed, Visitor, value::BorrowedStrDeserializer},
};

use super::{NotPlain, Plain, RAW_VALUE, scan};

/// How deep what is plain may nest.
const DEPTH: u8 = 100;

impl de::Error for NotPlain {
    // Nobody reads what is wrong here, so none of it is put into words.
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }

    fn invalid_type(_: de::Unexpected<'_>, _: &dyn de::Expected) -> Self {
        Self
    }

    fn missing_field(_: &'static str) -> Self {
        Self
    }

    fn duplicate_field(_: &'static str) -> Self {
        Self
    }
}

/// All of a text.
#[inline]
pub(super) fn whole<'a, T: Deserialize<'a>>(text: &'a str) -> Plain<T> {
    let mut reader = Reader::new(text);
    let value = T::deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Whether a text is JSON.
pub(crate) fn is_json(text: &str) -> bool {
    let mut reader = Reader::new(text);
    let plain = reader.skip().and_then(|()| reader.end());
    plain.is_ok() || serde_json::from_str::<de::IgnoredAny>(text).is_ok()
}

/// What a string's text says; nothing where it has half a surrogate pair, or is no string.
pub(crate) fn string(json: &str) -> Option<Cow<'_, str>> {
    let mut reader = Reader::new(json);
    let said = reader.string().ok()?;
    reader.end().ok().map(|()| said)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    left: u8,
}

impl<'a> Reader<'a> {
    #[inline]
    fn new(text: &'a str) -> Self {
        Self { text, at: 0, left: DEPTH }
    }

    #[inline]
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next byte that is no white space.
    #[inline]
    fn peek(&mut self) -> Plain<u8> {
        loop {
            match self.byte().ok_or(NotPlain)? {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                byte => return Ok(byte),
            }
        }
    }

    #[inline]
    fn take(&mut self, byte: u8) -> Plain<()> {
        if self.peek()? != byte {
            return Err(NotPlain);
        }
        self.at += 1;
        Ok(())
    }

    #[inline]
    fn word(&mut self, word: &str) -> Plain<()> {
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return Err(NotPlain);
        }
        self.at += word.len();
        Ok(())
    }

    fn end(&mut self) -> Plain<()> {
        let rest = &self.text.as_bytes()[self.at..];
        if rest.trim_ascii_start().is_empty() { Ok(()) } else { Err(NotPlain) }
    }

    #[inline]
    fn since(&self, start: usize) -> Plain<&'a str> {
        self.text.get(start..self.at).ok_or(NotPlain)
    }

    #[inline]
    fn string(&mut self) -> Plain<Cow<'a, str>> {
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
    fn skip_number(&mut self) -> Plain<bool> {
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
    fn skip(&mut self) -> Plain<()> {
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
    fn open(&mut self) -> Plain<()> {
        self.left = self.left.checked_sub(1).ok_or(NotPlain)?;
        self.at += 1;
        Ok(())
    }

    #[inline]
    fn close(&mut self) -> Plain<()> {
        self.left += 1;
        self.at += 1;
        Ok(())
    }

    /// The text of a value.
    #[inline]
    fn raw(&mut self) -> Plain<&'a str> {
        self.peek()?;
        let start = self.at;
        self.skip()?;
        self.since(start)
    }

    fn number<V: Visitor<'a>>(&mut self, visitor: V) -> Plain<V::Value> {
        self.peek()?;
        let start = self.at;
        if !self.skip_number()? {
            return Err(NotPlain);
        }
        let text = self.since(start)?;
        if text.starts_with('-') {
            // `-0` is a float to `serde_json`.
            let number: i64 = text.parse().map_err(|_| NotPlain)?;
            if number == 0 { Err(NotPlain) } else { visitor.visit_i64(number) }
        } else {
            visitor.visit_u64(text.parse().map_err(|_| NotPlain)?)
        }
    }
}

macro_rules! numbers {
    ($($name:ident)*) => {$(
        fn $name<V: Visitor<'a>>(self, visitor: V) -> Plain<V::Value> {
            self.number(visitor)
        }
    )*};
}

macro_rules! not_plain {
    ($($name:ident($($argument:ty),*))*) => {$(
        fn $name<V: Visitor<'a>>(self, $(_: $argument,)* _: V) -> Plain<V::Value> {
            Err(NotPlain)
        }
    )*};
}

impl<'a> Deserializer<'a> for &mut Reader<'a> {
    type Error = NotPlain;

    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Plain<V::Value> {
        match self.peek()? {
            b'"' => self.deserialize_str(visitor),
            b'{' => self.deserialize_map(visitor),
            b'[' => self.deserialize_seq(visitor),
            b'n' => self.word("null").and_then(|()| visitor.visit_unit()),
            b't' | b'f' => self.deserialize_bool(visitor),
            _ => self.number(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'a>>(self, visitor: V) -> Plain<V::Value> {
        let said = self.peek()? == b't';
        self.word(if said { "true" } else { "false" })?;
        visitor.visit_bool(said)
    }

    numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    #[inline]
    fn deserialize_str<V: Visitor<'a>>(self, visitor: V) -> Plain<V::Value> {
        match self.string()? {
            Cow::Borrowed(said) => visitor.visit_borrowed_str(said),
            Cow::Owned(said) => visitor.visit_string(said),
        }
    }

    #[inline]
    fn deserialize_string<V: Visitor<'a>>(self, visitor: V) -> Plain<V::Value> {
        self.deserialize_str(visitor)
    }

    #[inline]
    fn deserialize_identifier<V: Visitor<'a>>(self, visitor: V) -> Plain<V::Value> {
        self.deserialize_str(visitor)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Plain<V::Value> {
        if self.peek()? == b'n' {
            self.word("null")?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_unit<V: Visitor<'a>>(self, visitor: V) -> Plain<V::Value> {
        self.peek()?;
        self.word("null")?;
        visitor.visit_unit()
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'a>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Plain<V::Value> {
        if name == RAW_VALUE {
            let raw = self.raw()?;
            return visitor.visit_map(RawText(Some(raw)));
        }
        visitor.visit_newtype_struct(self)
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'a>>(self, visitor: V) -> Plain<V::Value> {
        self.peek()?;
        if self.byte() != Some(b'[') {
            return Err(NotPlain);
        }
        self.open()?;
        let mut elements = Elements { reader: self, first: true, ended: false };
        let value = visitor.visit_seq(&mut elements)?;
        if elements.ended { Ok(value) } else { Err(NotPlain) }
    }

    #[inline]
    fn deserialize_map<V: Visitor<'a>>(self, visitor: V) -> Plain<V::Value> {
        self.peek()?;
        if self.byte() != Some(b'{') {
            return Err(NotPlain);
        }
        self.open()?;
        let mut members = Members { reader: self, first: true, ended: false };
        let value = visitor.visit_map(&mut members)?;
        if members.ended { Ok(value) } else { Err(NotPlain) }
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'a>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Plain<V::Value> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'a>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Plain<V::Value> {
        // A variant with content is an object, which none of the wire's enums are.
        match self.string()? {
            Cow::Borrowed(said) => visitor.visit_enum(BorrowedStrDeserializer::new(said)),
            Cow::Owned(_) => Err(NotPlain),
        }
    }

    #[inline]
    fn deserialize_ignored_any<V: Visitor<'a>>(self, visitor: V) -> Plain<V::Value> {
        self.skip()?;
        visitor.visit_unit()
    }

    not_plain! {
        deserialize_i128() deserialize_u128() deserialize_f32() deserialize_f64() deserialize_char()
        deserialize_bytes() deserialize_byte_buf() deserialize_unit_struct(&'static str)
        deserialize_tuple(usize) deserialize_tuple_struct(&'static str, usize)
    }
}

struct Members<'r, 'a> {
    reader: &'r mut Reader<'a>,
    first: bool,
    ended: bool,
}

impl<'a> de::MapAccess<'a> for &mut Members<'_, 'a> {
    type Error = NotPlain;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Plain<Option<K::Value>> {
        match self.reader.peek()? {
            b'}' => {
                self.ended = true;
                self.reader.close()?;
                return Ok(None);
            }
            b',' if !self.first => {
                self.reader.at += 1;
                if self.reader.peek()? != b'"' {
                    return Err(NotPlain);
                }
            }
            b'"' if self.first => {}
            _ => return Err(NotPlain),
        }
        self.first = false;
        seed.deserialize(&mut *self.reader).map(Some)
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Plain<V::Value> {
        self.reader.take(b':')?;
        seed.deserialize(&mut *self.reader)
    }
}

struct Elements<'r, 'a> {
    reader: &'r mut Reader<'a>,
    first: bool,
    ended: bool,
}

impl<'a> de::SeqAccess<'a> for &mut Elements<'_, 'a> {
    type Error = NotPlain;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'a>>(&mut self, seed: T) -> Plain<Option<T::Value>> {
        match self.reader.peek()? {
            b']' => {
                self.ended = true;
                self.reader.close()?;
                return Ok(None);
            }
            b',' if !self.first => self.reader.at += 1,
            _ if self.first => {}
            _ => return Err(NotPlain),
        }
        self.first = false;
        seed.deserialize(&mut *self.reader).map(Some)
    }
}

/// A value's text, in the form in which a raw value takes it: an object of one member.
struct RawText<'a>(Option<&'a str>);

impl<'a> de::MapAccess<'a> for RawText<'a> {
    type Error = NotPlain;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Plain<Option<K::Value>> {
        match self.0 {
            Some(_) => seed.deserialize(BorrowedStrDeserializer::new(RAW_VALUE)).map(Some),
            None => Ok(None),
        }
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Plain<V::Value> {
        let text = self.0.take().ok_or(NotPlain)?;
        seed.deserialize(BorrowedStrDeserializer::new(text))
    }
}
