//! A request's body.

use serde_json::value::RawValue;

use super::{block, tool};
use crate::{
    AnswerFormat, Sampling,
    inbound::{
        Dialect, Misread, Received,
        body::{Object, list, refused, wrong},
        json,
        parts::Transcript,
        tools::Hosted,
    },
    raw::string,
};

pub(super) fn body(bytes: &[u8]) -> Result<Received, Misread> {
    let mut body = Object::root(bytes)?;
    let mut received = Received::new(Dialect::Messages.codec());
    let mut more = Vec::new();

    received.request.model = body.need_string("model")?.into();
    let cap = body.count("max_tokens")?.ok_or_else(|| body.missing("max_tokens"))?;
    received.request.max_output_tokens = Some(cap);
    let mut transcript = Transcript::default();
    if let Some(raw) = body.take("system") {
        let text = block::texts(raw, "system", &mut received)?;
        transcript.instruct(text);
    }
    let messages = body.take("messages").ok_or_else(|| body.missing("messages"))?;
    let listed = list(messages).ok_or_else(|| wrong("messages", "a list", messages))?;
    for (n, raw) in listed.into_iter().enumerate() {
        message(raw, format!("messages[{n}]"), &mut transcript, &mut received)?;
    }
    transcript.finish(&mut received.request, &mut received.notes);

    let mut hosted = Hosted::default();
    tool::read(&mut body, &mut received, &mut hosted)?;
    hosted.extra(&mut more);
    output(&mut body, &mut received, &mut more)?;
    received.request.temperature = body.number("temperature")?;
    received.request.sampling = Sampling {
        top_p: body.number("top_p")?,
        top_k: body.count("top_k")?,
        stop: stop_sequences(&mut body)?,
        ..Sampling::default()
    };
    received.stream = body.boolean("stream")?.unwrap_or(false);
    for name in ["container", "mcp_servers"] {
        if body.get(name).is_some() {
            received.bind(name);
        }
    }
    received.extra(body, more);
    Ok(received)
}

fn stop_sequences(body: &mut Object<'_>) -> Result<Vec<std::sync::Arc<str>>, Misread> {
    let path = "stop_sequences";
    let list = body.list(path)?.into_iter();
    list.map(|raw| string(raw).map(Into::into).ok_or_else(|| wrong(path, "a list of strings", raw)))
        .collect()
}

fn message(
    raw: &RawValue,
    path: String,
    transcript: &mut Transcript,
    received: &mut Received,
) -> Result<(), Misread> {
    let mut message = Object::of(raw, path)?;
    let role = message.need_string("role")?;
    let path = message.at("content");
    let content = message.take("content").ok_or_else(|| message.missing("content"))?;
    match &*role {
        "user" => block::user(content, &path, transcript, received)?,
        "assistant" => block::assistant(content, &path, transcript, received)?,
        "system" => {
            let text = block::texts(content, &path, received)?;
            transcript.instruct(text);
        }
        other => {
            let why = format!("`{other}` is no role; use user or assistant");
            return Err(refused(message.at("role"), &why));
        }
    }
    message.leave(&mut received.notes);
    Ok(())
}

/// The schema of an answer, and effort.
fn output(
    body: &mut Object<'_>,
    received: &mut Received,
    more: &mut Vec<(&'static str, String)>,
) -> Result<(), Misread> {
    let mut format = body.object("output_format")?;
    if let Some(mut config) = body.object("output_config")? {
        format = config.object("format")?.or(format);
        received.request.effort = config.string("effort")?.map(Into::into);
        let mut left = config.rest().peekable();
        if left.peek().is_some() {
            let fields = json::text_of(|o| left.for_each(|(name, raw)| o.raw(&name, raw.get())));
            more.push(("output_config", fields));
        }
    }
    if let Some(mut format) = format {
        let kind = format.need_string("type")?;
        if kind != "json_schema" {
            let why = format!("`{kind}` is not served here; use `json_schema`");
            return Err(refused(format.at("type"), &why));
        }
        let schema = format.schema("schema")?.ok_or_else(|| format.missing("schema"))?;
        format.leave(&mut received.notes);
        // The API has no loose form.
        let answer = AnswerFormat { name: "answer".into(), schema, strict: true };
        received.request.answer = Some(answer);
    }
    Ok(())
}
