//! The messages of a request.

use std::sync::Arc;

use serde_json::value::RawValue;

use crate::{
    AssistantPart, Opaque, Part, ToolCall,
    inbound::{
        Dialect, Misread, Received,
        body::{Object, refused, wrong},
        parts::{self, Transcript},
        sealed,
        tools::NO_SCHEMA,
    },
    raw::{Fields, string},
};

pub(super) fn read(
    mut message: Object<'_>,
    transcript: &mut Transcript,
    received: &mut Received,
) -> Result<(), Misread> {
    match &*message.need_string("role")? {
        "system" | "developer" => {
            let texts = content(&mut message, received)?;
            transcript.instruct(joined(&texts, message.path())?);
        }
        "user" => {
            let content = content(&mut message, received)?;
            transcript.user(content);
        }
        "assistant" => assistant(&mut message, transcript, received)?,
        "tool" => {
            let id = message.need_string("tool_call_id")?;
            let content = content(&mut message, received)?;
            // Some libraries write the tool's name as well.
            message.string("name")?;
            transcript.result(&id, content, false);
        }
        "function" => {
            let name = message.need_string("name")?;
            let content = content(&mut message, received)?;
            transcript.close();
            let Some(id) = transcript.last_call(&name) else {
                let why = format!("no call of `{name}` comes before this result");
                return Err(refused(message.path(), &why));
            };
            transcript.result(&id, content, false);
        }
        other => {
            let why = format!("`{other}` is no role; use system, developer, user, assistant, tool");
            return Err(refused(message.at("role"), &why));
        }
    }
    message.leave(&mut received.notes);
    Ok(())
}

fn joined(parts: &[Part], path: &str) -> Result<String, Misread> {
    let texts: Result<Vec<&str>, Misread> = parts
        .iter()
        .map(|part| match part {
            Part::Text { text } => Ok(&**text),
            Part::Image { .. } => Err(refused(path, "instructions are text, without images")),
        })
        .collect();
    Ok(texts?.join("\n"))
}

/// A string, or a list of texts and images.
fn content(message: &mut Object<'_>, received: &mut Received) -> Result<Vec<Part>, Misread> {
    let path = message.at("content");
    let Some(raw) = message.take("content") else { return Ok(Vec::new()) };
    if let Some(text) = string(raw) {
        return Ok(vec![parts::text(text)]);
    }
    let Some(list) = crate::inbound::body::list(raw) else {
        return Err(wrong(path, "a string or a list of parts", raw));
    };
    let mut out = Vec::new();
    for (n, raw) in list.into_iter().enumerate() {
        let mut part = Object::of(raw, format!("{path}[{n}]"))?;
        match &*part.need_string("type")? {
            "text" => out.push(parts::text(part.need_string("text")?)),
            "refusal" => out.push(parts::text(part.need_string("refusal")?)),
            "image_url" => {
                let mut image =
                    part.object("image_url")?.ok_or_else(|| part.missing("image_url"))?;
                let at = image.at("url");
                out.push(parts::image(&image.need_string("url")?, &at)?);
                image.leave(&mut received.notes);
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

fn assistant(
    message: &mut Object<'_>,
    transcript: &mut Transcript,
    received: &mut Received,
) -> Result<(), Misread> {
    transcript.begin();
    reasoning(message, transcript)?;
    for part in content(message, received)? {
        match part {
            Part::Text { text } => transcript.say(AssistantPart::Text { text }),
            Part::Image { .. } => {
                return Err(refused(message.at("content"), "a reply has no images"));
            }
        }
    }
    if let Some(text) = message.string("refusal")?.filter(|text| !text.is_empty()) {
        transcript.say(AssistantPart::Text { text: text.into() });
    }
    if message.take("audio").is_some() {
        return Err(refused(message.at("audio"), "a reply of audio is not known here"));
    }
    // What libraries echo of a reply, and what says nothing where it is empty.
    message.string("name")?;
    message.list("annotations")?;
    for call in message.objects("tool_calls")? {
        let call = self::call(call, received)?;
        transcript.call(call);
    }
    if let Some(mut call) = message.object("function_call")? {
        // Of these, calls have no ids; results name the function.
        let id = format!("function_call_{}", transcript.len());
        let name = call.need_string("name")?.into();
        let arguments = call.string("arguments")?.unwrap_or_default().into();
        transcript.call(ToolCall { id: id.into(), name, arguments, opaque: None });
    }
    Ok(())
}

/// Reasoning that a client sends back, and state that was told with it.
fn reasoning(message: &mut Object<'_>, transcript: &mut Transcript) -> Result<(), Misread> {
    let texts = [message.string("reasoning_content")?, message.string("reasoning")?];
    let mut text: Arc<str> = texts.into_iter().flatten().next().unwrap_or_default().into();
    let mut own = Vec::new();
    let mut parts = Vec::new();
    for entry in message.list("reasoning_details")? {
        match unsealed(entry) {
            Some((of, opaque)) => {
                let beside =
                    if of == sealed::Of::Reasoning { std::mem::take(&mut text) } else { "".into() };
                parts.extend(sealed::part(of, &beside, opaque));
            }
            None => own.push(entry.get()),
        }
    }
    let opaque = (!own.is_empty()).then(|| state(&format!("[{}]", own.join(","))));
    if !text.is_empty() || opaque.is_some() {
        transcript.say(AssistantPart::Reasoning { text, opaque });
    }
    parts.into_iter().for_each(|part| transcript.say(part));
    Ok(())
}

fn unsealed(entry: &RawValue) -> Option<(sealed::Of, Opaque)> {
    let data = Fields::of(entry.get())?.get("data").and_then(string)?;
    sealed::open(&data)
}

fn state(json: &str) -> Opaque {
    Opaque { provider: Dialect::Chat.codec().into(), json: json.into(), model: None }
}

fn call(mut call: Object<'_>, received: &mut Received) -> Result<ToolCall, Misread> {
    let id = call.string("id")?.unwrap_or_default().into();
    if call.string("type")?.is_some_and(|kind| kind != "function") {
        return Err(refused(call.path(), NO_SCHEMA));
    }
    let opaque = call.take("extra_content").map(|raw| {
        let own = Fields::of(raw.get()).and_then(|fields| fields.get("callgate"));
        let sealed = own.and_then(string).and_then(|text| sealed::open(&text));
        sealed.map_or_else(|| state(raw.get()), |(_, opaque)| opaque)
    });
    call.take("index");
    let mut function = call.object("function")?.ok_or_else(|| call.missing("function"))?;
    call.leave(&mut received.notes);
    let name = function.need_string("name")?.into();
    let arguments = match function.take("arguments") {
        None => "".into(),
        // Some clients send an object.
        Some(raw) => string(raw).map_or_else(|| raw.get().into(), Into::into),
    };
    function.leave(&mut received.notes);
    Ok(ToolCall { id, name, arguments, opaque })
}
