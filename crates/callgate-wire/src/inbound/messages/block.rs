//! The blocks of messages.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::{
    AssistantPart, Opaque, Part, ToolCall,
    inbound::{
        Dialect, Misread, Received,
        body::{Object, list, refused, wrong},
        parts::{self, Transcript},
        sealed,
    },
    raw::{Fields, string},
};

/// A block's type, its text and its fields.
type Block<'a> = (Cow<'a, str>, &'a RawValue, Object<'a>);

/// The blocks of a content.
fn blocks<'a>(raw: &'a RawValue, path: &str) -> Result<Vec<Block<'a>>, Misread> {
    let list = list(raw).ok_or_else(|| wrong(path, "a string or a list of blocks", raw))?;
    list.into_iter()
        .enumerate()
        .map(|(n, raw)| {
            let mut block = Object::of(raw, format!("{path}[{n}]"))?;
            let kind = block.need_string("type")?;
            Ok((kind, raw, block))
        })
        .collect()
}

/// A string, or text blocks, as one text.
pub(super) fn texts(
    raw: &RawValue,
    path: &str,
    received: &mut Received,
) -> Result<String, Misread> {
    if let Some(text) = string(raw) {
        return Ok(text.into_owned());
    }
    let mut texts = Vec::new();
    for (kind, _, mut block) in blocks(raw, path)? {
        if kind != "text" {
            return Err(refused(block.path(), "instructions are text; send blocks of type `text`"));
        }
        texts.push(block.need_string("text")?);
        block.leave(&mut received.notes);
    }
    Ok(texts.join("\n\n"))
}

/// What the user says, and the results of calls.
pub(super) fn user(
    raw: &RawValue,
    path: &str,
    transcript: &mut Transcript,
    received: &mut Received,
) -> Result<(), Misread> {
    if let Some(text) = string(raw) {
        transcript.user(vec![parts::text(text)]);
        return Ok(());
    }
    let mut said = Vec::new();
    let mut results = false;
    for (kind, _, mut block) in blocks(raw, path)? {
        if kind == "tool_result" {
            results = true;
            let id = block.need_string("tool_use_id")?;
            let is_error = block.boolean("is_error")?.unwrap_or(false);
            let at = block.at("content");
            let content = match block.take("content") {
                None => Vec::new(),
                Some(raw) => match string(raw) {
                    Some(text) => vec![parts::text(text)],
                    None => blocks(raw, &at)?
                        .into_iter()
                        .map(|(kind, _, block)| part(&kind, block, received))
                        .collect::<Result<_, _>>()?,
                },
            };
            block.leave(&mut received.notes);
            transcript.result(&id, content, is_error);
        } else {
            said.push(part(&kind, block, received)?);
        }
    }
    if !said.is_empty() || !results {
        transcript.user(said);
    }
    Ok(())
}

/// Text or an image.
fn part(kind: &str, mut block: Object<'_>, received: &mut Received) -> Result<Part, Misread> {
    let part = match kind {
        "text" => parts::text(block.need_string("text")?),
        "image" => {
            let mut source = block.object("source")?.ok_or_else(|| block.missing("source"))?;
            let kind = source.need_string("type")?;
            if kind != "base64" {
                let why = "images are not fetched from elsewhere by this server; send the image \
                           itself, as a source of type `base64`";
                return Err(refused(source.path(), why));
            }
            let media_type = source.need_string("media_type")?.into();
            let data = source.need_string("data")?.into();
            source.leave(&mut received.notes);
            Part::Image { media_type, data }
        }
        other => {
            let why = format!("content of type `{other}` is not served here; send text or images");
            return Err(refused(block.path(), &why));
        }
    };
    block.leave(&mut received.notes);
    Ok(part)
}

/// What the model said.
pub(super) fn assistant(
    raw: &RawValue,
    path: &str,
    transcript: &mut Transcript,
    received: &mut Received,
) -> Result<(), Misread> {
    transcript.begin();
    if let Some(text) = string(raw) {
        transcript.say(AssistantPart::Text { text: text.into() });
        return Ok(());
    }
    for (kind, raw, mut block) in blocks(raw, path)? {
        match &*kind {
            "text" => {
                let text = block.need_string("text")?.into();
                transcript.say(AssistantPart::Text { text });
                // Which sources a text has is no part of what the model said.
                block.take("citations");
                block.leave(&mut received.notes);
            }
            "thinking" => thinking(raw, block, transcript)?,
            "redacted_thinking" => {
                let data = block.need_string("data")?;
                match sealed::open(&data) {
                    None => transcript.say(AssistantPart::Opaque(own(raw))),
                    Some((of, opaque)) => match sealed::part(of, "", opaque) {
                        Ok(part) => transcript.say(part),
                        Err(opaque) => transcript.of_next_call = Some(opaque),
                    },
                }
            }
            "tool_use" => {
                let call = tool_use(&mut block)?;
                // Who called: the model itself, since nothing else is offered here.
                block.take("caller");
                block.leave(&mut received.notes);
                transcript.call(call);
            }
            "image" | "document" | "tool_result" => {
                let why = format!("a reply has no block of type `{kind}`");
                return Err(refused(block.path(), &why));
            }
            // Of Anthropic's own tools: what they were asked and what they found.
            _ => {
                received.bind(block.path());
                transcript.say(AssistantPart::Opaque(own(raw)));
            }
        }
    }
    Ok(())
}

fn own(raw: &RawValue) -> Opaque {
    Opaque { provider: Dialect::Messages.codec().into(), json: raw.get().into(), model: None }
}

/// Signed thinking goes back word for word; what is not signed is only shown.
fn thinking(
    raw: &RawValue,
    mut block: Object<'_>,
    transcript: &mut Transcript,
) -> Result<(), Misread> {
    let text = block.string("thinking")?.unwrap_or_default();
    let signature = block.string("signature")?.unwrap_or_default();
    let opaque = match sealed::open(&signature) {
        Some((of, opaque)) => match sealed::part(of, &text, opaque) {
            Ok(part) => {
                transcript.say(part);
                return Ok(());
            }
            Err(opaque) => {
                transcript.of_next_call = Some(opaque);
                None
            }
        },
        None if signature.is_empty() => None,
        None => Some(own(raw)),
    };
    transcript.say(AssistantPart::Reasoning { text: text.into(), opaque });
    Ok(())
}

fn tool_use(block: &mut Object<'_>) -> Result<ToolCall, Misread> {
    let id = block.need_string("id")?.into();
    let name = block.need_string("name")?.into();
    let raw = block.take("input");
    // What Anthropic documents for arguments that are no JSON.
    let invalid = raw.and_then(|raw| Fields::of(raw.get())).and_then(|fields| {
        let only = fields.0.len() == 1;
        fields.get("INVALID_JSON").filter(|_| only).and_then(string)
    });
    let arguments = match (invalid, raw) {
        (Some(text), _) => text.into(),
        (None, Some(raw)) => raw.get().into(),
        (None, None) => "{}".into(),
    };
    Ok(ToolCall { id, name, arguments, opaque: None })
}
