//! Parts: the pieces of messages and artifacts.
//!
//! 1.0 has one flat form with exactly one of `text`, `raw`, `url`, `data`. 0.3 has three kinds, and
//! its `data` is an object; what is none stands under `value` there, as the official SDKs do it.

use serde_json::value::RawValue;

use super::{
    dialect::Version,
    json::{Json, Members, Object, Violation},
};

/// One piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// What it is.
    pub content: Content,
    /// Its name, where it is a file.
    pub filename: Option<String>,
    /// Its media type.
    pub media_type: Option<String>,
    /// Anything.
    pub metadata: Option<Json>,
}

/// What a part holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Text.
    Text(String),
    /// Bytes, in Base64 as they came.
    Raw(String),
    /// Where the bytes are.
    Url(String),
    /// Any JSON value, digits as they were written.
    Data(Json),
}

impl Part {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(Content::Text(text.into()))
    }

    /// A JSON value.
    pub fn data(json: Json) -> Self {
        let json_type = Some("application/json".to_owned());
        Self { media_type: json_type, ..Self::of(Content::Data(json)) }
    }

    /// A part without anything beside its content.
    pub fn of(content: Content) -> Self {
        Self { content, filename: None, media_type: None, metadata: None }
    }

    /// The text, where it is one.
    pub fn as_text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The JSON value, where it is one.
    pub fn as_data(&self) -> Option<&Json> {
        match &self.content {
            Content::Data(json) => Some(json),
            _ => None,
        }
    }

    /// Reads a part of either version.
    ///
    /// # Errors
    /// It holds none of the four, or several of them.
    pub fn read(raw: &RawValue, path: &str) -> Result<Self, Violation> {
        let members = Members::read(raw, path)?;
        let metadata = members.object("metadata")?;
        // `data: null` is a value; the others cannot be null.
        let data = members.given("data").map(|raw| Content::Data(raw.into()));
        if let Some(file) = members.below("file")? {
            let content = match (file.text("bytes")?, file.text("uri")?) {
                (Some(bytes), None) => Content::Raw(bytes),
                (None, Some(uri)) => Content::Url(uri),
                _ => match (file.text("fileWithBytes")?, file.text("fileWithUri")?) {
                    (Some(bytes), None) => Content::Raw(bytes),
                    (None, Some(uri)) => Content::Url(uri),
                    _ => return Err(Violation::new(path, "a file has either bytes or a uri")),
                },
            };
            let (filename, media_type) = (file.text("name")?, file.text("mimeType")?);
            return Ok(Self { content, filename, media_type, metadata });
        }
        // An empty text is a text.
        let text = match members.get("text") {
            Some(raw) => Some(Content::Text(
                serde_json::from_str(raw.get())
                    .map_err(|_| Violation::new(members.at("text"), "must be a string"))?,
            )),
            None => None,
        };
        let raw = members.text("raw")?.map(Content::Raw);
        let url = members.text("url")?.map(Content::Url);
        let mut found = [text, raw, url, data].into_iter().flatten();
        let (Some(content), None) = (found.next(), found.next()) else {
            return Err(Violation::new(path, "must have exactly one of text, raw, url and data"));
        };
        let filename = members.text("filename")?;
        Ok(Self { content, filename, media_type: members.text("mediaType")?, metadata })
    }

    /// Its text.
    pub fn write(&self, version: Version) -> String {
        let object = match version {
            Version::V1 => self.flat(),
            Version::V03 => self.by_kind(),
        };
        object.maybe_raw("metadata", self.metadata.as_ref()).end()
    }

    fn flat(&self) -> Object {
        let object = Object::new();
        let object = match &self.content {
            Content::Text(text) => object.text("text", text),
            Content::Raw(bytes) => object.text("raw", bytes),
            Content::Url(url) => object.text("url", url),
            Content::Data(json) => object.raw("data", json.text()),
        };
        object
            .maybe("filename", self.filename.as_deref())
            .maybe("mediaType", self.media_type.as_deref())
    }

    fn by_kind(&self) -> Object {
        let file = |name: &str, value: &str| {
            let file = Object::new()
                .text(name, value)
                .maybe("name", self.filename.as_deref())
                .maybe("mimeType", self.media_type.as_deref());
            Object::new().text("kind", "file").raw("file", &file.end())
        };
        match &self.content {
            Content::Text(text) => Object::new().text("kind", "text").text("text", text),
            Content::Raw(bytes) => file("bytes", bytes),
            Content::Url(url) => file("uri", url),
            Content::Data(json) if json.is_object() => {
                Object::new().text("kind", "data").raw("data", json.text())
            }
            Content::Data(json) => {
                let wrapped = Object::new().raw("value", json.text()).end();
                Object::new().text("kind", "data").raw("data", &wrapped)
            }
        }
    }

    /// Reads the parts of a message or an artifact, of which there has to be one at least.
    pub(super) fn read_all(members: &Members<'_>) -> Result<Vec<Self>, Violation> {
        let parts = members.items("parts")?;
        let parts: Vec<Self> = parts
            .into_iter()
            .enumerate()
            .map(|(i, part)| Self::read(part, &format!("{}[{i}]", members.at("parts"))))
            .collect::<Result<_, _>>()?;
        if parts.is_empty() {
            return Err(Violation::new(members.at("parts"), "must hold one part at least"));
        }
        Ok(parts)
    }

    pub(super) fn write_all(parts: &[Self], version: Version) -> String {
        let array = super::Array::new();
        parts.iter().fold(array, |array, part| array.raw(&part.write(version))).end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Part, Violation> {
        Part::read(serde_json::from_str(text).unwrap(), "p")
    }

    #[test]
    fn parts_of_both_versions() {
        // As it came, in 1.0, in 0.3.
        let rows = [
            (r#"{"text":"a"}"#, r#"{"text":"a"}"#, r#"{"kind":"text","text":"a"}"#),
            (r#"{"kind":"text","text":""}"#, r#"{"text":""}"#, r#"{"kind":"text","text":""}"#),
            (
                r#"{"data":{"n":9007199254740993,"p":1.10},"mediaType":"application/json"}"#,
                r#"{"data":{"n":9007199254740993,"p":1.10},"mediaType":"application/json"}"#,
                r#"{"kind":"data","data":{"n":9007199254740993,"p":1.10}}"#,
            ),
            (r#"{"data":null}"#, r#"{"data":null}"#, r#"{"kind":"data","data":{"value":null}}"#),
            (
                r#"{"kind":"file","file":{"bytes":"QQ==","name":"a.txt","mimeType":"text/plain"}}"#,
                r#"{"raw":"QQ==","filename":"a.txt","mediaType":"text/plain"}"#,
                r#"{"kind":"file","file":{"bytes":"QQ==","name":"a.txt","mimeType":"text/plain"}}"#,
            ),
            (
                r#"{"url":"https://h/x","metadata":{"a":1.0},"odd":[]}"#,
                r#"{"url":"https://h/x","metadata":{"a":1.0}}"#,
                r#"{"kind":"file","file":{"uri":"https://h/x"},"metadata":{"a":1.0}}"#,
            ),
        ];
        for (text, new, old) in rows {
            let part = read(text).unwrap_or_else(|violation| panic!("{text}: {violation}"));
            assert_eq!(part.write(Version::V1), new, "{text}");
            assert_eq!(part.write(Version::V03), old, "{text}");
        }
        for text in [
            "{}",
            r#"{"text":"a","data":1}"#,
            r#"{"text":1}"#,
            "7",
            r#"{"kind":"file","file":{}}"#,
            r#"{"kind":"text"}"#,
            r#"{"text":"a","metadata":7}"#,
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
