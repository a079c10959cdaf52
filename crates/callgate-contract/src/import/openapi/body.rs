//! The request body: in which form it is sent, and what its members are.

use super::{
    Skip, Skipped,
    document::{At, Doc, Notes},
    media::{essence, is_any, is_bytes, is_json, is_one, is_text},
    members::{Kind, Members, kind, members},
};

/// A body as the http backend sends it.
#[derive(Debug)]
pub(super) struct Body<'d> {
    pub(super) at: At<'d>,
    /// Absent where the document says nothing about it.
    pub(super) schema: Option<At<'d>>,
    pub(super) required: bool,
    pub(super) form: Form<'d>,
}

/// The form of a body.
#[derive(Debug)]
pub(super) enum Form<'d> {
    Json {
        /// The media type, where it is not plain JSON.
        media: Option<&'d str>,
        /// The members, where the schema is nothing but members.
        members: Option<Members<'d>>,
    },
    /// Named fields: `application/x-www-form-urlencoded` or `multipart/form-data`.
    Fields {
        is_multipart: bool,
        /// `None` where more is said than that: the fields are those of an object then.
        members: Option<Members<'d>>,
        encoding: Option<At<'d>>,
    },
    /// A text as it is.
    Text { media: &'d str },
    /// Bytes, in Base64.
    Bytes { media: &'d str },
    /// Either of the two: a file.
    File { media: &'d str },
}

/// Of a `content` object, what is JSON: plain JSON first.
pub(super) fn json<'d>(content: &At<'d>) -> Option<(&'d str, At<'d>)> {
    let find = |fits: &dyn Fn(&str) -> bool| content.members().find(|(media, _)| fits(media));
    find(&|media| essence(media) == "application/json")
        .or_else(|| find(&is_json))
        .or_else(|| find(&is_any))
}

/// The body of an operation, if it has one.
pub(super) fn read<'d>(
    doc: &Doc<'d>,
    operation: &At<'d>,
    method: &str,
    notes: &mut Notes,
) -> Result<Option<Body<'d>>, Skipped> {
    let Some(at) = operation.get("requestBody") else { return Ok(None) };
    let at = doc.resolve(at)?;
    let required = at.is("required");
    if matches!(method, "GET" | "HEAD") {
        if required {
            return Err(at.skip(Skip::BodyOnGet { method: method.to_owned() }));
        }
        notes.add(at.pointer, format!("a {method} is sent without a body: left out"));
        return Ok(None);
    }
    let Some(content) = at.get("content").filter(|content| content.members().next().is_some())
    else {
        notes.add(at.pointer, "the body has no `content`: left out");
        return Ok(None);
    };
    let Some((schema, form)) = form(doc, &content, notes) else {
        let media: Vec<&str> = content.members().map(|(media, _)| media).collect();
        return Err(content.skip(Skip::Media { media: media.join(", ") }));
    };
    let says_nothing = match &form {
        Form::Fields { members: Some(members), .. } => members.all.is_empty(),
        Form::Json { .. } => false,
        _ => schema.is_none(),
    };
    if !required && says_nothing {
        notes.add(at.pointer, "the body is optional and empty: left out");
        return Ok(None);
    }
    Ok(Some(Body { at, schema, required, form }))
}

/// The schema and form of the first kind that there is: JSON, fields, text, bytes.
fn form<'d>(
    doc: &Doc<'d>,
    content: &At<'d>,
    notes: &mut Notes,
) -> Option<(Option<At<'d>>, Form<'d>)> {
    if let Some((media, json)) = json(content) {
        let schema = json.get("schema");
        if is_any(media) && schema.as_ref().is_some_and(|schema| is_binary(doc, schema)) {
            return Some((schema, Form::File { media: "application/octet-stream" }));
        }
        return Some(as_json(doc, media, schema));
    }
    let find = |fits: &dyn Fn(&str) -> bool| content.members().find(|(media, _)| fits(media));
    let fields = |name: &'static str| find(&|media| essence(media) == name);
    let named =
        fields("application/x-www-form-urlencoded").or_else(|| fields("multipart/form-data"));
    if let Some((media, at)) = named {
        let schema = at.get("schema");
        let members = match &schema {
            Some(schema) => members(doc, schema).filter(|members| !members.is_open),
            None => Some(Members::default()),
        };
        // Names are needed, and an object that says nothing has none.
        let has_names = |schema| matches!(kind(doc, schema), Kind::Object(_) | Kind::Open);
        if members.is_none() && !schema.as_ref().is_some_and(has_names) {
            return None;
        }
        let is_multipart = essence(media) == "multipart/form-data";
        return Some((
            schema,
            Form::Fields { is_multipart, members, encoding: at.get("encoding") },
        ));
    }
    let (media, at) = find(&|media| essence(media) == "text/plain")
        .or_else(|| find(&is_text))
        .or_else(|| find(&|media| essence(media) == "application/octet-stream"))
        .or_else(|| find(&is_one))
        .or_else(|| content.members().next())?;
    let schema = at.get("schema");
    if is_text(media) {
        return Some((schema, Form::Text { media }));
    }
    let object = schema.as_ref().filter(|schema| matches!(kind(doc, schema), Kind::Object(_)));
    if let Some(object) = object {
        let message =
            format!("an object has no form as `{media}`: it is sent as JSON under that name");
        notes.add(&*object.pointer, message);
        return Some(as_json(doc, media, schema));
    }
    let form = match (is_one(media), is_bytes(media)) {
        (true, true) => Form::Bytes { media },
        (true, false) => Form::File { media },
        (false, _) => Form::File { media: "application/octet-stream" },
    };
    Some((schema, form))
}

fn as_json<'d>(
    doc: &Doc<'d>,
    media: &'d str,
    schema: Option<At<'d>>,
) -> (Option<At<'d>>, Form<'d>) {
    let members = schema
        .as_ref()
        .and_then(|schema| members(doc, schema))
        .filter(|members| !members.all.is_empty() && !members.is_open);
    let plain = essence(media) == "application/json" || is_any(media);
    (schema, Form::Json { media: (!plain).then_some(media), members })
}

/// Whether a schema stands for bytes: 3.0's `format: binary`, 3.1's `contentMediaType` without an
/// encoding.
pub(super) fn is_binary<'d>(doc: &Doc<'d>, schema: &At<'d>) -> bool {
    let Ok(at) = doc.resolve(schema.clone()) else { return false };
    let is_text = at.value.get("type").is_none_or(|t| t == "string");
    let is_file = at.value.get("type").is_some_and(|t| t == "file");
    let says = |word: &str| at.text(word);
    let bare = says("contentEncoding").is_none_or(|encoding| encoding == "binary");
    let by_media = bare && says("contentMediaType").is_some_and(|media| !is_text_media(media));
    is_file || (is_text && (says("format") == Some("binary") || by_media))
}

fn is_text_media(media: &str) -> bool {
    is_text(media) || is_json(media)
}
