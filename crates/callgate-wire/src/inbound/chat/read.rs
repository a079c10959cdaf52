//! A request's body.

use super::message;
use crate::{
    AnswerFormat, Sampling, ToolChoice,
    inbound::{
        Dialect, Misread, Received,
        body::{Object, refused, wrong},
        parts::Transcript,
        tools::{self, Choice, Hosted, NO_SCHEMA, Naming},
    },
    json,
    raw::string,
};

pub(super) fn body(bytes: &[u8]) -> Result<Received, Misread> {
    let mut body = Object::root(bytes)?;
    let mut received = Received::new(Dialect::Chat.codec());
    let mut more = Vec::new();

    received.request.model = body.need_string("model")?.into();
    let mut transcript = Transcript::default();
    let messages = body.take("messages").ok_or_else(|| body.missing("messages"))?;
    let listed = crate::inbound::body::list(messages);
    for (n, raw) in
        listed.ok_or_else(|| wrong("messages", "a list", messages))?.into_iter().enumerate()
    {
        let message = Object::of(raw, format!("messages[{n}]"))?;
        message::read(message, &mut transcript, &mut received)?;
    }
    transcript.finish(&mut received.request, &mut received.notes);

    tools(&mut body, &mut received, &mut more)?;
    received.request.parallel_tool_calls =
        body.boolean("parallel_tool_calls")?.or(received.echo.legacy.then_some(false));
    received.request.answer = answer(&mut body, &mut received)?;
    // The second is the older name; both are one cap.
    let caps = [body.count("max_completion_tokens")?, body.count("max_tokens")?];
    received.request.max_output_tokens = caps.into_iter().flatten().next();
    received.request.temperature = body.number("temperature")?;
    received.request.sampling = sampling(&mut body)?;
    received.request.effort = body.string("reasoning_effort")?.map(Into::into);
    stream(&mut body, &mut received)?;
    unservable(&mut body)?;
    if body.get("web_search_options").is_some() {
        received.bind("web_search_options");
    }
    received.extra(body, more);
    Ok(received)
}

fn sampling(body: &mut Object<'_>) -> Result<Sampling, Misread> {
    let stop = match body.take("stop") {
        None => Vec::new(),
        Some(raw) => match string(raw) {
            Some(text) => vec![text.into()],
            None => json::from_str::<Vec<String>>(raw.get())
                .map_err(|_| wrong("stop", "a string or a list of strings", raw))?
                .into_iter()
                .map(Into::into)
                .collect(),
        },
    };
    Ok(Sampling {
        top_p: body.number("top_p")?,
        top_k: body.count("top_k")?,
        stop,
        seed: body.integer("seed")?,
        presence_penalty: body.number("presence_penalty")?,
        frequency_penalty: body.number("frequency_penalty")?,
    })
}

fn stream(body: &mut Object<'_>, received: &mut Received) -> Result<(), Misread> {
    received.stream = body.boolean("stream")?.unwrap_or(false);
    if let Some(mut options) = body.object("stream_options")? {
        received.echo.include_usage = options.boolean("include_usage")?.unwrap_or(false);
        // Padding against eavesdroppers, which no stream of ours has.
        options.boolean("include_obfuscation")?;
        options.leave(&mut received.notes);
    }
    Ok(())
}

/// What would be an answer that is not written here.
fn unservable(body: &mut Object<'_>) -> Result<(), Misread> {
    if body.count("n")?.is_some_and(|n| n != 1) {
        return Err(refused("n", "one choice is all that is served here; ask several times"));
    }
    if body.boolean("logprobs")?.unwrap_or(false) || body.count("top_logprobs")?.is_some() {
        let why = "probabilities of tokens are not passed on here; leave it out";
        return Err(refused("logprobs", why));
    }
    if let Some(raw) = body.take("modalities")
        && json::from_str::<Vec<String>>(raw.get()).ok().is_none_or(|all| all != ["text"])
    {
        return Err(refused("modalities", "only text is answered here; ask for [\"text\"]"));
    }
    if body.take("audio").is_some() {
        return Err(refused("audio", "only text is answered here; leave it out"));
    }
    Ok(())
}

fn tools(
    body: &mut Object<'_>,
    received: &mut Received,
    more: &mut Vec<(&'static str, String)>,
) -> Result<(), Misread> {
    let mut hosted = Hosted::default();
    let mut tools = Vec::new();
    for (n, raw) in body.list("tools")?.into_iter().enumerate() {
        let path = format!("tools[{n}]");
        let mut tool = Object::of(raw, path.as_str())?;
        match tool.string("type")?.as_deref() {
            None | Some("function") => {
                let function = tool.object("function")?.ok_or_else(|| tool.missing("function"))?;
                tools.push(tools::function(function, received)?);
                tool.leave(&mut received.notes);
            }
            Some("custom") => return Err(refused(path, NO_SCHEMA)),
            Some(_) => {
                hosted.tool(raw);
                received.bind(path);
            }
        }
    }
    // The predecessors of `tools` and `tool_choice`.
    for function in body.objects("functions")? {
        received.echo.legacy = true;
        tools.push(tools::function(function, received)?);
    }
    received.request.tools = tools.into();
    if let Some(raw) = body.take("tool_choice") {
        match tools::choice(raw, Naming::Nested)? {
            Choice::Neutral(choice) => received.request.tool_choice = choice,
            Choice::Own => {
                hosted.choice(raw);
                received.bind("tool_choice");
            }
        }
    } else if let Some(raw) = body.take("function_call") {
        received.request.tool_choice = match string(raw).as_deref() {
            Some("auto") => ToolChoice::Auto,
            Some("none") => ToolChoice::None,
            Some(_) => return Err(wrong("function_call", "`auto`, `none` or an object", raw)),
            None => {
                let mut named = Object::of(raw, "function_call")?;
                ToolChoice::One(named.need_string("name")?.into())
            }
        };
    }
    hosted.extra(more);
    Ok(())
}

fn answer(body: &mut Object<'_>, received: &mut Received) -> Result<Option<AnswerFormat>, Misread> {
    let Some(mut format) = body.object("response_format")? else { return Ok(None) };
    match &*format.need_string("type")? {
        "text" => Ok(None),
        "json_object" => tools::any_object().map(Some),
        "json_schema" => {
            let schema =
                format.object("json_schema")?.ok_or_else(|| format.missing("json_schema"))?;
            tools::answer(schema, received).map(Some)
        }
        other => {
            let why =
                format!("`{other}` is not served here; use `text`, `json_object` or `json_schema`");
            Err(refused("response_format.type", &why))
        }
    }
}
