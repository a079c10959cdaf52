//! JSON read and written as text.
//!
//! Objects are taken apart into members that stay the text they were, so that what nobody looks at
//! keeps its bytes; objects are written member by member.

use std::{borrow::Cow, fmt, sync::Arc};

use serde::{
    Deserialize,
    de::{MapAccess, Visitor},
};
use serde_json::{Value, value::RawValue};

/// A JSON value as its text. Cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct Json(Arc<str>);

impl Json {
    /// A text that is JSON; nothing for another one.
    pub fn parse(text: &str) -> Option<Self> {
        let raw: &RawValue = serde_json::from_str(text).ok()?;
        Some(Self(raw.get().into()))
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The same, shared.
    pub fn shared(&self) -> Arc<str> {
        self.0.clone()
    }

    /// Taken apart; numbers lose their spelling.
    pub fn value(&self) -> Value {
        serde_json::from_str(&self.0).unwrap_or_default()
    }

    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        self.0.starts_with('{')
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&RawValue> for Json {
    fn from(raw: &RawValue) -> Self {
        Self(raw.get().into())
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        Self(value.to_string().into())
    }
}

/// What is wrong with something that came: where, and what.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct Violation {
    /// A path such as `message.parts[0].text`.
    pub field: String,
    /// What is wrong there.
    pub problem: String,
}

impl Violation {
    /// A problem with a place.
    pub fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { field: field.into(), problem: problem.into() }
    }
}

/// The members of an object, in their order, each as its text.
#[derive(Debug, Clone)]
pub struct Members<'a> {
    path: String,
    members: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> Members<'a> {
    /// Takes an object apart.
    ///
    /// # Errors
    /// It is none.
    pub fn read(json: &'a RawValue, path: &str) -> Result<Self, Violation> {
        Self::read_text(json.get(), path)
    }

    /// The same of a text.
    ///
    /// # Errors
    /// It is no object.
    pub fn read_text(text: &'a str, path: &str) -> Result<Self, Violation> {
        let Taken(members) =
            serde_json::from_str(text).map_err(|_| Violation::new(path, "must be an object"))?;
        Ok(Self { path: path.to_owned(), members })
    }

    /// The path of a member.
    pub fn at(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// A member as its text; `null` counts as absent. Of two with one name the last counts, as in
    /// ProtoJSON.
    pub fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.given(name).filter(|raw| raw.get() != "null")
    }

    /// A member whatever its value, `null` included. The name counts in both of its spellings:
    /// "parsers accept both the lowerCamelCase name and the original proto field name" (ProtoJSON).
    pub fn given(&self, name: &str) -> Option<&'a RawValue> {
        let found = self.members.iter().rev().find(|(key, _)| is_spelling(key, name));
        found.map(|(_, raw)| *raw)
    }

    /// A text; an empty one counts as absent, as in ProtoJSON.
    ///
    /// # Errors
    /// It is no text.
    pub fn text(&self, name: &str) -> Result<Option<String>, Violation> {
        let Some(raw) = self.get(name) else { return Ok(None) };
        let text: String = serde_json::from_str(raw.get())
            .map_err(|_| Violation::new(self.at(name), "must be a string"))?;
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    /// A text that must be there.
    ///
    /// # Errors
    /// It is absent, empty or no text.
    pub fn required(&self, name: &str) -> Result<String, Violation> {
        self.text(name)?.ok_or_else(|| Violation::new(self.at(name), "is required"))
    }

    /// A yes or no; absent where it is not said.
    ///
    /// # Errors
    /// It is neither.
    pub fn flag(&self, name: &str) -> Result<Option<bool>, Violation> {
        let Some(raw) = self.get(name) else { return Ok(None) };
        let flag = serde_json::from_str(raw.get());
        flag.map(Some).map_err(|_| Violation::new(self.at(name), "must be true or false"))
    }

    /// A whole number, also one in quotes (ProtoJSON takes both).
    ///
    /// # Errors
    /// It is none.
    pub fn integer(&self, name: &str) -> Result<Option<i64>, Violation> {
        let Some(raw) = self.get(name) else { return Ok(None) };
        let number = raw.get().trim_matches('"').parse();
        number.map(Some).map_err(|_| Violation::new(self.at(name), "must be an integer"))
    }

    /// The items of an array; none where it is absent.
    ///
    /// # Errors
    /// It is no array.
    pub fn items(&self, name: &str) -> Result<Vec<&'a RawValue>, Violation> {
        let Some(raw) = self.get(name) else { return Ok(Vec::new()) };
        serde_json::from_str(raw.get())
            .map_err(|_| Violation::new(self.at(name), "must be an array"))
    }

    /// The items of an array of texts.
    ///
    /// # Errors
    /// It is none.
    pub fn texts(&self, name: &str) -> Result<Vec<String>, Violation> {
        let Some(raw) = self.get(name) else { return Ok(Vec::new()) };
        serde_json::from_str(raw.get())
            .map_err(|_| Violation::new(self.at(name), "must be an array of strings"))
    }

    /// An object below.
    ///
    /// # Errors
    /// It is no object.
    pub fn below(&self, name: &str) -> Result<Option<Self>, Violation> {
        self.get(name).map(|raw| Self::read(raw, &self.at(name))).transpose()
    }

    /// An object of anybody's, such as `metadata`.
    ///
    /// # Errors
    /// It is no object.
    pub fn object(&self, name: &str) -> Result<Option<Json>, Violation> {
        let Some(raw) = self.get(name) else { return Ok(None) };
        let json = Json::from(raw);
        if json.is_object() {
            Ok(Some(json))
        } else {
            Err(Violation::new(self.at(name), "must be an object"))
        }
    }

    /// All members.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.members.iter().map(|(name, raw)| (&**name, *raw))
    }
}

/// Whether `key` is `name`, or `name` as a proto file spells it: `messageId`, `message_id`.
fn is_spelling(key: &str, name: &str) -> bool {
    if key == name {
        return true;
    }
    let mut rest = key.chars();
    let fits = name.chars().all(|c| match c {
        'A'..='Z' => rest.next() == Some('_') && rest.next() == Some(c.to_ascii_lowercase()),
        c => rest.next() == Some(c),
    });
    fits && rest.next().is_none()
}

struct Taken<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

/// Borrowed where the name has no escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for Taken<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Taken<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Taken<'de>, M::Error> {
                let mut members = Vec::new();
                while let Some(Name(name)) = map.next_key()? {
                    members.push((name, map.next_value()?));
                }
                Ok(Taken(members))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

/// An object being written.
#[derive(Debug, Clone)]
pub struct Object(String);

impl Default for Object {
    fn default() -> Self {
        Self("{".to_owned())
    }
}

impl Object {
    /// One without members yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A member whose value is JSON text.
    #[must_use]
    pub fn raw(mut self, name: &str, json: &str) -> Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&quoted(name));
        self.0.push(':');
        self.0.push_str(json);
        self
    }

    /// A text.
    #[must_use]
    pub fn text(self, name: &str, text: &str) -> Self {
        self.raw(name, &quoted(text))
    }

    /// A text that may be absent.
    #[must_use]
    pub fn maybe(self, name: &str, text: Option<&str>) -> Self {
        match text {
            Some(text) => self.text(name, text),
            None => self,
        }
    }

    /// JSON that may be absent.
    #[must_use]
    pub fn maybe_raw(self, name: &str, json: Option<&Json>) -> Self {
        match json {
            Some(json) => self.raw(name, json.text()),
            None => self,
        }
    }

    /// Yes or no.
    #[must_use]
    pub fn flag(self, name: &str, flag: bool) -> Self {
        self.raw(name, if flag { "true" } else { "false" })
    }

    /// Texts; nothing where there are none.
    #[must_use]
    pub fn texts<S: AsRef<str>>(self, name: &str, texts: &[S]) -> Self {
        if texts.is_empty() {
            return self;
        }
        let texts = texts.iter().fold(Array::new(), |array, text| array.text(text.as_ref()));
        self.raw(name, &texts.end())
    }

    /// Its text.
    pub fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// An array being written.
#[derive(Debug, Clone)]
pub struct Array(String);

impl Default for Array {
    fn default() -> Self {
        Self("[".to_owned())
    }
}

impl Array {
    /// One without items yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// An item as JSON text.
    #[must_use]
    pub fn raw(mut self, json: &str) -> Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(json);
        self
    }

    /// A text.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        self.raw(&quoted(text))
    }

    /// Its text.
    pub fn end(mut self) -> String {
        self.0.push(']');
        self.0
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_text() {
        let text = r#"{"a": 1.10, "n": null, "a\u0062": [1, 9007199254740993], "s": "", "i": "7"}"#;
        let members = Members::read_text(text, "p").unwrap();
        assert_eq!(members.get("a").unwrap().get(), "1.10");
        assert_eq!(members.get("ab").unwrap().get(), "[1, 9007199254740993]");
        assert!(members.get("n").is_none() && members.given("n").is_some());
        assert_eq!(members.text("s").unwrap(), None);
        assert_eq!(members.integer("i").unwrap(), Some(7));
        assert_eq!(members.text("a").unwrap_err().to_string(), "p.a: must be a string");
        assert!(Members::read_text("[]", "").is_err() && Members::read_text("{", "").is_err());
    }

    #[test]
    fn names_in_both_spellings() {
        let rows = [
            ("messageId", "messageId", true),
            ("message_id", "messageId", true),
            ("message_Id", "messageId", false),
            ("messageid", "messageId", false),
            ("message_id_", "messageId", false),
            ("id", "id", true),
        ];
        for (key, name, is) in rows {
            assert_eq!(is_spelling(key, name), is, "{key} {name}");
        }
    }

    #[test]
    fn what_is_written_is_json() {
        let inner = Array::new().text("x\"y").raw("1.10").end();
        let text = Object::new().text("a", "b\n").raw("c", &inner).flag("d", true).end();
        assert_eq!(text, r#"{"a":"b\n","c":["x\"y",1.10],"d":true}"#);
        assert_eq!(Object::new().end(), "{}");
        assert_eq!(Array::new().end(), "[]");
    }
}
