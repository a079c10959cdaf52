//! What a request says beyond what every provider has: fields of one provider's own, and words for
//! sampling that some have.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::value::RawValue;

use crate::{
    Note, Request, json,
    raw::{Fields, list_of},
};

/// A body with the request's extra fields, if they are this codec's; otherwise they are noted.
pub(crate) fn complete(
    codec: &str,
    request: &Request,
    body: Bytes,
    notes: &mut Vec<Note>,
) -> Bytes {
    let Some(extra) = &request.extra else { return body };
    let Some(more) = Fields::of(&extra.fields) else {
        // Not of the reader's making: somebody wrote it who uses this library.
        leave("extra", notes);
        return body;
    };
    if *extra.provider != *codec {
        more.0.iter().for_each(|(name, _)| leave(name, notes));
        return body;
    }
    let merged = std::str::from_utf8(&body).ok().and_then(Fields::of);
    merged.map(|own| merge(&own, &more, "", notes).into()).unwrap_or(body)
}

fn leave(field: &str, notes: &mut Vec<Note>) {
    notes.push(Note::FieldLeftOut { field: Arc::from(field) });
}

/// An object's text: its own fields in their places, then those that only the other has.
fn merge(own: &Fields<'_>, more: &Fields<'_>, path: &str, notes: &mut Vec<Note>) -> String {
    let mut out = String::from("{");
    let mut field = |name: &str, json: &str| {
        if out.len() > 1 {
            out.push(',');
        }
        out.push_str(&json::to_string(&name));
        out.push(':');
        out.push_str(json);
    };
    for (name, value) in &own.0 {
        match more.get(name) {
            None => field(name, value.get()),
            Some(other) => field(name, &both(value, other, &format!("{path}{name}"), notes)),
        }
    }
    for (name, value) in more.0.iter().filter(|(name, _)| own.get(name).is_none()) {
        field(name, value.get());
    }
    out.push('}');
    out
}

/// Objects become one, lists follow each other, and of all else the codec's own stays.
fn both(own: &RawValue, other: &RawValue, path: &str, notes: &mut Vec<Note>) -> String {
    if let (Some(own), Some(more)) = (Fields::of(own.get()), Fields::of(other.get())) {
        return merge(&own, &more, &format!("{path}."), notes);
    }
    if let (Some(own), Some(more)) = (list_of(own.get()), list_of(other.get())) {
        let all: Vec<_> = own.into_iter().chain(more).map(RawValue::get).collect();
        return format!("[{}]", all.join(","));
    }
    if own.get() != other.get() {
        leave(path, notes);
    }
    own.get().to_owned()
}

/// Notes what is said of sampling and effort and is not among these names.
pub(crate) fn note_sampling(request: &Request, known: &[&str], notes: &mut Vec<Note>) {
    let sampling = &request.sampling;
    for (name, said) in [
        ("top_p", sampling.top_p.is_some()),
        ("top_k", sampling.top_k.is_some()),
        ("stop", !sampling.stop.is_empty()),
        ("seed", sampling.seed.is_some()),
        ("presence_penalty", sampling.presence_penalty.is_some()),
        ("frequency_penalty", sampling.frequency_penalty.is_some()),
        ("effort", request.effort.is_some()),
    ] {
        if said && !known.contains(&name) {
            leave(name, notes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Extra;

    fn completed(provider: &str, fields: &str) -> (String, Vec<Note>) {
        let extra = Some(Extra { provider: provider.into(), fields: fields.into() });
        let request = Request { extra, ..Request::default() };
        let body = br#"{"model":"m","tools":[1],"text":{"format":2},"store":false}"#;
        let mut notes = Vec::new();
        let body = complete("here", &request, Bytes::from_static(body), &mut notes);
        (String::from_utf8(body.into()).unwrap(), notes)
    }

    #[test]
    fn objects_are_merged_lists_joined_and_the_codecs_own_stays() {
        let fields = r#"{"n":1.10,"tools":[2,3],"text":{"verbosity":"low"},"store":true}"#;
        let (body, notes) = completed("here", fields);
        assert_eq!(
            body,
            r#"{"model":"m","tools":[1,2,3],"text":{"format":2,"verbosity":"low"},"store":false,"n":1.10}"#
        );
        assert_eq!(notes, [Note::FieldLeftOut { field: "store".into() }]);
    }

    #[test]
    fn fields_of_another_provider_are_noted() {
        let (body, notes) = completed("there", r#"{"a":1,"b":2}"#);
        assert!(!body.contains("\"a\""), "{body}");
        let left = |field: &str| Note::FieldLeftOut { field: field.into() };
        assert_eq!(notes, [left("a"), left("b")]);
        assert_eq!(completed("here", "[1]").1, [left("extra")]);
    }
}
