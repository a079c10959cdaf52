//! Family `loop-control`: whole runs with a scripted model and scripted tools.

use std::{collections::HashMap, path::Path, sync::Arc};

use callgate_contract::{ErrorKind, Failure, Mode, Output};
use callgate_machine::{Agent, Event, Status, ToolCallEffect, event::GateVerdict};
use callgate_tool::{Backends, Function, Invocation, process_env};
use callgate_wire::{Message, Reply, ToolChoice};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{Case, Verdict, check, play, stated};

pub(crate) fn run(case: &Case, mode: Mode) -> Verdict {
    let input = &case.input;
    check::known(
        input,
        &[
            "limits",
            "model_script",
            "tool_behaviour",
            "tools",
            "call",
            "messages",
            "final_tool",
            "end_strategy",
        ],
        "input",
    )?;
    let replies = replies(input)?;
    let names = names(input, &replies)?;
    let contracts: Vec<Value> =
        names.iter().map(|name| json!({ "name": name, "input": { "type": "object" } })).collect();
    let mut start = play::start(agent(input, mode)?, "go");
    if let Some(tool) = input.get("final_tool").and_then(Value::as_str) {
        start = play::answering(start, json!({ "type": "object" }), Some(tool));
    }
    match input.get("end_strategy").and_then(Value::as_str) {
        None | Some("early") => {}
        Some(other) => return Err(format!("the end strategy {other:?} is not known to this test")),
    }
    let mut behaviour = Behaviour::read(input.get("tool_behaviour"))?;
    let world = play::World {
        model: Box::new(play::script(replies)),
        tool: Box::new(move |call| behaviour.of(call)),
        ..play::World::default()
    };
    let played = play::play(&play::catalog(&contracts), start, world);
    for stated in stated(&case.expected, mode) {
        judge(stated, &played)?;
    }
    check::told(&case.expected, &played)
}

fn agent(input: &Value, mode: Mode) -> Result<Agent, String> {
    let mut agent = Agent { mode, ..Agent::default() };
    let Some(limits) = input.get("limits") else { return Ok(agent) };
    check::known(limits, &["max_identical_failures", "max_steps"], "limits")?;
    let number =
        |word: &str| limits.get(word).and_then(Value::as_u64).map(|n| u32::try_from(n).unwrap());
    if let Some(most) = number("max_identical_failures") {
        agent.budget.identical_failures = most;
        // The limit in question is that of identical failures, not that of any.
        agent.budget.retries_per_call = agent.budget.retries_per_call.max(most);
    }
    if let Some(most) = number("max_steps") {
        agent.r#loop.max_steps = most;
    }
    Ok(agent)
}

/// What the model says, one reply after the other.
fn replies(input: &Value) -> Result<Vec<Reply>, String> {
    if let Some(call) = input.get("call") {
        return Ok(vec![one_call(call, "call_1")?]);
    }
    if let Some(messages) = input.get("messages") {
        return messages.as_array().ok_or("messages is no list")?.iter().map(message).collect();
    }
    let script =
        input.get("model_script").and_then(Value::as_array).ok_or("nobody says anything")?;
    let said = script.iter().enumerate().map(|(i, said)| {
        if let Some(text) = said.get("final").and_then(Value::as_str) {
            check::known(said, &["final"], "model_script")?;
            return Ok(play::says(text));
        }
        if let Some(calls) = said.get("calls").and_then(Value::as_array) {
            check::known(said, &["calls"], "model_script")?;
            let parts = calls.iter().enumerate().map(|(j, c)| part(c, &format!("call_{i}_{j}")));
            return Ok(play::reply(parts.collect::<Result<_, _>>()?, callgate_wire::Stop::End));
        }
        one_call(said, &format!("call_{i}"))
    });
    said.collect()
}

fn part(call: &Value, id: &str) -> Result<callgate_wire::AssistantPart, String> {
    check::known(call, &["id", "name", "arguments_raw", "arguments"], "a call")?;
    let word = |key: &str| call.get(key).and_then(Value::as_str);
    let arguments = word("arguments_raw").or_else(|| word("arguments")).unwrap_or_default();
    Ok(play::call(
        word("id").unwrap_or(id),
        word("name").ok_or("a call without a name")?,
        arguments,
    ))
}

fn one_call(call: &Value, id: &str) -> Result<Reply, String> {
    Ok(play::reply(vec![part(call, id)?], callgate_wire::Stop::End))
}

fn message(message: &Value) -> Result<Reply, String> {
    check::known(message, &["role", "content", "tool_calls"], "a message")?;
    check::same("role", &message["role"], &json!("assistant"))?;
    let mut parts = Vec::new();
    if let Some(text) = message.get("content").and_then(Value::as_str) {
        parts.push(callgate_wire::AssistantPart::Text { text: text.into() });
    }
    for (i, call) in message["tool_calls"].as_array().into_iter().flatten().enumerate() {
        parts.push(part(call, &format!("call_{i}"))?);
    }
    Ok(play::reply(parts, callgate_wire::Stop::End))
}

/// The tools on offer: those named, else those called.
fn names(input: &Value, replies: &[Reply]) -> Result<Vec<String>, String> {
    if let Some(tools) = input.get("tools") {
        return check::texts(tools);
    }
    let final_tool = input.get("final_tool").and_then(Value::as_str);
    let called = replies.iter().flat_map(Reply::calls).map(|call| call.name.to_string());
    let mut names: Vec<String> = called.filter(|name| Some(name.as_str()) != final_tool).collect();
    names.sort();
    names.dedup();
    Ok(names)
}

/// What each tool does, call by call.
struct Behaviour(HashMap<String, Vec<Does>>);

#[derive(Clone)]
enum Does {
    Gives(Output),
    Fails(String),
    /// Its own code breaks: played by the backend that runs such code.
    Breaks(String),
}

impl Behaviour {
    fn read(spec: Option<&Value>) -> Result<Self, String> {
        let mut tools = HashMap::new();
        for (name, does) in spec.and_then(Value::as_object).into_iter().flatten() {
            check::known(does, &["returns", "error", "raise"], "tool_behaviour")?;
            let word = |key: &str| does.get(key).and_then(Value::as_str).map(str::to_owned);
            let outcomes = match (does.get("returns"), word("error"), word("raise")) {
                (Some(Value::Array(all)), None, None) if !all.is_empty() => {
                    all.iter().map(|value| Does::Gives(output(value))).collect()
                }
                (Some(one), None, None) => vec![Does::Gives(output(one))],
                (None, Some(error), None) => vec![Does::Fails(error)],
                (None, None, Some(raised)) => vec![Does::Breaks(raised)],
                _ => return Err(format!("{does} is nothing that a tool does here")),
            };
            tools.insert(name.clone(), outcomes);
        }
        Ok(Self(tools))
    }

    /// The next outcome; the last one again and again.
    fn of(&mut self, call: &ToolCallEffect) -> Result<Output, Failure> {
        let does = match self.0.get_mut(&*call.tool.name) {
            None => Does::Gives(Output::text("ok")),
            Some(all) if all.len() > 1 => all.remove(0),
            Some(last) => last[0].clone(),
        };
        match does {
            Does::Gives(output) => Ok(output),
            Does::Fails(error) => Err(Failure::new(ErrorKind::ToolError, error)),
            Does::Breaks(raised) => break_in_a_backend(call, raised),
        }
    }
}

fn break_in_a_backend(call: &ToolCallEffect, raised: String) -> Result<Output, Failure> {
    let function = Function::new(move |_: Invocation| {
        let raised = raised.clone();
        async move { panic!("{raised}") }
    });
    let backends = Backends::builtin().function("breaks", function);
    let spec = json!({ "function": "breaks" });
    let backend = backends.build(spec.as_object().unwrap(), Path::new("."), process_env()).unwrap();
    let invocation = Invocation {
        run: "run_1".into(),
        call: call.call.clone(),
        tool: call.tool.name.clone(),
        arguments: call.arguments.clone(),
        idempotency_key: call.idempotency_key.clone(),
        attempt: call.attempt,
        timeout: call.timeout,
        cancel: CancellationToken::new(),
        trace: None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(backend.invoke(invocation)).result
}

fn output(value: &Value) -> Output {
    match value {
        Value::String(text) => Output::text(text.as_str()),
        other => Output::json(other.to_string()),
    }
}

fn judge(stated: &Value, played: &play::Played) -> Verdict {
    check::known(
        stated,
        &[
            "outcome",
            "executed",
            "error",
            "model_calls",
            "tool_runs",
            "tool_runs_max",
            "text",
            "value",
            "stopped_by",
            "last_request",
            "history_pairs",
            "host_alive",
            "skipped",
            "arguments",
            "arguments_json",
            "repairs",
            "tool",
        ],
        "expected",
    )?;
    let finish = played.finish();
    match stated["outcome"].as_str() {
        Some("final") => {
            check::same("status", &finish.status, &Status::Answered)?;
            if let Some(want) = stated.get("text") {
                check::same("text", &json!(finish.text), want)?;
            }
            if let Some(want) = stated.get("value") {
                let value = finish.value.as_deref().ok_or("there is no value")?;
                let value: Value = serde_json::from_str(value).map_err(|e| e.to_string())?;
                check::same("value", &value, want)?;
            }
        }
        Some("stopped") => {
            if finish.status == Status::Answered {
                return Err(format!("the run answered {:?}", finish.text));
            }
            let fault = finish.fault.as_deref().ok_or("the end names no fault")?;
            let last = played.gated().last().ok_or("no call was judged")?;
            check::fault(fault, &last.name, &stated["error"])?;
        }
        Some("error") => error(stated, played)?,
        Some("execute") => {
            let [sent] = played.tools.as_slice() else {
                return Err(format!("{} calls were made", played.tools.len()));
            };
            if let Some(want) = stated.get("tool") {
                check::same("tool", &json!(&*sent.tool.name), want)?;
            }
            if let Some(want) = stated.get("arguments") {
                check::same("arguments", &sent.arguments.to_value(), want)?;
            }
            if let Some(want) = stated.get("arguments_json") {
                check::same_json("arguments_json", sent.arguments.text(), want)?;
            }
            if let Some(want) = stated.get("repairs") {
                let gated = played.gated().next().ok_or("no call was judged")?;
                let got: Vec<String> = gated.adjustments.iter().map(ToString::to_string).collect();
                check::same("repairs", &got, &check::texts(want)?)?;
            }
        }
        other => return Err(format!("the outcome {other:?} is not known to this test")),
    }
    if let Some(want) = stated.get("model_calls") {
        check::same("model_calls", &json!(played.requests.len()), want)?;
    }
    match stated.get("tool_runs") {
        None => {}
        Some(Value::Array(want)) => {
            let got: Vec<Value> = played.tools.iter().map(|t| json!(&*t.tool.name)).collect();
            check::same("tool_runs", &got, want)?;
        }
        Some(want) => check::same("tool_runs", &json!(played.tools.len()), want)?,
    }
    if let Some(most) = stated.get("tool_runs_max").and_then(Value::as_u64)
        && played.tools.len() as u64 > most
    {
        return Err(format!("tool_runs_max: want at most {most}, got {}", played.tools.len()));
    }
    if let Some(want) = stated.get("stopped_by") {
        check::same("stopped_by", &json!(finish.stopped_by), want)?;
    }
    if let Some(want) = stated.get("skipped") {
        check::same("skipped", &json!(finish.skipped), want)?;
    }
    if let Some(want) = stated.get("history_pairs") {
        check::pairs(played, want)?;
    }
    if let Some(want) = stated.get("last_request") {
        last_request(want, played)?;
    }
    if stated.get("host_alive") == Some(&json!(true)) {
        // The run went on after the failure and came to its own end.
        check::same("host_alive", &finish.status, &Status::Answered)?;
    }
    Ok(())
}

/// The first call's fault, from the gate or from the tool.
fn error(stated: &Value, played: &play::Played) -> Verdict {
    let gated = played.gated().next().ok_or("no call was judged")?;
    let (_, text) = played.results().into_iter().next().ok_or("no call was answered")?;
    let envelope: callgate_contract::Envelope =
        serde_json::from_str(&text).map_err(|e| format!("{e}: {text}"))?;
    let fault = envelope.error.ok_or_else(|| format!("want an error, got {text}"))?;
    if let GateVerdict::Refused { fault: refused } = &gated.verdict {
        check::same("what the model is told", &fault, &(**refused).clone())?;
        if !played.tools.is_empty() {
            return Err("a tool was called".to_owned());
        }
    }
    if let Some(want) = stated.get("executed") {
        check::executed(fault.executed, want)?;
    }
    check::fault(&fault, &gated.name, &stated["error"])
}

fn last_request(want: &Value, played: &play::Played) -> Verdict {
    check::known(want, &["tool_choice", "history_valid"], "last_request")?;
    let last = played.requests.last().ok_or("nothing was asked")?;
    if let Some(want) = want.get("tool_choice") {
        let got = match &last.tool_choice {
            ToolChoice::Auto => "auto",
            ToolChoice::Some => "required",
            ToolChoice::None => "none",
            ToolChoice::One(name) => name,
            ToolChoice::Subset { .. } => "subset",
        };
        check::same("tool_choice", &json!(got), want)?;
    }
    if want.get("history_valid") == Some(&json!(true)) {
        let messages: &[Arc<Message>] = &last.messages;
        play::transcript_is_valid(messages)?;
        let asked = played.records.iter().any(|r| matches!(r.event, Event::ModelRequested { .. }));
        check::same("asked", &asked, &true)?;
    }
    Ok(())
}
