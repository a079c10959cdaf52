//! Each provider's own API against a server that keeps its rules, whole and streamed.
//!
//! The servers refuse what the real ones refuse, in their words: calls without a result, results
//! out of order, a signature that was changed, names and ids that are not taken, a forced choice
//! while thinking, missing versions and keys.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod rules;
#[allow(dead_code, reason = "shared with other tests")]
#[path = "../http/server.rs"]
mod server;

use std::{sync::Arc, time::Duration};

use callgate_model::{HttpOptions, Model, Registry};
use callgate_wire::{
    AssistantPart, Message, Part, ProviderErrorKind as Kind, Request, Retry, ToolCall, ToolChoice,
    ToolDefinition, ToolResult,
};
use rules::{API, Api};
use serde_json::value::RawValue;
use server::{Server, json};

const KEY: &str = "sk-secret";

fn registry() -> Registry {
    let env = |name: &str| name.ends_with("_API_KEY").then(|| KEY.to_owned());
    let options = HttpOptions {
        first_delay: Duration::from_millis(1),
        ending: Duration::from_millis(200),
        ..HttpOptions::default()
    };
    Registry::new(env).with_http_options(options)
}

async fn open(api: &Api, server: &Server) -> Box<dyn Model> {
    let root = server.base_url.strip_suffix("/v1").unwrap();
    registry().open(api.spec, Some(&format!("{root}{}", api.base))).unwrap()
}

fn tool(name: &str) -> ToolDefinition {
    let schema = r#"{"type":"object","properties":{}}"#.to_owned();
    ToolDefinition {
        name: name.into(),
        description: Some("Does it.".into()),
        parameters: RawValue::from_string(schema).unwrap().into(),
        strict: None,
        ..ToolDefinition::default()
    }
}

fn request(messages: Vec<Arc<Message>>) -> Request {
    let tools = [tool("crm.get_customer"), tool("now")].into();
    Request { messages, tools, ..Request::default() }
}

fn user(text: &str) -> Arc<Message> {
    Message::user(text).into()
}

fn result(call: &ToolCall) -> Arc<Message> {
    Message::Tool(ToolResult {
        call_id: call.id.clone(),
        name: call.name.clone(),
        content: vec![Part::Text { text: "fine".into() }],
        is_error: false,
    })
    .into()
}

/// Two calls, their results, an answer.
#[tokio::test]
async fn a_loop_of_two_hops() {
    for api in API {
        for streamed in [false, true] {
            let server = Server::judging(api.judge()).await;
            let model = open(api, &server).await;
            let mut messages = vec![user("Who is it, and when?")];
            let on_delta = |_| ();
            let on_delta = streamed.then_some(&on_delta as callgate_model::OnDelta<'_>);
            let first = model.reply(&request(messages.clone()), on_delta).await.unwrap();
            let calls: Vec<_> = first.calls().cloned().collect();
            let made: Vec<_> = calls.iter().map(|call| (&*call.name, &*call.arguments)).collect();
            let arguments = r#"{"id":1234567890123456789,"rate":1.10}"#;
            assert_eq!(made, [("crm.get_customer", arguments), ("now", "{}")], "{}", api.spec);
            messages.push(Message::Assistant { content: first.content }.into());
            // In whatever order they finish.
            messages.extend([result(&calls[1]), result(&calls[0])]);
            let second = model.reply(&request(messages), on_delta).await.unwrap();
            assert_eq!(second.text(), "All done.", "{}", api.spec);
            assert_eq!(server.requests().len(), 2);
        }
    }
}

/// A transcript that no provider takes as it stands.
#[tokio::test]
async fn a_broken_transcript_is_made_right() {
    let call = |id: &str, name: &str| {
        AssistantPart::Call(ToolCall {
            id: id.into(),
            name: name.into(),
            arguments: "{\"cut".into(),
            opaque: None,
        })
    };
    let orphan =
        ToolCall { id: "gone".into(), name: "now".into(), arguments: "".into(), opaque: None };
    let reused =
        ToolCall { id: "f:0".into(), name: "now".into(), arguments: "".into(), opaque: None };
    let messages = vec![
        user("Go"),
        result(&orphan),
        Message::Assistant { content: vec![call("f:0", "now"), call("f:1", "crm.get_customer")] }
            .into(),
        user("(meanwhile)"),
        result(&reused),
        Message::Assistant { content: vec![call("f:0", "a tool that is gone")] }.into(),
        result(&reused),
    ];
    for api in API {
        let server = Server::judging(api.judge()).await;
        let model = open(api, &server).await;
        let reply = model.reply(&request(messages.clone()), None).await;
        assert_eq!(reply.unwrap().text(), "All done.", "{}", api.spec);
    }
}

#[tokio::test]
async fn choices() {
    let names = ["now".into()].into();
    for choice in [
        ToolChoice::Some,
        ToolChoice::One("crm.get_customer".into()),
        ToolChoice::None,
        ToolChoice::Subset { names, required: true },
    ] {
        for api in API {
            let server = Server::judging(api.judge()).await;
            let model = open(api, &server).await;
            let request = Request {
                tool_choice: choice.clone(),
                parallel_tool_calls: Some(false),
                ..request(vec![user("Go")])
            };
            model.reply(&request, None).await.unwrap();
        }
    }
}

/// The rules are kept: a server of theirs refuses what breaks them.
#[tokio::test]
async fn the_servers_refuse_what_breaks_the_rules() {
    for api in API {
        for (body, says) in api.refused {
            let refused = api.judge()(&format!(
                "POST {} HTTP/1.1\r\n{}: {}{KEY}\r\nanthropic-version: x\r\n\r\n{body}",
                api.path, api.header, api.scheme
            ));
            let server::Act::Send(bytes) = &refused[0] else { panic!("no answer") };
            let text = String::from_utf8_lossy(bytes);
            assert!(text.starts_with("HTTP/1.1 400"), "{}: {text}", api.spec);
            assert!(text.contains(says), "{}: {text}", api.spec);
        }
    }
}

#[tokio::test]
async fn errors_in_their_own_shapes() {
    let google = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota, please check your plan and billing details.","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"0.001s"}]}}"#;
    let per_day = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"Quota","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProject"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"0.001s"}]}}"#;
    let bad_key = r#"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}"#;
    let anthropic = |kind: &str, message: &str| {
        format!(
            r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}"}},"request_id":"req_1"}}"#
        )
    };
    let openai = |code: &str| {
        format!(
            r#"{{"error":{{"message":"No.","type":"invalid_request_error","param":null,"code":"{code}"}}}}"#
        )
    };
    for (spec, status, body, kind, retry, attempts) in [
        (
            "anthropic",
            529,
            anthropic("overloaded_error", "Overloaded"),
            Kind::Unavailable,
            Retry::Backoff,
            3,
        ),
        (
            "anthropic",
            429,
            anthropic("rate_limit_error", "Slow"),
            Kind::RateLimit,
            Retry::Backoff,
            3,
        ),
        (
            "anthropic",
            401,
            anthropic("authentication_error", "bad sk-secret"),
            Kind::Auth,
            Retry::Never,
            1,
        ),
        (
            "anthropic",
            400,
            anthropic(
                "invalid_request_error",
                "prompt is too long: 210000 tokens > 200000 maximum",
            ),
            Kind::ContextLength,
            Retry::Never,
            1,
        ),
        (
            "anthropic",
            400,
            anthropic("invalid_request_error", "Your credit balance is too low"),
            Kind::Quota,
            Retry::Never,
            1,
        ),
        ("anthropic", 200, anthropic("api_error", "Oops"), Kind::Unavailable, Retry::Backoff, 3),
        ("gemini", 429, google.to_owned(), Kind::RateLimit, Retry::AfterMs(1), 3),
        ("gemini", 429, per_day.to_owned(), Kind::Quota, Retry::Never, 1),
        ("gemini", 400, bad_key.to_owned(), Kind::Auth, Retry::Never, 1),
        (
            "gemini",
            503,
            format!(
                "[{}]",
                google.replace("429", "503").replace("RESOURCE_EXHAUSTED", "UNAVAILABLE")
            ),
            Kind::Unavailable,
            Retry::AfterMs(1),
            3,
        ),
        ("openai-responses", 404, openai("model_not_found"), Kind::NotFound, Retry::Never, 1),
        (
            "openai-responses",
            400,
            openai("context_length_exceeded"),
            Kind::ContextLength,
            Retry::Never,
            1,
        ),
        ("openai-responses", 429, openai("insufficient_quota"), Kind::Quota, Retry::Never, 1),
        (
            "ollama",
            404,
            r#"{"error":"model 'x' not found"}"#.to_owned(),
            Kind::NotFound,
            Retry::Never,
            1,
        ),
        (
            "ollama",
            400,
            r#"{"error":"x does not support tools"}"#.to_owned(),
            Kind::BadRequest,
            Retry::Never,
            1,
        ),
        (
            "ollama",
            503,
            r#"{"error":"server busy, please try again. maximum pending requests exceeded"}"#
                .to_owned(),
            Kind::Unavailable,
            Retry::Backoff,
            3,
        ),
    ] {
        let server = Server::start(vec![json(status, &[], &body); 3]).await;
        let api = API.iter().find(|api| api.spec.starts_with(spec)).unwrap();
        let model = open(api, &server).await;
        let error = model.reply(&request(vec![user("Go")]), None).await.unwrap_err();
        assert_eq!((error.kind, error.retry), (kind, retry), "{spec} {body}");
        assert!(!error.message.contains(KEY), "{error}");
        assert_eq!(server.requests().len(), attempts, "{spec} {body}");
    }
}

/// A stream of Ollama's says so on a line of its own, after it began.
#[tokio::test]
async fn an_error_within_lines() {
    let lines =
        "{\"message\":{\"content\":\"Hel\"},\"done\":false}\n{\"error\":\"out of memory\"}\n";
    let script = server::response(200, &[("content-type", "application/x-ndjson")], lines);
    let server = Server::start(vec![script]).await;
    let api = API.iter().find(|api| api.spec.starts_with("ollama")).unwrap();
    let model = open(api, &server).await;
    let error = model.reply(&request(vec![user("Go")]), Some(&|_| ())).await.unwrap_err();
    assert_eq!((error.kind, &*error.message), (Kind::Unavailable, "out of memory"));
}
