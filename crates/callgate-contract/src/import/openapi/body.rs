//! The request body: its members beside the parameters where they fit, else all of it as `body`.

use super::{
    Skip, Skipped,
    document::{At, Doc, Notes},
    members::{Members, members},
};

/// A body that the http backend can send.
#[derive(Debug)]
pub(super) struct Body<'d> {
    pub(super) at: At<'d>,
    /// Absent where the document says nothing about it.
    pub(super) schema: Option<At<'d>>,
    /// The media type, where it is not plain JSON.
    pub(super) media: Option<&'d str>,
    pub(super) required: bool,
    /// The members, where the schema is nothing but members.
    pub(super) members: Option<Members<'d>>,
}

/// Whether a media type is JSON: `application/json`, `…+json`, and those that are spelt oddly.
pub(super) fn is_json(media: &str) -> bool {
    let essence = essence(media);
    essence.ends_with("/json") || essence.ends_with("+json") || essence == "application/x-json"
}

fn is_any(media: &str) -> bool {
    matches!(essence(media).as_str(), "*/*" | "application/*")
}

fn essence(media: &str) -> String {
    media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
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
    let Some(content) = at.get("content") else {
        notes.add(at.pointer, "the body has no `content`: left out");
        return Ok(None);
    };
    let Some((media, json)) = json(&content) else {
        let says_nothing = content.members().all(|(_, media)| match media.get("schema") {
            Some(schema) => members(doc, &schema).is_some_and(|m| m.all.is_empty() && !m.is_open),
            None => true,
        });
        if !required && says_nothing {
            notes.add(at.pointer, "the body is optional and empty: left out");
            return Ok(None);
        }
        let media: Vec<&str> = content.members().map(|(media, _)| media).collect();
        return Err(content.skip(Skip::Media { media: media.join(", ") }));
    };
    let schema = json.get("schema");
    let members = schema
        .as_ref()
        .and_then(|schema| members(doc, schema))
        .filter(|members| !members.all.is_empty() && !members.is_open);
    let plain = essence(media) == "application/json" || is_any(media);
    Ok(Some(Body { at, schema, media: (!plain).then_some(media), required, members }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types() {
        let rows = [
            ("application/json", true),
            ("application/json; charset=utf-8", true),
            ("Application/Vnd.Api+JSON", true),
            ("text/json", true),
            ("application/jsonl", false),
            ("application/x-www-form-urlencoded", false),
            ("*/*", false),
        ];
        for (media, expected) in rows {
            assert_eq!(is_json(media), expected, "{media}");
        }
    }
}
