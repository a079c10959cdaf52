//! `multipart/form-data` (RFC 7578): names and file names escaped as browsers do (WHATWG HTML,
//! multipart form data).

use schemars::JsonSchema;
use serde_json::Value;

use super::{
    content::{Blob, Content, ContentPlan},
    field::{Field, Written},
    fill::{Fill, Filled, Unfilled},
    payload::{IN_FIELDS, Sent},
    style::{Escape, How, Style},
};
use crate::{
    arguments::{as_text, items},
    registry::BackendError,
    template::Pointer,
};

/// What may stand for a part. For the published schema only.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(untagged)]
#[allow(dead_code, reason = "it stands for its schema")]
pub(crate) enum InPart {
    Field(Written),
    Content(Content),
}

/// [`InPart`], once or several times.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(untagged)]
#[allow(dead_code, reason = "it stands for its schema")]
pub(crate) enum InParts {
    One(InPart),
    Several(Vec<InPart>),
}

/// What becomes a part, or several.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Field(Field),
    Content(ContentPlan),
}

/// One part as it is sent.
struct Piece {
    name: String,
    blob: Blob,
    /// A plain text says nothing about its type: `text/plain` is the default (RFC 7578 4.4).
    says_type: bool,
}

impl Part {
    pub(crate) fn read(value: &Value, pointer: &str) -> Result<Vec<Self>, BackendError> {
        let one = |value: &Value, pointer: &str| match value {
            Value::Object(object) if Content::is_meant(object) => {
                Ok(Self::Content(ContentPlan::read(object, pointer, true)?))
            }
            value => Ok(Self::Field(Field::read(value, pointer, IN_FIELDS)?)),
        };
        match value {
            Value::Array(values) => values
                .iter()
                .enumerate()
                .map(|(i, value)| one(value, &format!("{pointer}/{i}")))
                .collect(),
            value => Ok(vec![one(value, pointer)?]),
        }
    }

    pub(crate) fn arguments(&self) -> Vec<(&'static str, &Pointer)> {
        match self {
            Self::Field(field) => field.arguments().into_iter().map(|p| ("", p)).collect(),
            Self::Content(content) => content.arguments(),
        }
    }

    fn fill(&self, name: &str, fill: &mut Fill<'_>) -> Result<Vec<Piece>, Unfilled> {
        let content = match self {
            Self::Content(content) => content,
            Self::Field(field) => return field_pieces(field, name, fill),
        };
        let blobs = content.fill(fill)?.into_iter();
        Ok(blobs.map(|blob| Piece { name: name.to_owned(), blob, says_type: true }).collect())
    }
}

/// Lists are repeated; what is still a list or an object then is JSON, and says so.
fn field_pieces(field: &Field, name: &str, fill: &mut Fill<'_>) -> Result<Vec<Piece>, Unfilled> {
    let piece = |(name, value): (String, Filled), media: Option<&str>| Piece {
        name,
        says_type: media.is_some(),
        blob: Blob {
            bytes: value.real.into_bytes(),
            shown: value.shown,
            secret: value.secret,
            filename: None,
            content_type: media.unwrap_or_default().to_owned(),
        },
    };
    let (pointer, how) = match field {
        Field::Text(template) => (template.sole_argument(), None),
        Field::Styled(pointer, how) => (Some(pointer), Some(*how)),
    };
    let plain = how.is_none_or(|how: How| how.style == Style::Json);
    let (Some(pointer), true) = (pointer, plain) else {
        let fields = field.fill(name, fill, Escape::None)?;
        return Ok(fields.into_iter().map(|field| piece(field, None)).collect());
    };
    let Some(json) = fill.argument(pointer) else { return Ok(Vec::new()) };
    if how.is_some() {
        let field = (name.to_owned(), Filled::plain(json.trim()));
        return Ok(vec![piece(field, Some("application/json"))]);
    }
    let mut pieces = Vec::new();
    let items = items(json).unwrap_or_else(|| vec![json]);
    for item in items.into_iter().filter(|item| item.trim() != "null") {
        let is_json = item.trim_start().starts_with(['{', '[']);
        let field = (name.to_owned(), Filled::plain(&as_text(item)));
        pieces.push(piece(field, is_json.then_some("application/json")));
    }
    Ok(pieces)
}

/// The whole body. The boundary is one that no part contains.
pub(crate) fn fill(parts: &[(String, Vec<Part>)], fill: &mut Fill<'_>) -> Result<Sent, Unfilled> {
    let mut pieces = Vec::new();
    for (name, parts) in parts {
        for part in parts {
            pieces.extend(part.fill(name, fill)?);
        }
    }
    let boundary = boundary(&pieces);
    let (mut bytes, mut shown) = (Vec::new(), String::new());
    let secret = pieces.iter().any(|piece| piece.blob.secret);
    for Piece { name, blob, says_type } in &pieces {
        let mut head =
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"", escaped(name));
        if let Some(filename) = &blob.filename {
            head.push_str(&format!("; filename=\"{}\"", escaped(filename)));
        }
        if *says_type {
            head.push_str(&format!("\r\nContent-Type: {}", blob.content_type));
        }
        head.push_str("\r\n\r\n");
        bytes.extend_from_slice(head.as_bytes());
        bytes.extend_from_slice(&blob.bytes);
        bytes.extend_from_slice(b"\r\n");
        shown.push_str(&head);
        shown.push_str(&blob.shown);
        shown.push_str("\r\n");
    }
    let end = format!("--{boundary}--\r\n");
    bytes.extend_from_slice(end.as_bytes());
    shown.push_str(&end);
    let content_type = format!("multipart/form-data; boundary={boundary}");
    Ok(Sent { bytes, shown, is_json: false, secret, content_type })
}

fn boundary(pieces: &[Piece]) -> String {
    let is_free = |boundary: &String| {
        let finder = memchr::memmem::Finder::new(boundary.as_bytes());
        pieces.iter().all(|piece| finder.find(&piece.blob.bytes).is_none())
    };
    // One of more boundaries than there are bytes is free.
    (0_u64..).map(|n| format!("callgate-{n:016x}")).find(is_free).unwrap_or_default()
}

/// Within the quotes of a header.
fn escaped(text: &str) -> String {
    text.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}
