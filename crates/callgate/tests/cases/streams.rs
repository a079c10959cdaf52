//! Family `streaming`: raw bytes to calls, and whether a run lets them start.

use callgate_contract::{Mode, Output};
use callgate_machine::{
    Agent, Event,
    event::{GateVerdict, Why},
};
use callgate_wire::{ProviderError, ProviderErrorKind, Reply, Request, chat::assemble};
use serde_json::{Value, json};

use crate::{Case, Verdict, check, dialects, play, stated};

type Assembled = Result<Reply, ProviderError>;

pub(crate) fn run(case: &Case, mode: Mode) -> Verdict {
    let assembled = read(&case.input)?;
    let played = play_out(&assembled, mode);
    for stated in stated(&case.expected, mode) {
        check::known(
            stated,
            &["outcome", "tool_calls", "execute", "usage", "executed", "error", "text"],
            "expected",
        )?;
        match stated["outcome"].as_str() {
            Some("assembled") => whole(stated, &assembled, &played)?,
            Some("error") => broken(stated, &assembled, &played)?,
            other => return Err(format!("the outcome {other:?} is not known to this test")),
        }
    }
    if let Some(never) = case.expected.get("never") {
        check::known(never, &["arguments"], "never")?;
        if played.tools.iter().any(|t| t.arguments.to_value() == never["arguments"]) {
            return Err(format!("a tool was called with {}", never["arguments"]));
        }
    }
    check::told(&case.expected, &played)
}

/// The reply, or why there is none.
fn read(input: &Value) -> Result<Assembled, String> {
    check::known(input, &["sse", "sse_chunks_b64", "request", "provider", "response"], "input")?;
    if let Some(provider) = input.get("provider").and_then(Value::as_str) {
        let dialects = dialects::of(Some(provider))?;
        let dialect = dialects.first().ok_or("no codec")?;
        let request = dialect.addressed(&Request::default());
        let body = input["response"].to_string();
        return Ok(dialect.codec.decode(&request, 200, None, body.as_bytes()));
    }
    let cap = match input.get("request") {
        Some(request) => {
            check::known(request, &["max_tokens"], "request")?;
            request["max_tokens"].as_u64().map(|cap| u32::try_from(cap).unwrap())
        }
        None => None,
    };
    let chunks: Vec<Vec<u8>> = match (input.get("sse"), input.get("sse_chunks_b64")) {
        (Some(lines), None) => vec![check::texts(lines)?.join("\n").into_bytes()],
        (None, Some(chunks)) => {
            let texts = check::texts(chunks)?;
            texts.iter().map(|text| base64(text)).collect::<Option<_>>().ok_or("no base64")?
        }
        _ => return Err("input has neither sse nor sse_chunks_b64".to_owned()),
    };
    Ok(assemble(chunks.iter().map(Vec::as_slice), cap))
}

/// The run: the model says this once, or fails like this for as long as it is asked.
fn play_out(assembled: &Assembled, mode: Mode) -> play::Played {
    let mut names: Vec<&str> = match assembled {
        Ok(reply) => reply.calls().map(|call| &*call.name).collect(),
        Err(_) => Vec::new(),
    };
    names.sort_unstable();
    names.dedup();
    let contracts: Vec<Value> =
        names.iter().map(|name| json!({ "name": name, "input": { "type": "object" } })).collect();
    let mut said = false;
    let world = play::World {
        model: Box::new(move |_| match assembled {
            Ok(_) if std::mem::replace(&mut said, true) => Ok(play::says("done")),
            other => other.clone(),
        }),
        tool: Box::new(|_| Ok(Output::text("ok"))),
        ..play::World::default()
    };
    let catalog = play::catalog(&contracts);
    play::play(&catalog, play::start(Agent { mode, ..Agent::default() }, "go"), world)
}

fn whole(stated: &Value, assembled: &Assembled, played: &play::Played) -> Verdict {
    let reply = assembled.as_ref().map_err(|e| format!("want a reply, got {e:?}"))?;
    if let Some(want) = stated.get("text") {
        check::same("text", &json!(reply.text()), want)?;
    }
    let got: Vec<Value> = reply
        .calls()
        .map(|c| json!({ "id": &*c.id, "name": &*c.name, "arguments_raw": &*c.arguments }))
        .collect();
    if let Some(want) = stated.get("tool_calls") {
        let want = want.as_array().ok_or("tool_calls is no list")?;
        let fits = |got: &Value, want: &Value| {
            want.as_object().is_some_and(|want| {
                want.iter().all(|(k, v)| v == "*" || got.get(k) == Some(v) || respaced(k, got, v))
            })
        };
        if got.len() != want.len() || !got.iter().zip(want).all(|(got, want)| fits(got, want)) {
            return Err(format!("tool_calls: want {}, got {}", json!(want), json!(got)));
        }
    }
    if let Some(want) = stated.get("usage") {
        check::known(want, &["completion_tokens", "prompt_tokens"], "usage")?;
        for (word, got) in [
            ("completion_tokens", reply.usage.output_tokens),
            ("prompt_tokens", reply.usage.input_tokens),
        ] {
            if let Some(want) = want.get(word) {
                check::same(word, &json!(got), want)?;
            }
        }
    }
    match stated.get("execute").and_then(Value::as_bool) {
        Some(true) => {
            let calls = reply.calls().count();
            if calls == 0 || played.tools.len() != calls {
                return Err(format!(
                    "{} of {calls} calls started: {:?}",
                    played.tools.len(),
                    refusals(played)
                ));
            }
            for (sent, call) in played.tools.iter().zip(reply.calls()) {
                check::same("the tool called", &&*sent.tool.name, &&*call.name)?;
            }
            Ok(())
        }
        Some(false) if !played.tools.is_empty() => Err("a call started".to_owned()),
        _ => Ok(()),
    }
}

/// Arguments that came as an object instead of a string keep the server's white space.
fn respaced(word: &str, got: &Value, want: &Value) -> bool {
    let (Some(got), Some(want)) = (got.get(word).and_then(Value::as_str), want.as_str()) else {
        return false;
    };
    word == "arguments_raw" && check::compact(got).is_ok_and(|got| Ok(got) == check::compact(want))
}

fn refusals(played: &play::Played) -> Vec<String> {
    played
        .gated()
        .filter_map(|gated| match &gated.verdict {
            GateVerdict::Refused { fault } => Some(fault.message.clone()),
            _ => None,
        })
        .collect()
}

fn broken(stated: &Value, assembled: &Assembled, played: &play::Played) -> Verdict {
    if !played.tools.is_empty() {
        return Err(format!("a call started: {:?}", played.sent()));
    }
    if let Some(want) = stated.get("executed") {
        check::same("executed", &json!(false), want)?;
    }
    let want = &stated["error"];
    let Err(error) = assembled else {
        let gated = played.gated().next().ok_or("no call was judged")?;
        let GateVerdict::Refused { fault } = &gated.verdict else {
            return Err(format!("want an error, got {:?}", gated.verdict));
        };
        return check::fault(fault, &gated.name, want);
    };
    check::known(want, &["class", "provider_type", "retryable", "max_retries"], "error")?;
    let class = match error.kind {
        ProviderErrorKind::StreamIncomplete => "stream_incomplete",
        ProviderErrorKind::MalformedCall => "provider_malformed_call",
        _ => "provider_error",
    };
    check::same("class", &json!(class), &want["class"])?;
    if let Some(want) = want.get("provider_type") {
        check::same("provider_type", &json!(error.provider_type), want)?;
    }
    if let Some(want) = want.get("retryable") {
        check::same("retryable", &json!(error.is_retryable()), want)?;
    }
    if let Some(want) = want.get("max_retries") {
        let again = played.records.iter().filter(|record| {
            matches!(record.event, Event::ModelRequested { why: Why::ReplyLost, .. })
        });
        check::same("max_retries", &json!(again.count()), want)?;
    }
    // A lost reply is no answer.
    match &played.finish().text {
        None => Ok(()),
        Some(text) => Err(format!("the run answered {text:?}")),
    }
}

/// Enough of a decoder for the file's own values.
fn base64(text: &str) -> Option<Vec<u8>> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = Vec::new();
    let (mut bits, mut held) = (0u32, 0);
    for byte in text.bytes().filter(|byte| *byte != b'=') {
        let digit = DIGITS.iter().position(|known| *known == byte)?;
        bits = bits << 6 | u32::try_from(digit).ok()?;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    Some(out)
}
