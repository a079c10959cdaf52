//! JSON that came from outside, looked at without being turned into values.
//!
//! A field that servers are known to spell in several types is kept as its raw text and read when
//! it is needed, so that one odd field never costs a whole reply, and no digit is lost on the way
//! (law 7).

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Deserializer, Serialize, de, ser::SerializeMap};
use serde_json::value::RawValue;

use crate::json;

/// A field that may be absent or of any type.
pub(crate) type Raw<'a> = Option<&'a RawValue>;

/// A string's text, or that of a number; nothing for other types.
pub(crate) fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    string(raw).or_else(|| {
        let number = raw.get().starts_with(|first: char| first == '-' || first.is_ascii_digit());
        number.then_some(Cow::Borrowed(raw.get()))
    })
}

/// Bytes as text; what is no UTF-8 is replaced. Nearly all that comes is, which is seen faster by
/// looking only for that.
pub(crate) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// A string's text. Half a surrogate pair, which JSON can spell and text cannot, is replaced.
pub(crate) fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    json::string(raw.get()).or_else(|| odd_string(raw))
}

/// As [`string`], which may have half a surrogate pair.
#[cold]
fn odd_string(raw: &RawValue) -> Option<Cow<'_, str>> {
    struct Text;
    impl<'de> de::Visitor<'de> for Text {
        type Value = Cow<'de, str>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }

        fn visit_borrowed_bytes<E: de::Error>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
            Ok(lossy(bytes))
        }

        fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
            Ok(Cow::Owned(lossy(bytes).into_owned()))
        }
    }
    if !raw.get().starts_with('"') {
        return None;
    }
    // As bytes, since serde_json is strict about surrogates only when it makes a `str`.
    Deserializer::deserialize_bytes(&mut serde_json::Deserializer::from_str(raw.get()), Text).ok()
}

/// A count, whether spelled as number or as string.
pub(crate) fn number(raw: &RawValue) -> Option<u64> {
    count(&text(raw)?)
}

fn count(text: &str) -> Option<u64> {
    text.parse().ok().or_else(|| whole(text.parse().ok()?))
}

/// Counts of tokens are far below the range where this loses anything.
fn whole(count: f64) -> Option<u64> {
    (count >= 0.0).then_some(count as u64)
}

/// A count, whether spelled as number or as string; nothing for any other value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Count(pub(crate) Option<u64>);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> de::Visitor<'de> for Any {
            type Value = Count;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a count")
            }

            fn visit_u64<E>(self, count: u64) -> Result<Count, E> {
                Ok(Count(Some(count)))
            }

            fn visit_i64<E>(self, _: i64) -> Result<Count, E> {
                Ok(Count(None))
            }

            fn visit_f64<E>(self, count: f64) -> Result<Count, E> {
                Ok(Count(whole(count)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Count, E> {
                Ok(Count(count(text)))
            }

            fn visit_bool<E>(self, _: bool) -> Result<Count, E> {
                Ok(Count(None))
            }

            fn visit_unit<E>(self) -> Result<Count, E> {
                Ok(Count(None))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<Count, A::Error> {
                while seq.next_element::<de::IgnoredAny>()?.is_some() {}
                Ok(Count(None))
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Count, A::Error> {
                while map.next_entry::<de::IgnoredAny, de::IgnoredAny>()?.is_some() {}
                Ok(Count(None))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// The text as an object that goes into a body as it is; nothing for any other text.
pub(crate) fn object(text: &str) -> Raw<'_> {
    let text = text.trim();
    if text.starts_with('{') { json::from_str(text).ok() } else { None }
}

/// The texts of a list's elements; nothing for anything else.
pub(crate) fn list_of(text: &str) -> Option<Vec<&RawValue>> {
    json::from_str(text).ok()
}

/// Whether an escape in this JSON is half a surrogate pair, over which parsers fail.
pub(crate) fn has_lone_surrogate(json: &str) -> bool {
    let mut rest = json;
    let mut high_before = false;
    while let Some(at) = rest.find('\\') {
        let unit = rest.get(at + 2..at + 6).filter(|_| rest[at + 1..].starts_with('u'));
        let unit = unit.and_then(|digits| u16::from_str_radix(digits, 16).ok());
        let follows = high_before && at == 0;
        let low = matches!(unit, Some(0xdc00..=0xdfff));
        if (high_before || low) && !(follows && low) {
            return true;
        }
        high_before = matches!(unit, Some(0xd800..=0xdbff));
        // An escape is one character at least, of any width.
        let escaped = rest[at + 1..].chars().next().map_or(0, char::len_utf8);
        rest = &rest[at + 1 + if unit.is_some() { 5 } else { escaped }..];
    }
    high_before
}

/// An object's fields in order, each value as its text.
#[derive(Debug, Default)]
pub(crate) struct Fields<'a>(pub(crate) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Fields<'a> {
    /// Of an object; nothing for anything else.
    pub(crate) fn of(json: &'a str) -> Option<Self> {
        json::from_str(json).ok()
    }

    pub(crate) fn get(&self, name: &str) -> Raw<'a> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    /// With this value of a field, in its place or at the end.
    pub(crate) fn set(&mut self, name: &'a str, value: &'a RawValue) {
        match self.0.iter_mut().find(|(key, _)| key == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((Cow::Borrowed(name), value)),
        }
    }

    pub(crate) fn keep(&mut self, names: &[&str]) {
        self.0.retain(|(key, value)| names.contains(&&**key) && value.get() != "null");
    }

    /// The object's text.
    pub(crate) fn json(&self) -> String {
        json::to_string(self)
    }
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> de::Visitor<'de> for Entries {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some((Key(key), value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
                    fields.push((key, value));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl Serialize for Fields<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> &RawValue {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn strings() {
        assert_eq!(string(raw(r#""a\nb""#)).unwrap(), "a\nb");
        assert!(matches!(string(raw(r#""plain""#)), Some(Cow::Borrowed("plain"))));
        assert_eq!(string(raw(r#""\ud83d\ude00""#)).unwrap(), "😀");
        assert!(string(raw(r#""x\ud83d""#)).unwrap().starts_with("x\u{fffd}"));
        assert_eq!(string(raw("1")), None);
    }

    #[test]
    fn counts() {
        for (json, expected) in [
            ("7", Some(7)),
            ("7.0", Some(7)),
            (r#""7""#, Some(7)),
            ("-1", None),
            ("true", None),
            (r#""x""#, None),
            ("null", None),
            (r#"{"a":[1]}"#, None),
        ] {
            assert_eq!(number(raw(json)), expected, "{json}");
            assert_eq!(json::from_str::<Count>(json).unwrap(), Count(expected), "{json}");
        }
    }

    #[test]
    fn objects() {
        assert_eq!(
            object(" {\"id\": 1234567890123456789} ").unwrap().get(),
            "{\"id\": 1234567890123456789}"
        );
        for text in ["", "[1]", "1", "{", "{} {}", "null"] {
            assert!(object(text).is_none(), "{text}");
        }
    }

    #[test]
    fn half_surrogates() {
        for (json, expected) in [
            (r#""\ud83d\ude00""#, false),
            (r#""\ud83d""#, true),
            (r#""\ud83d.\ude00""#, true),
            (r#""\ude00""#, true),
            (r#""\\ud83d""#, false),
            (r#""\\\ud83d""#, true),
            (r#""\ud83d\n""#, true),
            (r#""\u00e9\"é""#, false),
            (r#""\"#, false),
        ] {
            assert_eq!(has_lone_surrogate(json), expected, "{json}");
        }
    }

    #[test]
    fn fields() {
        let mut fields = Fields::of(r#"{"z":1.10,"a\u0062":{"x":null},"n":null}"#).unwrap();
        assert_eq!(fields.get("ab").unwrap().get(), r#"{"x":null}"#);
        fields.set("z", raw("2.0"));
        fields.set("new", raw("[]"));
        assert_eq!(fields.json(), r#"{"z":2.0,"ab":{"x":null},"n":null,"new":[]}"#);
        fields.keep(&["z", "n"]);
        assert_eq!(fields.json(), r#"{"z":2.0}"#);
        assert!(Fields::of("[]").is_none());
    }
}
