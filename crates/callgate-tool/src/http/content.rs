//! Bytes that are no JSON: a text, Base64, or a file.

use std::borrow::Cow;

use base64::{
    Engine as _,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use reqwest::header::HeaderValue;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    field::shaped,
    fill::{Fill, Filled, Unfilled},
};
use crate::{
    arguments::{Arguments, items},
    registry::{BackendError, Problem},
    template::{Pointer, Template},
};

/// Content that is sent as it is: exactly one of `text`, `base64` and `file`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Content {
    /// A text with placeholders, sent as UTF-8.
    #[serde(default)]
    pub text: Option<String>,
    /// A text with placeholders that is Base64; its bytes are sent.
    #[serde(default)]
    pub base64: Option<String>,
    /// A placeholder whose argument is a file, `{"text": …}` or `{"base64": …}`, with a `filename`
    /// and a `contentType` if it likes; in a multipart body also a list of files.
    #[serde(default)]
    pub file: Option<String>,
    /// The name that the file has for the service: in a multipart body only.
    #[serde(default)]
    pub filename: Option<String>,
    /// The media type; `text/plain; charset=utf-8` for a text and `application/octet-stream` for
    /// bytes when absent.
    #[serde(default)]
    pub content_type: Option<String>,
}

/// What padding is there does not count: models forget it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

const TEXT: &str = "text/plain; charset=utf-8";
const BYTES: &str = "application/octet-stream";

/// Content with its templates read.
#[derive(Debug, Clone)]
pub(crate) struct ContentPlan {
    source: Source,
    filename: Option<Template>,
    content_type: Option<Template>,
}

#[derive(Debug, Clone)]
enum Source {
    Text(Template),
    Base64(Template),
    File(Pointer),
}

/// Content as it is sent.
#[derive(Debug, Clone)]
pub(crate) struct Blob {
    pub(crate) bytes: Vec<u8>,
    /// As it may be shown: the text, or how many bytes there are.
    pub(crate) shown: String,
    pub(crate) secret: bool,
    pub(crate) filename: Option<String>,
    pub(crate) content_type: String,
}

impl Content {
    /// Whether an object of the contract means content, not a styled value.
    pub(crate) fn is_meant(object: &Map<String, Value>) -> bool {
        !object.contains_key("style") && !object.contains_key("value")
    }
}

impl ContentPlan {
    pub(crate) fn read(
        object: &Map<String, Value>,
        pointer: &str,
        in_parts: bool,
    ) -> Result<Self, BackendError> {
        let content: Content = shaped("content", object, pointer)?;
        let template = |text: &str, member: &str| {
            Template::parse(text).map_err(BackendError::template(format!("{pointer}/{member}")))
        };
        let source = match (&content.text, &content.base64, &content.file) {
            (Some(text), None, None) => Source::Text(template(text, "text")?),
            (None, Some(text), None) => Source::Base64(template(text, "base64")?),
            (None, None, Some(text)) => match template(text, "file")?.sole_argument() {
                Some(argument) => Source::File(argument.clone()),
                None => {
                    let problem = Problem::NoSoleArgument { found: text.clone() };
                    return Err(BackendError::invalid(format!("{pointer}/file"), problem));
                }
            },
            _ => return Err(BackendError::invalid(pointer, Problem::Content)),
        };
        if !in_parts && content.filename.is_some() {
            return Err(BackendError::invalid(format!("{pointer}/filename"), Problem::Filename));
        }
        let optional = |text: &Option<String>, member: &str| {
            text.as_ref().map(|text| template(text, member)).transpose()
        };
        Ok(Self {
            source,
            filename: optional(&content.filename, "filename")?,
            content_type: optional(&content.content_type, "contentType")?,
        })
    }

    /// Every placeholder, with the member it stands in.
    pub(crate) fn arguments(&self) -> Vec<(&'static str, &Pointer)> {
        let mut all: Vec<(&'static str, &Pointer)> = match &self.source {
            Source::Text(text) => text.arguments().map(|pointer| ("/text", pointer)).collect(),
            Source::Base64(text) => text.arguments().map(|pointer| ("/base64", pointer)).collect(),
            Source::File(pointer) => vec![("/file", pointer)],
        };
        for (member, template) in
            [("/filename", &self.filename), ("/contentType", &self.content_type)]
        {
            all.extend(template.iter().flat_map(|t| t.arguments()).map(|p| (member, p)));
        }
        all
    }

    /// Nothing where the argument is absent; one, or one for each of a list of files.
    pub(crate) fn fill(&self, fill: &mut Fill<'_>) -> Result<Vec<Blob>, Unfilled> {
        let said = |template: &Option<Template>, fill: &mut Fill<'_>| match template {
            Some(template) => fill.text(template, str::to_owned),
            None => Ok(None),
        };
        let filename = said(&self.filename, fill)?;
        let content_type = said(&self.content_type, fill)?;
        let mut blobs = match &self.source {
            Source::Text(template) => {
                let text = fill.text(template, str::to_owned)?;
                text.map(text_blob).into_iter().collect()
            }
            Source::Base64(template) => match fill.text(template, str::to_owned)? {
                Some(text) => vec![bytes_blob(&text)?],
                None => Vec::new(),
            },
            Source::File(pointer) => match fill.argument(pointer) {
                None => Vec::new(),
                Some(json) => match items(json) {
                    Some(files) => files.into_iter().map(file).collect::<Result<_, _>>()?,
                    None => vec![file(json)?],
                },
            },
        };
        for blob in &mut blobs {
            if let Some(name) = &filename {
                blob.filename = Some(name.real.clone());
                blob.secret |= name.secret;
            }
            if let Some(media) = &content_type {
                blob.content_type.clone_from(&media.real);
                blob.secret |= media.secret;
            }
            if HeaderValue::try_from(&blob.content_type).is_err() {
                return Err(Unfilled::Header { name: "content-type".to_owned() });
            }
        }
        Ok(blobs)
    }
}

fn text_blob(text: Filled) -> Blob {
    Blob {
        bytes: text.real.into_bytes(),
        shown: text.shown,
        secret: text.secret,
        filename: None,
        content_type: TEXT.to_owned(),
    }
}

fn bytes_blob(text: &Filled) -> Result<Blob, Unfilled> {
    let plain: Cow<'_, str> = match text.real.contains(|c: char| c.is_ascii_whitespace()) {
        true => text.real.split_ascii_whitespace().collect::<String>().into(),
        false => text.real.as_str().into(),
    };
    let bytes = BASE64.decode(plain.as_bytes()).map_err(|_| Unfilled::Base64)?;
    Ok(Blob {
        shown: format!("[{} bytes]", bytes.len()),
        bytes,
        secret: text.secret,
        filename: Some("file".to_owned()),
        content_type: BYTES.to_owned(),
    })
}

/// A file as an argument has it.
fn file(json: &str) -> Result<Blob, Unfilled> {
    let member = |name: &str| {
        let json = Arguments(json).get(&Pointer(vec![name.to_owned()]));
        json.and_then(|json| serde_json::from_str::<String>(json).ok())
    };
    let mut blob = match (member("text"), member("base64")) {
        (Some(text), None) => text_blob(Filled::plain(&text)),
        (None, Some(text)) => bytes_blob(&Filled::plain(&text))?,
        _ => return Err(Unfilled::File),
    };
    blob.filename = Some(member("filename").unwrap_or_else(|| "file".to_owned()));
    if let Some(media) = member("contentType") {
        blob.content_type = media;
    }
    Ok(blob)
}
