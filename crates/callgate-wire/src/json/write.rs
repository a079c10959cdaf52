//! Writing plain JSON: a `Serializer` to bytes in memory.

use std::fmt::{self, Write as _};

use serde::{Serialize, Serializer, ser};

use super::{NotPlain, Plain, RAW_VALUE, scan, verbatim::Verbatim};

/// All of a value.
#[inline]
pub(super) fn whole(out: &mut Vec<u8>, value: &impl Serialize) -> Plain<()> {
    value.serialize(&mut Writer(out))
}

impl ser::Error for NotPlain {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

struct Writer<'o>(&'o mut Vec<u8>);

impl Writer<'_> {
    #[inline]
    fn text(&mut self, text: &str) {
        self.0.reserve(text.len() + 2);
        self.0.push(b'"');
        scan::escape(self.0, text);
        self.0.push(b'"');
    }

    /// A name and what follows it.
    #[inline]
    fn name(&mut self, first: &mut bool, name: &str) {
        self.0.reserve(name.len() + 4);
        self.comma(first);
        self.text(name);
        self.0.push(b':');
    }

    #[inline]
    fn comma(&mut self, first: &mut bool) {
        if !std::mem::take(first) {
            self.0.push(b',');
        }
    }

    /// A number, which `serde_json` spells.
    #[inline]
    fn number(&mut self, number: impl Serialize) -> Plain<()> {
        serde_json::to_writer(&mut *self.0, &number).map_err(|_| NotPlain)
    }
}

impl fmt::Write for Writer<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        scan::escape(self.0, text);
        Ok(())
    }
}

/// A list, an object, or one as the content of an enum's variant.
struct Parts<'w, 'o> {
    writer: &'w mut Writer<'o>,
    first: bool,
    close: &'static [u8],
}

impl<'w, 'o> Parts<'w, 'o> {
    #[inline]
    fn new(writer: &'w mut Writer<'o>, open: u8, close: &'static [u8]) -> Self {
        writer.0.push(open);
        Self { writer, first: true, close }
    }

    fn of_variant(writer: &'w mut Writer<'o>, name: &str, open: u8, close: &'static [u8]) -> Self {
        writer.0.push(b'{');
        writer.name(&mut true, name);
        Self::new(writer, open, close)
    }

    #[inline]
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Plain<()> {
        self.writer.comma(&mut self.first);
        value.serialize(&mut *self.writer)
    }

    #[inline]
    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Plain<()> {
        self.writer.name(&mut self.first, name);
        value.serialize(&mut *self.writer)
    }

    #[inline]
    fn end(self) {
        self.writer.0.extend_from_slice(self.close);
    }
}

macro_rules! numbers {
    ($($name:ident: $number:ty),*) => {$(
        #[inline]
        fn $name(self, number: $number) -> Plain<()> {
            self.number(number)
        }
    )*};
}

impl<'w, 'o> Serializer for &'w mut Writer<'o> {
    type Ok = ();
    type Error = NotPlain;
    type SerializeSeq = Parts<'w, 'o>;
    type SerializeTuple = Parts<'w, 'o>;
    type SerializeTupleStruct = Parts<'w, 'o>;
    type SerializeTupleVariant = Parts<'w, 'o>;
    type SerializeMap = Parts<'w, 'o>;
    type SerializeStruct = Fields<'w, 'o>;
    type SerializeStructVariant = Parts<'w, 'o>;

    numbers! {
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        serialize_i128: i128, serialize_u128: u128, serialize_f32: f32, serialize_f64: f64
    }

    #[inline]
    fn serialize_bool(self, value: bool) -> Plain<()> {
        self.0.extend_from_slice(if value { b"true" } else { b"false" });
        Ok(())
    }

    fn serialize_char(self, value: char) -> Plain<()> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Plain<()> {
        self.text(value);
        Ok(())
    }

    fn serialize_bytes(self, _: &[u8]) -> Plain<()> {
        Err(NotPlain)
    }

    #[inline]
    fn serialize_none(self) -> Plain<()> {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Plain<()> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_unit(self) -> Plain<()> {
        self.0.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Plain<()> {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Plain<()> {
        self.serialize_str(name)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Plain<()> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Plain<()> {
        let mut object = Parts::new(self, b'{', b"}");
        object.field(name, value)?;
        object.end();
        Ok(())
    }

    #[inline]
    fn serialize_seq(self, _: Option<usize>) -> Plain<Parts<'w, 'o>> {
        Ok(Parts::new(self, b'[', b"]"))
    }

    fn serialize_tuple(self, _: usize) -> Plain<Parts<'w, 'o>> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Plain<Parts<'w, 'o>> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Plain<Parts<'w, 'o>> {
        Ok(Parts::of_variant(self, name, b'[', b"]}"))
    }

    #[inline]
    fn serialize_map(self, _: Option<usize>) -> Plain<Parts<'w, 'o>> {
        Ok(Parts::new(self, b'{', b"}"))
    }

    #[inline]
    fn serialize_struct(self, name: &'static str, _: usize) -> Plain<Fields<'w, 'o>> {
        if name == RAW_VALUE {
            return Ok(Fields::Raw(self));
        }
        Ok(Fields::Named(Parts::new(self, b'{', b"}")))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Plain<Parts<'w, 'o>> {
        Ok(Parts::of_variant(self, name, b'{', b"}}"))
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Plain<()> {
        self.0.push(b'"');
        write!(self, "{value}").map_err(|_| NotPlain)?;
        self.0.push(b'"');
        Ok(())
    }
}

macro_rules! elements {
    ($($of:ident $name:ident),*) => {$(
        impl ser::$of for Parts<'_, '_> {
            type Ok = ();
            type Error = NotPlain;

            #[inline]
            fn $name<T: Serialize + ?Sized>(&mut self, value: &T) -> Plain<()> {
                self.element(value)
            }

            #[inline]
            fn end(self) -> Plain<()> {
                Parts::end(self);
                Ok(())
            }
        }
    )*};
}

elements! {
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field
}

impl ser::SerializeMap for Parts<'_, '_> {
    type Ok = ();
    type Error = NotPlain;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Plain<()> {
        self.writer.comma(&mut self.first);
        let at = self.writer.0.len();
        key.serialize(&mut *self.writer)?;
        // Keys that are no strings are spelled as such by `serde_json`.
        if self.writer.0.get(at) == Some(&b'"') { Ok(()) } else { Err(NotPlain) }
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Plain<()> {
        self.writer.0.push(b':');
        value.serialize(&mut *self.writer)
    }

    #[inline]
    fn end(self) -> Plain<()> {
        Parts::end(self);
        Ok(())
    }
}

impl ser::SerializeStructVariant for Parts<'_, '_> {
    type Ok = ();
    type Error = NotPlain;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Plain<()> {
        self.field(name, value)
    }

    fn end(self) -> Plain<()> {
        Parts::end(self);
        Ok(())
    }
}

/// The fields of a struct, or the text that a raw value has instead.
enum Fields<'w, 'o> {
    Named(Parts<'w, 'o>),
    Raw(&'w mut Writer<'o>),
}

impl ser::SerializeStruct for Fields<'_, '_> {
    type Ok = ();
    type Error = NotPlain;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Plain<()> {
        match self {
            Self::Named(parts) => parts.field(name, value),
            Self::Raw(writer) => value.serialize(Verbatim(writer.0)),
        }
    }

    #[inline]
    fn end(self) -> Plain<()> {
        if let Self::Named(parts) = self {
            parts.end();
        }
        Ok(())
    }
}
