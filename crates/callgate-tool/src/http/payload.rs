//! What a request carries, whatever its form: JSON, a form, parts, or content as it is.

use serde_json::{Map, Value};

use super::{
    body::Body,
    content::{Blob, Content, ContentPlan},
    encode,
    field::Field,
    fill::{Fill, Unfilled},
    multipart::{self, Part},
    spec::{HttpSpec, below},
    style::{Escape, Style},
};
use crate::{
    Reads,
    registry::{BackendError, Problem},
    template::Pointer,
};

/// Where lists and objects can be told apart by name.
pub(super) const IN_FIELDS: &[Style] =
    &[Style::Form, Style::SpaceDelimited, Style::PipeDelimited, Style::DeepObject, Style::Json];

/// A body with its templates read.
#[derive(Debug, Clone)]
pub(crate) enum Payload {
    Json(Body),
    Form(Vec<(String, Vec<Field>)>),
    Multipart(Vec<(String, Vec<Part>)>),
    Raw(ContentPlan),
}

/// A body as it is sent.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    pub(crate) bytes: Vec<u8>,
    pub(crate) shown: String,
    /// Whether `shown` is JSON.
    pub(crate) is_json: bool,
    /// Whether a value of the environment is in it.
    pub(crate) secret: bool,
    pub(crate) content_type: String,
}

impl Payload {
    /// At most one of the four; its place in the `http` object comes with it.
    pub(crate) fn read(spec: &HttpSpec) -> Result<Option<(Self, &'static str)>, BackendError> {
        let there = [
            (spec.body.is_some(), "/body"),
            (spec.form.is_some(), "/form"),
            (spec.multipart.is_some(), "/multipart"),
            (spec.raw.is_some(), "/raw"),
        ];
        let mut there = there.into_iter().filter(|(is, _)| *is).map(|(_, place)| place);
        let Some(place) = there.next() else { return Ok(None) };
        if let Some(second) = there.next() {
            return Err(BackendError::invalid(
                second,
                Problem::SeveralBodies { first: &place[1..] },
            ));
        }
        let fields = |map: &Map<String, Value>| {
            map.iter()
                .map(|(name, value)| {
                    Ok((
                        name.clone(),
                        Field::read_several(value, &below("/form", name), IN_FIELDS)?,
                    ))
                })
                .collect::<Result<Vec<_>, BackendError>>()
        };
        let payload = match (&spec.body, &spec.form, &spec.multipart, &spec.raw) {
            (Some(body), ..) => Self::Json(Body::read(body, "/body")?),
            (_, Some(form), ..) => Self::Form(fields(form)?),
            (_, _, Some(parts), _) => Self::Multipart(
                parts
                    .iter()
                    .map(|(name, value)| {
                        Ok((name.clone(), Part::read(value, &below("/multipart", name))?))
                    })
                    .collect::<Result<_, BackendError>>()?,
            ),
            (.., Some(raw)) => match raw {
                Value::Object(raw) if Content::is_meant(raw) => {
                    Self::Raw(ContentPlan::read(raw, "/raw", false)?)
                }
                _ => return Err(BackendError::invalid("/raw", Problem::Content)),
            },
            _ => return Ok(None),
        };
        Ok(Some((payload, place)))
    }

    /// Every placeholder, with its place.
    pub(crate) fn reads(&self) -> Vec<Reads> {
        let mut all = Vec::new();
        let mut add = |at: String, pointer: &Pointer| {
            all.push(Reads { at, argument: pointer.to_string() });
        };
        match self {
            Self::Json(body) => return body.reads("/http/body"),
            Self::Form(fields) => {
                for (name, values) in fields {
                    for pointer in values.iter().flat_map(Field::arguments) {
                        add(below("/http/form", name), pointer);
                    }
                }
            }
            Self::Multipart(parts) => {
                for (name, parts) in parts {
                    let at = below("/http/multipart", name);
                    for (member, pointer) in parts.iter().flat_map(Part::arguments) {
                        add(format!("{at}{member}"), pointer);
                    }
                }
            }
            Self::Raw(content) => {
                for (member, pointer) in content.arguments() {
                    add(format!("/http/raw{member}"), pointer);
                }
            }
        }
        all
    }

    /// The body; `None` where a raw one's argument is absent.
    pub(crate) fn fill(&self, fill: &mut Fill<'_>) -> Result<Option<Sent>, Unfilled> {
        match self {
            Self::Json(body) => {
                let filled = body.fill(fill)?;
                Ok(Some(Sent {
                    bytes: filled.real.into_bytes(),
                    shown: filled.shown,
                    is_json: true,
                    secret: filled.secret,
                    content_type: "application/json".to_owned(),
                }))
            }
            Self::Form(fields) => {
                let (mut real, mut shown, mut secret) = (Vec::new(), Vec::new(), false);
                for (name, values) in fields {
                    for value in values {
                        for (name, value) in value.fill(name, fill, Escape::Percent)? {
                            let name = encode(&name);
                            real.push(format!("{name}={}", value.real));
                            shown.push(format!("{name}={}", value.shown));
                            secret |= value.secret;
                        }
                    }
                }
                Ok(Some(Sent {
                    bytes: real.join("&").into_bytes(),
                    shown: shown.join("&"),
                    is_json: false,
                    secret,
                    content_type: "application/x-www-form-urlencoded".to_owned(),
                }))
            }
            Self::Multipart(parts) => multipart::fill(parts, fill).map(Some),
            Self::Raw(content) => {
                let mut blobs = content.fill(fill)?;
                if blobs.len() > 1 {
                    return Err(Unfilled::File);
                }
                Ok(blobs.pop().map(|Blob { bytes, shown, secret, content_type, .. }| Sent {
                    bytes,
                    shown,
                    is_json: false,
                    secret,
                    content_type,
                }))
            }
        }
    }
}
