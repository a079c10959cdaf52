//! The parameters of an operation: which there are, and which of them are arguments.
//!
//! No arguments: credentials (`auth` has them), `Accept` and `Content-Type` (OpenAPI has them said
//! elsewhere), headers that frame the message, and what the http backend cannot send. Such a
//! parameter costs the operation only where it is required.

use serde_json::Value;

use super::{
    Skip, Skipped,
    auth::is_credential,
    document::{At, Doc, Notes},
};

/// Where a parameter stands in the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Path,
    Query,
    Header,
    Cookie,
}

impl Place {
    fn read(word: &str) -> Option<Self> {
        Some(match word {
            "path" => Self::Path,
            "query" => Self::Query,
            "header" => Self::Header,
            "cookie" => Self::Cookie,
            _ => return None,
        })
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Query => "query",
            Self::Header => "header",
            Self::Cookie => "cookie",
        }
    }
}

/// One parameter.
#[derive(Debug, Clone)]
pub(super) struct Parameter<'d> {
    pub(super) at: At<'d>,
    pub(super) name: &'d str,
    pub(super) place: Place,
    pub(super) required: bool,
    pub(super) schema: Option<At<'d>>,
    /// It is sent as JSON (`content`).
    pub(super) is_json: bool,
}

/// The parameters of an operation.
#[derive(Debug, Default)]
pub(super) struct Parameters<'d> {
    pub(super) arguments: Vec<Parameter<'d>>,
    pub(super) credentials: Vec<Parameter<'d>>,
}

/// Headers that the http backend sets itself, or refuses.
const FRAMING: [&str; 12] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "idempotency-key",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// `lists` are the parameters of the path and those of the operation, which win.
pub(super) fn read<'d>(
    doc: &Doc<'d>,
    lists: &[&At<'d>],
    notes: &mut Notes,
) -> Result<Parameters<'d>, Skipped> {
    let mut all: Vec<Parameter<'d>> = Vec::new();
    for list in lists {
        let Some(list) = list.get("parameters") else { continue };
        for item in list.items() {
            let at = doc.resolve(item)?;
            let Some(parameter) = one(&at, notes) else { continue };
            let same = |p: &Parameter<'_>| p.name == parameter.name && p.place == parameter.place;
            match all.iter_mut().find(|p| same(p)) {
                Some(earlier) => *earlier = parameter,
                None => all.push(parameter),
            }
        }
    }
    let mut out = Parameters::default();
    for parameter in all {
        let lower = parameter.name.to_ascii_lowercase();
        if is_credential(&parameter) {
            out.credentials.push(parameter);
        } else if parameter.place == Place::Header && FRAMING.contains(&&*lower) {
            let name = parameter.name;
            notes.add(&*parameter.at.pointer, format!("the header `{name}` is set by the backend"));
        } else if matches!(parameter.place, Place::Header | Place::Cookie)
            && !is_header_name(parameter.name)
        {
            leave_out(&parameter, "it is no name of a header or cookie", notes)?;
        } else {
            out.arguments.push(parameter);
        }
    }
    Ok(out)
}

/// An optional parameter is left out with a note; without a required one there is no operation.
pub(super) fn leave_out(
    parameter: &Parameter<'_>,
    why: &'static str,
    notes: &mut Notes,
) -> Result<(), Skipped> {
    let name = parameter.name.to_owned();
    if parameter.required {
        return Err(parameter.at.skip(Skip::Parameter { name, why }));
    }
    notes.add(&*parameter.at.pointer, format!("the parameter `{name}` is left out: {why}"));
    Ok(())
}

fn one<'d>(at: &At<'d>, notes: &mut Notes) -> Option<Parameter<'d>> {
    let name = at.value.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
    let place = at.value.get("in").and_then(Value::as_str).and_then(Place::read);
    let (Some(name), Some(place)) = (name, place) else {
        notes.add(
            &*at.pointer,
            "a parameter has a `name`, and `in` is path, query, header or cookie: left out",
        );
        return None;
    };
    let required = at.is("required") || place == Place::Path;
    let content = at.get("content").and_then(|content| content.members().next());
    let (schema, is_json) = match (at.get("schema"), content) {
        (Some(schema), _) => (Some(schema), false),
        (None, Some((media, content))) => (content.get("schema"), super::media::is_json(media)),
        (None, None) => (None, false),
    };
    Some(Parameter { at: at.clone(), name, place, required, schema, is_json })
}

/// A token (RFC 9110 5.6.2).
pub(super) fn is_header_name(name: &str) -> bool {
    let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !name.is_empty() && name.bytes().all(is_token)
}
