//! Family `conversation-state`: transcripts that no provider takes as they stand.

use std::{collections::HashSet, sync::Arc};

use callgate_contract::{Mode, Output};
use callgate_machine::Agent;
use callgate_wire::{AssistantPart, Message, Note, Part, Request, Stop, ToolResult};
use serde_json::{Value, json};

use crate::{
    Case, Verdict, check,
    dialects::{self, Dialect, Said},
    play, stated,
};

pub(crate) fn run(case: &Case, mode: Mode) -> Verdict {
    let input = &case.input;
    check::known(
        input,
        &["provider", "messages", "tool_results_in_order", "model_part", "tool_result"],
        "input",
    )?;
    for dialect in dialects::of(input.get("provider").and_then(Value::as_str))? {
        for stated in stated(&case.expected, mode) {
            let verdict = match input.get("model_part") {
                Some(part) => echoed(stated, part, &input["tool_result"], &dialect),
                None => judge(stated, input, mode, &dialect),
            };
            verdict.map_err(|why| format!("{}: {why}", dialect.name))?;
        }
    }
    Ok(())
}

fn result(call_id: &str, content: &str, is_error: bool) -> Arc<Message> {
    let content = vec![Part::Text { text: content.into() }];
    Message::Tool(ToolResult { call_id: call_id.into(), name: "".into(), content, is_error }).into()
}

fn word<'v>(value: &'v Value, key: &str) -> Result<&'v str, String> {
    value[key].as_str().ok_or_else(|| format!("no {key} in {value}"))
}

fn calls(message: &Value) -> Result<Vec<AssistantPart>, String> {
    let calls = message["tool_calls"].as_array().ok_or("no tool_calls")?;
    let call = |call: &Value| {
        check::known(call, &["id", "name", "arguments"], "a call")?;
        Ok(play::call(word(call, "id")?, word(call, "name")?, word(call, "arguments")?))
    };
    calls.iter().map(call).collect()
}

fn transcript(input: &Value) -> Result<Request, String> {
    let mut messages: Vec<Arc<Message>> = Vec::new();
    for message in input["messages"].as_array().ok_or("no messages")? {
        match word(message, "role")? {
            "user" => messages.push(Message::user(word(message, "content")?).into()),
            "assistant" => messages.push(Message::Assistant { content: calls(message)? }.into()),
            "tool" => messages.push(result(
                word(message, "tool_call_id")?,
                word(message, "content")?,
                message["is_error"] == true,
            )),
            "user_mixed" => {
                for part in message["parts"].as_array().ok_or("no parts")? {
                    messages.push(match part.get("result").and_then(Value::as_str) {
                        Some(id) => result(id, word(part, "content")?, false),
                        None => Message::user(word(part, "text")?).into(),
                    });
                }
            }
            other => return Err(format!("the role {other:?} is not known to this test")),
        }
    }
    if let Some(results) = input.get("tool_results_in_order") {
        let made: Vec<AssistantPart> = match messages.last().map(|message| &**message) {
            Some(Message::Assistant { content }) => content.clone(),
            _ => return Err("results in order, and no calls before them".to_owned()),
        };
        for (part, content) in made.iter().zip(check::texts(results)?) {
            let AssistantPart::Call(call) = part else { continue };
            messages.push(result(&call.id, &content, false));
        }
    }
    Ok(Request { messages, ..Request::default() })
}

fn judge(stated: &Value, input: &Value, mode: Mode, dialect: &Dialect) -> Verdict {
    check::known(
        stated,
        &[
            "outcome",
            "provider",
            "messages",
            "ids_unique",
            "pairs",
            "executions",
            "every_arguments_parse_as_object",
        ],
        "expected",
    )?;
    let (body, notes) = dialect.body(&transcript(input)?);
    if stated["outcome"] == "request" {
        let mut messages = body["messages"].as_array().cloned().unwrap_or_default();
        // A case may be a part of a transcript; a whole one begins with the user.
        if notes.contains(&Note::OpeningAdded) {
            messages.remove(0);
        }
        check::same("provider", &json!(dialect.name), &stated["provider"])?;
        return check::same("messages", &json!(messages), &stated["messages"]);
    }
    check::same("outcome", &stated["outcome"], &json!("history"))?;
    let mut said = dialect.said(&body)?;
    if notes.contains(&Note::OpeningAdded) {
        said.remove(0);
    }
    if let Some(want) = stated.get("messages") {
        messages(dialect, &said, &notes, want)?;
    }
    let made: Vec<(Option<&String>, &String, &String)> = said
        .iter()
        .filter_map(|said| match said {
            Said::Call { id, name, arguments } => Some((id.as_ref(), name, arguments)),
            _ => None,
        })
        .collect();
    if let Some(want) = stated.get("ids_unique") {
        // Where an API has no ids, the order alone tells: `pairs` holds it.
        let ids: Vec<&String> = made.iter().filter_map(|(id, ..)| *id).collect();
        let distinct: HashSet<&&String> = ids.iter().collect();
        check::same("ids_unique", &json!(distinct.len() == ids.len()), want)?;
    }
    if let Some(want) = stated.get("every_arguments_parse_as_object") {
        let parse = |text: &String| {
            serde_json::from_str::<Value>(text).is_ok_and(|arguments| arguments.is_object())
        };
        let all = made.iter().all(|(_, _, arguments)| parse(arguments));
        check::same("every_arguments_parse_as_object", &json!(all), want)?;
    }
    if let Some(want) = stated.get("pairs") {
        let answers = |at: usize| {
            said.iter().filter_map(move |said| match said {
                Said::Result { call, content, .. } if *call == at => Some(content),
                _ => None,
            })
        };
        let pairs: Vec<Value> = made
            .iter()
            .enumerate()
            .flat_map(|(at, (_, name, _))| answers(at).map(move |answer| json!([name, answer])))
            .collect();
        check::same("pairs", &json!(pairs), want)?;
    }
    if let Some(want) = stated.get("executions") {
        check::same("executions", &json!(executions(input, mode)?), want)?;
    }
    Ok(())
}

/// The transcript is that of the file, part by part.
fn messages(dialect: &Dialect, said: &[Said], notes: &[Note], want: &Value) -> Verdict {
    let mut wanted = Vec::new();
    let mut ids: Vec<&str> = Vec::new();
    for message in want.as_array().ok_or("messages is no list")? {
        match word(message, "role")? {
            "user" => wanted.push((Said::User(word(message, "content")?.to_owned()), None)),
            "assistant" => {
                for call in message["tool_calls"].as_array().ok_or("no tool_calls")? {
                    ids.push(word(call, "id")?);
                    let owned = |key| word(call, key).map(str::to_owned);
                    let (id, name, arguments) =
                        (Some(owned("id")?), owned("name")?, owned("arguments")?);
                    wanted.push((Said::Call { id, name, arguments }, None));
                }
            }
            "tool" => {
                let id = word(message, "tool_call_id")?;
                let call = ids.iter().rposition(|known| *known == id).ok_or("no such call")?;
                let content = word(message, "content")?.to_owned();
                let is_error = message.get("is_error").and_then(Value::as_bool);
                let reason = message.get("reason").and_then(Value::as_str);
                wanted.push((Said::Result { call, content, is_error }, reason));
            }
            other => return Err(format!("the role {other:?} is not known to this test")),
        }
    }
    if said.len() != wanted.len() {
        return Err(format!("messages: want {wanted:?}, got {said:?}"));
    }
    for (got, (want, reason)) in said.iter().zip(&wanted) {
        let fits = match (got, want) {
            (
                Said::Call { id, name, arguments },
                Said::Call { id: want_id, name: want_name, arguments: want_arguments },
            ) => {
                // Gemini has no ids, and Mistral takes those of nine characters alone.
                let id = id.is_none() || id == want_id || dialect.name == "mistral";
                id && name == want_name && arguments == want_arguments
            }
            (
                Said::Result { call, content, is_error },
                Said::Result { call: of, content: want, is_error: wrong },
            ) => {
                call == of
                    && check::fits(content, want)
                    && is_error.is_none_or(|is_error| is_error == wrong.unwrap_or_default())
            }
            (got, want) => got == want,
        };
        if !fits {
            return Err(format!("messages: want {want:?}, got {got:?}"));
        }
        // What is made up does not read as success, and is told.
        if let (Said::Result { content, .. }, Some(reason)) = (got, reason) {
            let envelope: Value = serde_json::from_str(content).map_err(|e| e.to_string())?;
            check::same("reason", &envelope["error"]["kind"], &json!(reason))?;
            check::same("ok", &envelope["ok"], &json!(false))?;
            if !notes.iter().any(|note| matches!(note, Note::ResultMissing { .. })) {
                return Err(format!("nobody is told that a result was made up: {notes:?}"));
            }
        }
    }
    Ok(())
}

/// How many calls of the first reply are performed by a run.
fn executions(input: &Value, mode: Mode) -> Result<usize, String> {
    let said = calls(&input["messages"][0])?;
    let reply = play::reply(said, Stop::End);
    let mut names: Vec<&str> = reply.calls().map(|call| &*call.name).collect();
    names.dedup();
    let contracts: Vec<Value> =
        names.iter().map(|name| json!({ "name": name, "input": { "type": "object" } })).collect();
    let mut results = check::texts(&input["tool_results_in_order"])?.into_iter();
    let world = play::World {
        model: Box::new(play::script(vec![reply.clone()])),
        tool: Box::new(move |_| Ok(Output::text(results.next().unwrap_or_default()))),
        ..play::World::default()
    };
    let start = play::start(Agent { mode, ..Agent::default() }, "go");
    Ok(play::play(&play::catalog(&contracts), start, world).tools.len())
}

/// What came with a call goes back with it as it came, also through storage.
fn echoed(stated: &Value, part: &Value, answer: &Value, dialect: &Dialect) -> Verdict {
    check::known(stated, &["outcome", "provider", "contents_contains"], "expected")?;
    check::same("outcome", &stated["outcome"], &json!("request"))?;
    check::same("provider", &json!(dialect.name), &stated["provider"])?;
    let response =
        json!({ "candidates": [{ "content": { "parts": [part] }, "finishReason": "STOP" }] })
            .to_string();
    let request = dialect.addressed(&Request::default());
    let whole = dialect.codec.decode(&request, 200, None, response.as_bytes());
    let mut stream = dialect.codec.stream(&request);
    stream.push(format!("data: {response}\n\n").as_bytes(), &mut Vec::new());
    for reply in [whole, stream.finish(&mut Vec::new())] {
        let reply = reply.map_err(|e| format!("{e:?}"))?;
        let id = reply.calls().next().ok_or("no call was read")?.id.clone();
        let stored = serde_json::to_string(&Message::Assistant { content: reply.content });
        let said: Message = serde_json::from_str(&stored.unwrap()).map_err(|e| e.to_string())?;
        let answer = result(&id, answer.as_str().ok_or("no tool_result")?, false);
        let messages = vec![Message::user("go").into(), said.into(), answer];
        let (body, _) = dialect.body(&Request { messages, ..Request::default() });
        let contents = body["contents"].as_array().ok_or("no contents")?;
        let parts: Vec<&Value> = contents
            .iter()
            .flat_map(|content| content["parts"].as_array().into_iter().flatten())
            .collect();
        for want in stated["contents_contains"].as_array().ok_or("contents_contains is no list")? {
            if !parts.contains(&want) {
                return Err(format!("contents: want {want}, got {}", json!(parts)));
            }
        }
    }
    Ok(())
}
