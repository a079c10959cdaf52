//! The reported transcripts and names of `tests/cases/cases.jsonl`, as bodies.

use std::{collections::HashSet, sync::Arc};

use callgate_wire::{
    AssistantPart, Codec, Message, Note, Request, ToolCall, ToolResult,
    anthropic::Anthropic,
    chat::Chat,
    gemini::Gemini,
    names::{NameRule, Names},
};
use serde_json::{Value, json};

use crate::requests;

fn case(id: &str) -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/cases.jsonl");
    let file = std::fs::read_to_string(path).unwrap();
    let mut cases = file.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    cases.find(|case| case["id"] == id).unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn result(call_id: &str, content: &str, is_error: bool) -> Arc<Message> {
    let content = vec![requests::text(content)];
    Message::Tool(ToolResult { call_id: call_id.into(), name: "".into(), content, is_error }).into()
}

fn calls(value: &Value) -> Arc<Message> {
    let calls = value.as_array().unwrap().iter().map(|call| {
        AssistantPart::Call(ToolCall {
            id: text(&call["id"]).into(),
            name: text(&call["name"]).into(),
            arguments: text(&call["arguments"]).into(),
            opaque: None,
        })
    });
    Message::Assistant { content: calls.collect() }.into()
}

/// The messages of a case.
fn transcript(case: &Value) -> Request {
    let mut messages: Vec<Arc<Message>> = Vec::new();
    for message in case["input"]["messages"].as_array().unwrap() {
        match text(&message["role"]) {
            "user" => messages.push(requests::user(text(&message["content"]))),
            "assistant" => messages.push(calls(&message["tool_calls"])),
            "tool" => messages.push(result(
                text(&message["tool_call_id"]),
                text(&message["content"]),
                message["is_error"] == true,
            )),
            "user_mixed" => {
                for part in message["parts"].as_array().unwrap() {
                    messages.push(match part.get("result") {
                        Some(id) => result(text(id), text(&part["content"]), false),
                        None => requests::user(text(&part["text"])),
                    });
                }
            }
            other => panic!("{other}"),
        }
    }
    for (n, content) in
        case["input"]["tool_results_in_order"].as_array().into_iter().flatten().enumerate()
    {
        let first = &case["input"]["messages"][0]["tool_calls"][n]["id"];
        messages.push(result(text(first), text(content), false));
    }
    Request { messages, ..Request::default() }
}

/// A body's messages in the form of the cases, as Chat Completions has them.
fn chat(request: &Request) -> (Vec<Value>, Vec<Note>) {
    let post = Chat::compatible().encode(request, false);
    let body: Value = serde_json::from_slice(&post.body).unwrap();
    let messages = body["messages"].as_array().unwrap().iter().map(|message| {
        let Some(calls) = message["tool_calls"].as_array() else { return message.clone() };
        let calls = calls.iter().map(|call| {
            json!({ "id": call["id"], "name": call["function"]["name"], "arguments": call["function"]["arguments"] })
        });
        json!({ "role": "assistant", "tool_calls": calls.collect::<Vec<_>>() })
    });
    (messages.collect(), post.notes)
}

#[test]
fn histories() {
    for id in [
        "cancelled-call-gets-result",
        "orphan-result-after-compaction",
        "message-between-call-and-result",
    ] {
        let case = case(id);
        let (messages, notes) = chat(&transcript(&case));
        let expected = case["expected"]["any"]["messages"].as_array().unwrap();
        assert_eq!(messages.len(), expected.len(), "{id}");
        for (message, expected) in messages.iter().zip(expected) {
            if expected["content"] == "*" {
                // What is made up says that it is no success, and is noted.
                assert_eq!(message["tool_call_id"], expected["tool_call_id"]);
                assert!(text(&message["content"]).contains(text(&expected["reason"])));
                assert!(matches!(&notes[..], [Note::ResultMissing { .. }]), "{notes:?}");
            } else {
                assert_eq!(message, expected, "{id}");
            }
        }
    }
}

#[test]
fn pairs() {
    for id in
        ["ids-reused-across-turns", "duplicate-id-in-one-turn", "malformed-arguments-in-history"]
    {
        let case = case(id);
        let (messages, _) = chat(&transcript(&case));
        let made: Vec<&Value> = messages
            .iter()
            .flat_map(|message| message["tool_calls"].as_array().into_iter().flatten())
            .collect();
        let ids: HashSet<&str> = made.iter().map(|call| text(&call["id"])).collect();
        assert_eq!(ids.len(), made.len(), "{id}");
        let pairs: Vec<Value> = made
            .iter()
            .map(|call| {
                let answer = messages.iter().find(|message| message["tool_call_id"] == call["id"]);
                json!([call["name"], answer.unwrap()["content"]])
            })
            .collect();
        assert_eq!(json!(pairs), case["expected"]["any"]["pairs"], "{id}");
        for call in made {
            assert!(serde_json::from_str::<Value>(text(&call["arguments"])).unwrap().is_object());
        }
    }
}

#[test]
fn anthropic_results() {
    for id in ["anthropic-parallel-results-one-message", "anthropic-results-before-text"] {
        let case = case(id);
        let post = Anthropic::new().encode(&transcript(&case), false);
        let body: Value = serde_json::from_slice(&post.body).unwrap();
        let mut messages = body["messages"].as_array().unwrap().clone();
        // The second case is a part of a transcript; a whole one begins with the user.
        if post.notes.contains(&Note::OpeningAdded) {
            messages.remove(0);
        }
        assert_eq!(json!(messages), case["expected"]["any"]["messages"], "{id}");
    }
}

#[test]
fn thought_signature_round_trip() {
    let case = case("thought-signature-round-trip");
    let part = &case["input"]["model_part"];
    let body =
        json!({ "candidates": [{ "content": { "parts": [part] }, "finishReason": "STOP" }] });
    let request = Request { model: "gemini-3-pro".into(), ..Request::default() };
    let reply = Gemini::new().decode(&request, 200, None, body.to_string().as_bytes()).unwrap();
    let id = reply.calls().next().unwrap().id.clone();
    let said = Message::Assistant { content: reply.content };
    let answer = result(&id, text(&case["input"]["tool_result"]), false);
    let messages = vec![requests::user("go"), said.into(), answer];
    let post = Gemini::new().encode(&Request { messages, ..request }, false);
    let body: Value = serde_json::from_slice(&post.body).unwrap();
    assert_eq!(body["contents"][1]["parts"], case["expected"]["any"]["contents_contains"]);
}

#[test]
fn malformed_by_the_provider() {
    let case = case("provider-marks-call-malformed");
    let body = case["input"]["response"].to_string();
    let error = Gemini::new().decode(&Request::default(), 200, None, body.as_bytes()).unwrap_err();
    assert_eq!(error.kind, callgate_wire::ProviderErrorKind::MalformedCall);
    assert!(error.is_retryable());
}

/// Names of servers' tools, as `server.tool`.
#[test]
fn names() {
    for (id, rule) in [
        ("tool-names-sanitised-and-distinct", NameRule::Word),
        ("tool-name-over-64", NameRule::Word),
        ("same-tool-name-on-two-servers", NameRule::Word),
        ("gemini-name-leading-digit", NameRule::Letter),
    ] {
        let case = case(id);
        let own: Vec<String> = case["input"]["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| {
                let by = if case["input"].get("naming").is_some() { "" } else { "." };
                format!("{}{by}{}", text(&tool["server"]), text(&tool["name"]))
            })
            .collect();
        let mut names = Names::new(rule, own.iter().map(String::as_str));
        let wire: Vec<_> = own.iter().map(|name| names.wire(name).into_owned()).collect();
        let distinct: HashSet<_> = wire.iter().collect();
        assert_eq!(distinct.len(), own.len(), "{id}");
        let restore = names.restore();
        for (own, wire) in own.iter().zip(&wire) {
            assert!(rule.admits(wire), "{id}: {wire}");
            assert_eq!(restore.name(wire), own, "{id}");
        }
    }
}

#[test]
fn numbers_of_tools() {
    let generated = case("too-many-tools");
    let count = generated["input"]["tools_generate"]["count"].as_u64().unwrap();
    let request = Request {
        tools: (0..count)
            .map(|n| requests::tool(&format!("tool_{n}"), r#"{"type":"object"}"#))
            .collect(),
        ..Request::default()
    };
    let post = Chat::openai().encode(&request, false);
    let body: Value = serde_json::from_slice(&post.body).unwrap();
    assert_eq!(body["tools"].as_array().unwrap().len(), 128);
    assert!(
        matches!(&post.notes[..], [Note::ToolsLeftOut { limit: 128, names }] if names.len() == 14)
    );

    let none = case("no-tools-left-omit-field");
    let post = Gemini::new().encode(&Request::default(), false);
    let body: Value = serde_json::from_slice(&post.body).unwrap();
    for field in none["expected"]["any"]["body_must_not_have"].as_array().unwrap() {
        assert!(body.get(text(field)).is_none());
    }
}
