//! A tool loop through a client: what it was told comes back in its next request, with the state of
//! whichever provider really answered.

use std::sync::Arc;

use callgate_wire::{
    AssistantPart, Message, Opaque, Reply, Stop, ToolCall,
    inbound::{Dialect, Refusal, RefusalKind},
};
use serde_json::value::RawValue;

use super::{mirror, reply, stamp};

fn opaque(provider: &str, json: &str) -> Opaque {
    Opaque { provider: provider.into(), json: json.into(), model: Some("m".into()) }
}

/// A reply of a provider that speaks none of the three, with state of every kind.
fn foreign() -> Reply {
    let call = |id: &str, opaque| {
        let (name, arguments) = ("now".into(), r#"{"x":1.10}"#.into());
        AssistantPart::Call(ToolCall { id: id.into(), name, arguments, opaque })
    };
    let signed = opaque("gemini", r#"{"thoughtSignature":"s"}"#);
    let thought = opaque("gemini", r#"{"thought":true,"n":1.10}"#);
    let content = vec![
        AssistantPart::Reasoning { text: "Hm.".into(), opaque: Some(thought) },
        AssistantPart::Opaque(opaque("gemini", r#"{"text":"","thoughtSignature":"t"}"#)),
        AssistantPart::Text { text: "Let me look.".into() },
        call("c1", Some(signed)),
        call("c2", None),
    ];
    reply(content, Stop::End)
}

/// The body of a client's next request, which has the response's own message or items in it.
fn next(dialect: Dialect, response: &str) -> String {
    let fields: std::collections::HashMap<&str, &RawValue> =
        serde_json::from_str(response).unwrap();
    match dialect {
        Dialect::Chat => {
            let choices: Vec<std::collections::HashMap<&str, &RawValue>> =
                serde_json::from_str(fields["choices"].get()).unwrap();
            let message = choices[0]["message"].get();
            format!(
                r#"{{"model":"m","messages":[{{"role":"user","content":"Hi"}},{message},
                {{"role":"tool","tool_call_id":"c1","content":"1"}},
                {{"role":"tool","tool_call_id":"c2","content":"2"}}]}}"#
            )
        }
        Dialect::Responses => {
            let output = fields["output"].get();
            let output = &output[1..output.len() - 1];
            format!(
                r#"{{"model":"m","input":[{{"role":"user","content":"Hi"}},{output},
                {{"type":"function_call_output","call_id":"c1","output":"1"}},
                {{"type":"function_call_output","call_id":"c2","output":"2"}}]}}"#
            )
        }
        Dialect::Messages => {
            let content = fields["content"].get();
            format!(
                r#"{{"model":"m","max_tokens":9,"messages":[{{"role":"user","content":"Hi"}},
                {{"role":"assistant","content":{content}}},
                {{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c1","content":"1"}},
                {{"type":"tool_result","tool_use_id":"c2","content":"2"}}]}}]}}"#
            )
        }
    }
}

#[test]
fn state_of_any_provider_survives_any_client() {
    for dialect in Dialect::ALL {
        let (codec, _) = mirror(dialect);
        let first = codec.encode(&crate::requests::all()[0].1, false).body;
        let received = dialect.inbound().read(&first).unwrap();
        let written = dialect.inbound().reply(&received, &foreign(), &stamp());
        let body = next(dialect, std::str::from_utf8(&written).unwrap());
        let received = dialect.inbound().read(body.as_bytes()).unwrap();
        assert_eq!(received.notes, [], "{dialect:?}");
        assert_eq!(received.check("gemini"), Ok(()), "{dialect:?}");
        let messages = received.request.messages;
        let said: &[AssistantPart] = match &*messages[1] {
            Message::Assistant { content } => content,
            other => panic!("{dialect:?}: {other:?}"),
        };
        assert_eq!(said, foreign().content, "{dialect:?}");
        // Results know their tools again.
        let names: Vec<Arc<str>> = messages
            .iter()
            .filter_map(|message| match &**message {
                Message::Tool(result) => Some(Arc::clone(&result.name)),
                _ => None,
            })
            .collect();
        assert_eq!(names, ["now".into(), "now".into()], "{dialect:?}");
    }
}

/// Every failure that is told is understood by the codec, whole and in mid-stream.
#[test]
fn failures_are_understood() {
    use RefusalKind::*;
    use callgate_wire::ProviderErrorKind as Kind;
    for dialect in Dialect::ALL {
        let (codec, _) = mirror(dialect);
        let request = crate::requests::all()[0].1.clone();
        let body = codec.encode(&request, true).body;
        let received = dialect.inbound().read(&body).unwrap();
        for (kind, expected) in [
            (BadRequest, Kind::BadRequest),
            (Unauthorized, Kind::Auth),
            (Forbidden, Kind::Auth),
            (NotFound, Kind::NotFound),
            (CallsRefused, Kind::BadRequest),
            (RateLimit, Kind::RateLimit),
            (Quota, Kind::Quota),
            (Internal, Kind::Unavailable),
            (BadGateway, Kind::Unavailable),
            (Unavailable, Kind::Unavailable),
            (Timeout, Kind::Unavailable),
        ] {
            let refusal = Refusal::new(kind, "No \"luck\" today.");
            let (status, body) = dialect.inbound().refuse(&refusal);
            let error = codec.decode(&request, status, None, &body).unwrap_err();
            assert_eq!(
                (error.kind, &*error.message),
                (expected, "No \"luck\" today."),
                "{dialect:?} {kind:?}"
            );

            let mut out = Vec::new();
            let mut writer = dialect.inbound().stream(&received, &stamp());
            writer.delta(&callgate_wire::Delta::Text("So".into()), &mut out);
            writer.fail(&refusal, &mut out);
            let mut decoder = codec.stream(&request);
            decoder.push(&out, &mut Vec::new());
            let error = decoder.finish(&mut Vec::new()).unwrap_err();
            assert_eq!(error.message, "No \"luck\" today.", "{dialect:?} {kind:?}");
            assert_ne!(error.kind, Kind::StreamIncomplete, "{dialect:?} {kind:?}");
        }
    }
}
