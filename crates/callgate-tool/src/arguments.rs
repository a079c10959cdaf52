//! Reading arguments as text.
//!
//! A number is never turned into a number here: `9007199254740993` and `1.10` have to reach the
//! tool as the model wrote them (law 7), so values are slices of the admitted text.

use std::{borrow::Cow, collections::BTreeMap, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::template::Pointer;

/// An argument object as its JSON text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arguments<'a>(pub(crate) &'a str);

impl<'a> Arguments<'a> {
    /// The value at a place, verbatim.
    pub(crate) fn get(self, pointer: &Pointer) -> Option<&'a str> {
        let mut at = self.0;
        for segment in &pointer.0 {
            at = match at.trim_start().as_bytes().first()? {
                b'{' => {
                    let members: BTreeMap<String, &'a RawValue> = serde_json::from_str(at).ok()?;
                    members.get(segment)?.get()
                }
                b'[' => items(at)?.get(segment.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        Some(at)
    }
}

/// The items of an array, verbatim; nothing for another value.
pub(crate) fn items(json: &str) -> Option<Vec<&str>> {
    let items: Vec<&RawValue> = serde_json::from_str(json).ok()?;
    Some(items.into_iter().map(RawValue::get).collect())
}

/// The members of an object in the order in which they are written, verbatim; nothing for another
/// value.
pub(crate) fn members(json: &str) -> Option<Vec<(String, &str)>> {
    let Members(members) = serde_json::from_str(json).ok()?;
    Some(members.into_iter().map(|(name, value)| (name, value.get())).collect())
}

struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut all = Vec::new();
                while let Some(member) = map.next_entry()? {
                    all.push(member);
                }
                Ok(Members(all))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// A value as it stands in a text: a string without its quotes, anything else as its JSON.
pub(crate) fn as_text(json: &str) -> Cow<'_, str> {
    match serde_json::from_str::<Cow<'_, str>>(json) {
        Ok(text) => Cow::Owned(text.into_owned()),
        Err(_) => Cow::Borrowed(json.trim()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_spelling() {
        let text = r#"{ "id": 9007199254740993, "p": 1.10, "e": 1E+2, "s": "a\u00e9\"",
            "o": {"x": [10, {"y": -0.0}]}, "n": null, "a/b": true }"#;
        let rows: [(&[&str], Option<&str>, &str); 10] = [
            (&["id"], Some("9007199254740993"), "9007199254740993"),
            (&["p"], Some("1.10"), "1.10"),
            (&["e"], Some("1E+2"), "1E+2"),
            (&["s"], Some(r#""a\u00e9\"""#), "aé\""),
            (&["o", "x"], Some(r#"[10, {"y": -0.0}]"#), r#"[10, {"y": -0.0}]"#),
            (&["o", "x", "1", "y"], Some("-0.0"), "-0.0"),
            (&["n"], Some("null"), "null"),
            (&["a/b"], Some("true"), "true"),
            (&["missing"], None, ""),
            (&["id", "deeper"], None, ""),
        ];
        for (path, json, as_written) in rows {
            let pointer = Pointer(path.iter().map(|&s| s.into()).collect());
            let got = Arguments(text).get(&pointer);
            assert_eq!(got, json, "{pointer}");
            if let Some(json) = got {
                assert_eq!(as_text(json), as_written, "{pointer}");
            }
        }
    }
}
