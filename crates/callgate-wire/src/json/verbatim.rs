//! A raw value's text, which goes out as it is.

use serde::{Serialize, Serializer, ser::Impossible};

use super::{NotPlain, Plain};

/// Where the text goes.
pub(super) struct Verbatim<'o>(pub(super) &'o mut Vec<u8>);

macro_rules! not_plain {
    ($($name:ident($($argument:ty),*) -> $of:ty;)*) => {$(
        fn $name(self, $(_: $argument),*) -> Plain<$of> {
            Err(NotPlain)
        }
    )*};
}

type Never = Impossible<(), NotPlain>;

impl Serializer for Verbatim<'_> {
    type Ok = ();
    type Error = NotPlain;
    type SerializeSeq = Never;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeMap = Never;
    type SerializeStruct = Never;
    type SerializeStructVariant = Never;

    #[inline]
    fn serialize_str(self, json: &str) -> Plain<()> {
        self.0.extend_from_slice(json.as_bytes());
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Plain<()> {
        Err(NotPlain)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, _: &T) -> Plain<()> {
        Err(NotPlain)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Plain<()> {
        Err(NotPlain)
    }

    not_plain! {
        serialize_bool(bool) -> ();
        serialize_i8(i8) -> ();
        serialize_i16(i16) -> ();
        serialize_i32(i32) -> ();
        serialize_i64(i64) -> ();
        serialize_u8(u8) -> ();
        serialize_u16(u16) -> ();
        serialize_u32(u32) -> ();
        serialize_u64(u64) -> ();
        serialize_f32(f32) -> ();
        serialize_f64(f64) -> ();
        serialize_char(char) -> ();
        serialize_bytes(&[u8]) -> ();
        serialize_none() -> ();
        serialize_unit() -> ();
        serialize_unit_struct(&'static str) -> ();
        serialize_unit_variant(&'static str, u32, &'static str) -> ();
        serialize_seq(Option<usize>) -> Never;
        serialize_tuple(usize) -> Never;
        serialize_tuple_struct(&'static str, usize) -> Never;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Never;
        serialize_map(Option<usize>) -> Never;
        serialize_struct(&'static str, usize) -> Never;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Never;
    }
}
