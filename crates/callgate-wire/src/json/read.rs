//! Reading plain JSON: a `Deserializer` over text in memory.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{self, DeserializeSeed, Visitor, value::BorrowedStrDeserializer},
};

use super::{NotPlain, Plain, RAW_VALUE, cursor::Cursor};

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
    let mut cursor = Cursor::new(text);
    let value = T::deserialize(&mut cursor)?;
    cursor.end()?;
    Ok(value)
}

/// Whether a text is JSON.
pub(crate) fn is_json(text: &str) -> bool {
    let mut cursor = Cursor::new(text);
    let plain = cursor.skip().and_then(|()| cursor.end());
    plain.is_ok() || serde_json::from_str::<de::IgnoredAny>(text).is_ok()
}

/// What a string's text says; nothing where it has half a surrogate pair, or is no string.
pub(crate) fn string(json: &str) -> Option<Cow<'_, str>> {
    let mut cursor = Cursor::new(json);
    let said = cursor.string().ok()?;
    cursor.end().ok().map(|()| said)
}

impl<'a> Cursor<'a> {
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

impl<'a> Deserializer<'a> for &mut Cursor<'a> {
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
        let mut elements = Elements { cursor: self, first: true, ended: false };
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
        let mut members = Members { cursor: self, first: true, ended: false };
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
    cursor: &'r mut Cursor<'a>,
    first: bool,
    ended: bool,
}

impl<'a> de::MapAccess<'a> for &mut Members<'_, 'a> {
    type Error = NotPlain;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Plain<Option<K::Value>> {
        match self.cursor.peek()? {
            b'}' => {
                self.ended = true;
                self.cursor.close()?;
                return Ok(None);
            }
            b',' if !self.first => {
                self.cursor.at += 1;
                if self.cursor.peek()? != b'"' {
                    return Err(NotPlain);
                }
            }
            b'"' if self.first => {}
            _ => return Err(NotPlain),
        }
        self.first = false;
        seed.deserialize(&mut *self.cursor).map(Some)
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Plain<V::Value> {
        self.cursor.take(b':')?;
        seed.deserialize(&mut *self.cursor)
    }
}

struct Elements<'r, 'a> {
    cursor: &'r mut Cursor<'a>,
    first: bool,
    ended: bool,
}

impl<'a> de::SeqAccess<'a> for &mut Elements<'_, 'a> {
    type Error = NotPlain;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'a>>(&mut self, seed: T) -> Plain<Option<T::Value>> {
        match self.cursor.peek()? {
            b']' => {
                self.ended = true;
                self.cursor.close()?;
                return Ok(None);
            }
            b',' if !self.first => self.cursor.at += 1,
            _ if self.first => {}
            _ => return Err(NotPlain),
        }
        self.first = false;
        seed.deserialize(&mut *self.cursor).map(Some)
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
