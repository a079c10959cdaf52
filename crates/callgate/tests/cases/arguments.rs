//! Families `malformed-json` and `schema-mismatch`: one call of one tool, through codec and machine.
//!
//! The arguments come in a Chat Completions response with the case's finish reason, so the words of
//! providers are read by the codec and the verdict is that of a whole run.

use callgate_contract::{ErrorKind, Mode};
use callgate_machine::{Agent, event::GateVerdict};
use callgate_wire::{Codec, Request, chat::Chat};
use serde_json::{Value, json};

use crate::{Case, Verdict, check, play, stated};

const TOOL: &str = "tool";

pub(crate) fn run(case: &Case, mode: Mode) -> Verdict {
    let input = &case.input;
    check::known(
        input,
        &["schema", "arguments_raw", "finish_reason", "aliases", "host_context"],
        "input",
    )?;
    let raw = input["arguments_raw"].as_str().ok_or("arguments_raw is no text")?;
    let mut contract = json!({ "name": TOOL, "input": input["schema"] });
    if let Some(aliases) = input.get("aliases") {
        contract["aliases"] = aliases.clone();
    }
    let reply = decode(raw, input.get("finish_reason"))?;
    let catalog = play::catalog(&[contract]);
    let mut start = play::start(Agent { mode, ..Agent::default() }, "go");
    if let Some(host) = input.get("host_context") {
        start.caller = host.clone();
    }
    let world =
        play::World { model: Box::new(play::script(vec![reply])), ..play::World::default() };
    let played = play::play(&catalog, start, world);
    for stated in stated(&case.expected, mode) {
        judge(stated, &played)?;
        replayed(stated, "replayed_arguments_json", &played)?;
    }
    if let Some(history) = case.expected.get("history") {
        check::known(history, &["replayed_arguments"], "history")?;
        replayed(history, "replayed_arguments", &played)?;
    }
    if let Some(never) = case.expected.get("never") {
        check::known(never, &["arguments"], "never")?;
        if played.tools.iter().any(|t| t.arguments.to_value() == never["arguments"]) {
            return Err(format!("the tool was called with {}", never["arguments"]));
        }
    }
    if mode == Mode::Strict {
        // Nothing is mended: no arguments at all are the one thing read as an empty object.
        let mended =
            played.gated().flat_map(|g| &g.adjustments).find(|a| a.name != "empty_to_object");
        if let Some(mended) = mended {
            return Err(format!("strict mode made {mended}"));
        }
    }
    check::told(&case.expected, &played)
}

fn decode(raw: &str, finish_reason: Option<&Value>) -> Result<callgate_wire::Reply, String> {
    let function = json!({ "name": TOOL, "arguments": raw });
    let body = json!({ "choices": [{
        "index": 0,
        "message": { "role": "assistant", "content": null, "tool_calls": [
            { "id": "call_1", "type": "function", "function": function }
        ] },
        "finish_reason": finish_reason.cloned().unwrap_or_else(|| json!("tool_calls")),
    }] });
    Chat::compatible()
        .decode(&Request::default(), 200, None, body.to_string().as_bytes())
        .map_err(|e| format!("the codec gives no reply: {e:?}"))
}

fn judge(stated: &Value, played: &play::Played) -> Verdict {
    check::known(
        stated,
        &[
            "outcome",
            "executed",
            "error",
            "arguments",
            "arguments_json",
            "repairs",
            "calls",
            "replayed_arguments_json",
        ],
        "expected",
    )?;
    let gated = played.gated().next().ok_or("no call was judged")?;
    let repairs: Vec<String> = gated.adjustments.iter().map(ToString::to_string).collect();
    match (stated["outcome"].as_str(), &gated.verdict) {
        (Some("execute"), GateVerdict::Admitted { .. }) => {
            let [sent] = played.tools.as_slice() else {
                return Err(format!("{} calls were made", played.tools.len()));
            };
            if let Some(want) = stated.get("arguments") {
                check::same("arguments", &sent.arguments.to_value(), want)?;
            }
            if let Some(want) = stated.get("arguments_json") {
                check::same_json("arguments_json", sent.arguments.text(), want)?;
            }
            if let Some(want) = stated.get("repairs") {
                check::same("repairs", &repairs, &check::texts(want)?)?;
            }
            if let Some(want) = stated.get("calls") {
                check::same("calls", &json!(played.tools.len()), want)?;
            }
            Ok(())
        }
        (Some("execute"), GateVerdict::Refused { fault }) => {
            Err(format!("want execute, got {}: {}", fault.kind, fault.message))
        }
        (Some("error"), GateVerdict::Refused { fault }) => {
            if let Some(want) = stated.get("executed") {
                check::executed(fault.executed, want)?;
            }
            if !played.tools.is_empty() {
                return Err(format!(
                    "the tool was called with {}",
                    played.tools[0].arguments.text()
                ));
            }
            check::fault(fault, &gated.name, &stated["error"])?;
            // The model reads that nothing ran.
            let (_, text) = &played.results()[0];
            let envelope: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
            check::same("the envelope's executed", &envelope["error"]["executed"], &json!(false))?;
            check::same("the envelope's ok", &envelope["ok"], &json!(false))?;
            let cut =
                matches!(fault.kind, ErrorKind::OutputTruncated | ErrorKind::StreamIncomplete);
            if !cut && !repairs.is_empty() {
                return Err(format!("refused, and yet mended: {repairs:?}"));
            }
            Ok(())
        }
        (Some("error"), other) => Err(format!("want an error, got {other:?}")),
        (outcome, _) => Err(format!("the outcome {outcome:?} is not known to this test")),
    }
}

/// The call's arguments as the provider gets them back on the next request.
fn replayed(stated: &Value, word: &str, played: &play::Played) -> Verdict {
    let Some(want) = stated.get(word) else { return Ok(()) };
    let next = played.requests.get(1).ok_or("there was no next request")?;
    let body = Chat::compatible().encode(next, false).body;
    let body: Value = serde_json::from_slice(&body).map_err(|e| e.to_string())?;
    let messages = body["messages"].as_array().ok_or("no messages")?;
    let sent = messages.iter().find_map(|m| m.pointer("/tool_calls/0/function/arguments"));
    let sent = sent.and_then(Value::as_str).ok_or("the call is not in the next request")?;
    if played.tools.is_empty() {
        // Refused: what goes back need only be an object, which every provider takes.
        return check::compact(sent).map(drop);
    }
    check::same_json(word, sent, want)
}
