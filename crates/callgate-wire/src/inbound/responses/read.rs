//! A request's body.

use serde_json::value::RawValue;

use super::{item, tool};
use crate::{
    AnswerFormat, Note,
    inbound::{
        Dialect, Misread, Received,
        body::{Object, list, refused, wrong},
        json,
        parts::{self, Transcript},
        tools::{self, Hosted},
    },
    raw::string,
};

/// Fields that the response repeats as they came.
const REPEATED: [&str; 15] = [
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "parallel_tool_calls",
    "prompt_cache_key",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_p",
    "user",
];

pub(super) fn body(bytes: &[u8]) -> Result<Received, Misread> {
    let mut body = Object::root(bytes)?;
    let mut received = Received::new(Dialect::Responses.codec());
    let mut more = Vec::new();
    let repeated = REPEATED.iter().filter_map(|name| {
        let raw = body.get(name)?;
        Some((*name, raw.to_owned().into()))
    });
    received.echo.fields = repeated.collect();

    received.request.model = body.need_string("model")?.into();
    stateless(&mut body, &mut received)?;
    let mut transcript = Transcript::default();
    if let Some(text) = body.string("instructions")? {
        transcript.instruct(text.into_owned());
    }
    input(&mut body, &mut transcript, &mut received)?;
    transcript.finish(&mut received.request, &mut received.notes);

    let mut hosted = Hosted::default();
    tool::read(&mut body, &mut received, &mut hosted)?;
    hosted.extra(&mut more);
    received.request.parallel_tool_calls = body.boolean("parallel_tool_calls")?;
    received.request.answer = text(&mut body, &mut received, &mut more)?;
    received.request.max_output_tokens = body.count("max_output_tokens")?;
    received.request.temperature = body.number("temperature")?;
    received.request.sampling.top_p = body.number("top_p")?;
    if let Some(mut reasoning) = body.object("reasoning")? {
        received.request.effort = reasoning.string("effort")?.map(Into::into);
        rest("reasoning", reasoning, &mut more);
    }
    received.stream = body.boolean("stream")?.unwrap_or(false);
    // Padding against eavesdroppers, which no stream of ours has.
    body.take("stream_options");
    include(&mut body, &mut received, &mut more)?;
    received.extra(body, more);
    Ok(received)
}

/// What only a server that keeps something can do.
fn stateless(body: &mut Object<'_>, received: &mut Received) -> Result<(), Misread> {
    let send = "nothing is stored by this server; send the whole transcript as `input` instead, \
                with what the responses had in `output`";
    for name in ["previous_response_id", "conversation"] {
        if body.take(name).is_some() {
            return Err(refused(name, send));
        }
    }
    if body.take("prompt").is_some() {
        let why = "stored prompts are not known here; send `instructions` and `input`";
        return Err(refused("prompt", why));
    }
    if body.boolean("background")?.unwrap_or(false) {
        let why = "nothing runs on after the connection here; leave it out";
        return Err(refused("background", why));
    }
    if body.count("top_logprobs")?.is_some_and(|n| n > 0) {
        let why = "probabilities of tokens are not passed on here; leave it out";
        return Err(refused("top_logprobs", why));
    }
    // Asked for or not, it is not; the response says so.
    if body.boolean("store")? == Some(true) {
        received.notes.push(Note::FieldLeftOut { field: "store".into() });
    }
    Ok(())
}

fn input(
    body: &mut Object<'_>,
    transcript: &mut Transcript,
    received: &mut Received,
) -> Result<(), Misread> {
    let raw = body.take("input").ok_or_else(|| body.missing("input"))?;
    if let Some(text) = string(raw) {
        transcript.user(vec![parts::text(text)]);
        return Ok(());
    }
    let items = list(raw).ok_or_else(|| wrong("input", "a string or a list of items", raw))?;
    for (n, raw) in items.into_iter().enumerate() {
        item::read(raw, format!("input[{n}]"), transcript, received)?;
    }
    Ok(())
}

fn text(
    body: &mut Object<'_>,
    received: &mut Received,
    more: &mut Vec<(&'static str, String)>,
) -> Result<Option<AnswerFormat>, Misread> {
    let Some(mut text) = body.object("text")? else { return Ok(None) };
    let answer = match text.object("format")? {
        None => None,
        Some(mut format) => match &*format.need_string("type")? {
            "text" => None,
            "json_object" => Some(tools::any_object()?),
            "json_schema" => Some(tools::answer(format, received)?),
            other => {
                let why = format!(
                    "`{other}` is not served here; use `text`, `json_object` or `json_schema`"
                );
                return Err(refused("text.format.type", &why));
            }
        },
    };
    rest("text", text, more);
    Ok(answer)
}

/// What is left of an object goes on.
fn rest(name: &'static str, object: Object<'_>, more: &mut Vec<(&'static str, String)>) {
    let mut left = object.rest().peekable();
    if left.peek().is_some() {
        let fields = json::text_of(|o| left.for_each(|(name, raw)| o.raw(&name, raw.get())));
        more.push((name, fields));
    }
}

fn include(
    body: &mut Object<'_>,
    received: &mut Received,
    more: &mut Vec<(&'static str, String)>,
) -> Result<(), Misread> {
    let mut own = Vec::new();
    for raw in body.list("include")? {
        match string(raw).as_deref() {
            // Where there is any, it is always there.
            Some("reasoning.encrypted_content") => {}
            Some("message.output_text.logprobs") => {
                let why = "probabilities of tokens are not passed on here; leave it out";
                return Err(refused("include", why));
            }
            _ => own.push(raw),
        }
    }
    if !own.is_empty() {
        let list: Vec<_> = own.into_iter().map(RawValue::get).collect();
        more.push(("include", format!("[{}]", list.join(","))));
        received.bind("include");
    }
    Ok(())
}
