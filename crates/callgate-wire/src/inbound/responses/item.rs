//! Items of the input.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::{
    AssistantPart, Opaque, Part, ToolCall,
    inbound::{
        Dialect, Misread, Received,
        body::{Object, list, refused, wrong},
        json,
        parts::{self, Transcript},
        sealed,
        tools::NO_SCHEMA,
    },
    raw::{Fields, string},
};

pub(super) fn read(
    raw: &RawValue,
    path: String,
    transcript: &mut Transcript,
    received: &mut Received,
) -> Result<(), Misread> {
    let mut item = Object::of(raw, path)?;
    match item.string("type")?.as_deref() {
        None | Some("message") => message(item, transcript, received),
        Some("function_call") => call(item, transcript, received),
        Some("function_call_output") => output(item, transcript, received),
        Some("reasoning") => reasoning(raw, item, transcript),
        Some("item_reference") => {
            let why = "nothing is stored by this server, so there is nothing to refer to; send the \
                       item itself (a library that is told `store: false` does)";
            Err(refused(item.path(), why))
        }
        Some("custom_tool_call" | "custom_tool_call_output") => {
            Err(refused(item.path(), NO_SCHEMA))
        }
        // Of OpenAI's own tools: what they did, and what the user said to it.
        Some(_) => {
            received.bind(item.path());
            transcript.say(AssistantPart::Opaque(own(raw.get())));
            Ok(())
        }
    }
}

fn own(json: &str) -> Opaque {
    Opaque { provider: Dialect::Responses.codec().into(), json: json.into(), model: None }
}

fn message(
    mut item: Object<'_>,
    transcript: &mut Transcript,
    received: &mut Received,
) -> Result<(), Misread> {
    let role = item.need_string("role")?;
    let path = item.at("content");
    let raw = item.take("content").ok_or_else(|| item.missing("content"))?;
    let content = content(raw, &path, received)?;
    let phase = item.take("phase");
    // What a response says of its messages.
    item.take("id");
    item.take("status");
    match &*role {
        "user" => transcript.user(content),
        "system" | "developer" => {
            let texts: Result<Vec<_>, Misread> = texts(&content, &path).collect();
            transcript.instruct(texts?.join("\n"));
        }
        "assistant" => {
            if let Some(phase) = phase {
                let json = json::text_of(|o| {
                    o.string("type", "message");
                    o.raw("phase", phase.get());
                });
                transcript.say(AssistantPart::Opaque(own(&json)));
            }
            let texts: Result<Vec<_>, Misread> = texts(&content, &path).collect();
            transcript.say(AssistantPart::Text { text: texts?.concat().into() });
        }
        other => {
            let why = format!("`{other}` is no role; use system, developer, user or assistant");
            return Err(refused(item.at("role"), &why));
        }
    }
    item.leave(&mut received.notes);
    Ok(())
}

fn texts<'a>(parts: &'a [Part], path: &'a str) -> impl Iterator<Item = Result<&'a str, Misread>> {
    parts.iter().map(move |part| match part {
        Part::Text { text } => Ok(&**text),
        Part::Image { .. } => Err(refused(path, "only a user's message has images")),
    })
}

/// A string, or a list of texts and images.
fn content(raw: &RawValue, path: &str, received: &mut Received) -> Result<Vec<Part>, Misread> {
    if let Some(text) = string(raw) {
        return Ok(vec![parts::text(text)]);
    }
    let Some(list) = list(raw) else {
        return Err(wrong(path, "a string or a list of parts", raw));
    };
    let mut out = Vec::new();
    for (n, raw) in list.into_iter().enumerate() {
        let mut part = Object::of(raw, format!("{path}[{n}]"))?;
        match &*part.need_string("type")? {
            "input_text" | "output_text" | "text" => {
                out.push(parts::text(part.need_string("text")?));
                // What a response has beside its text.
                part.take("logprobs");
                part.take("annotations");
            }
            "refusal" => out.push(parts::text(part.need_string("refusal")?)),
            "input_image" => {
                let at = part.at("image_url");
                let url = part.string("image_url")?.ok_or_else(|| {
                    let why = "nothing is stored by this server; send the image itself, as \
                               `data:image/png;base64,…` in `image_url`";
                    refused(part.path(), why)
                })?;
                out.push(parts::image(&url, &at)?);
                // The default.
                if part.get("detail").and_then(string).as_deref() == Some("auto") {
                    part.take("detail");
                }
            }
            other => {
                let why =
                    format!("content of type `{other}` is not served here; send text or images");
                return Err(refused(part.path(), &why));
            }
        }
        part.leave(&mut received.notes);
    }
    Ok(out)
}

fn call(
    mut item: Object<'_>,
    transcript: &mut Transcript,
    received: &mut Received,
) -> Result<(), Misread> {
    let id = item.need_string("call_id")?.into();
    let name = item.need_string("name")?.into();
    let arguments = item.string("arguments")?.unwrap_or_default().into();
    let (namespace, caller) = (item.take("namespace"), item.take("caller"));
    let opaque = (namespace.is_some() || caller.is_some()).then(|| {
        own(&json::text_of(|o| {
            for (name, raw) in [("namespace", namespace), ("caller", caller)] {
                raw.iter().for_each(|raw| o.raw(name, raw.get()));
            }
        }))
    });
    item.take("id");
    item.take("status");
    item.leave(&mut received.notes);
    transcript.call(ToolCall { id, name, arguments, opaque });
    Ok(())
}

fn output(
    mut item: Object<'_>,
    transcript: &mut Transcript,
    received: &mut Received,
) -> Result<(), Misread> {
    let id = item.need_string("call_id")?;
    let path = item.at("output");
    let content = match item.take("output") {
        Some(raw) => content(raw, &path, received)?,
        None => Vec::new(),
    };
    item.take("id");
    item.take("status");
    // It comes from the call.
    item.take("caller");
    item.leave(&mut received.notes);
    transcript.result(&id, content, false);
    Ok(())
}

/// Reasoning of OpenAI's goes back word for word, that of another's as it was sealed.
fn reasoning(
    raw: &RawValue,
    mut item: Object<'_>,
    transcript: &mut Transcript,
) -> Result<(), Misread> {
    let mut shown = Vec::new();
    for field in ["summary", "content"] {
        for mut piece in item.objects(field)? {
            shown.extend(piece.string("text")?.filter(|text| !text.is_empty()));
        }
    }
    let text = shown.join("\n\n");
    let encrypted = item.string("encrypted_content")?;
    if let Some((of, opaque)) = encrypted.as_deref().and_then(sealed::open) {
        match sealed::part(of, &text, opaque) {
            Ok(part) => transcript.say(part),
            Err(opaque) => transcript.of_next_call = Some(opaque),
        }
        return Ok(());
    }
    // Without it the item would have to be found where it is stored.
    let opaque = encrypted.is_some().then(|| own(&unnamed(raw)));
    if !text.is_empty() || opaque.is_some() {
        transcript.say(AssistantPart::Reasoning { text: text.into(), opaque });
    }
    Ok(())
}

/// The item as it came, but without an id of our making.
fn unnamed(raw: &RawValue) -> Cow<'_, str> {
    let Some(mut fields) = Fields::of(raw.get()) else { return Cow::Borrowed(raw.get()) };
    let ours = fields.get("id").and_then(string).is_some_and(|id| super::write::is_ours(&id));
    if !ours {
        return Cow::Borrowed(raw.get());
    }
    fields.0.retain(|(name, _)| name != "id");
    Cow::Owned(fields.json())
}
