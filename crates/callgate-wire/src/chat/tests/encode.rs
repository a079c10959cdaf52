//! Requests, as golden bodies.

use std::sync::Arc;

use serde_json::{Value, value::RawValue};

use crate::{
    AnswerFormat, AssistantPart, Codec, Message, Opaque, Part, Request, ToolCall, ToolChoice,
    ToolDefinition, ToolResult,
    chat::{Chat, Profile},
};

fn raw(json: &str) -> Arc<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap().into()
}

fn tool(name: &str) -> ToolDefinition {
    ToolDefinition {
        name: name.into(),
        description: Some("Does it.".into()),
        parameters: raw(r#"{"type":"object","properties":{"z":{},"a":{"minimum":1.10}}}"#),
        strict: None,
        ..ToolDefinition::default()
    }
}

fn call(id: &str, name: &str, arguments: &str) -> AssistantPart {
    AssistantPart::Call(ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
        opaque: None,
    })
}

fn text(text: &str) -> Part {
    Part::Text { text: text.into() }
}

fn image(data: &str) -> Part {
    Part::Image { media_type: "image/png".into(), data: data.into() }
}

fn result(call_id: &str, name: &str, content: Vec<Part>) -> Arc<Message> {
    let is_error = false;
    Arc::new(Message::Tool(ToolResult {
        call_id: call_id.into(),
        name: name.into(),
        content,
        is_error,
    }))
}

fn assistant(content: Vec<AssistantPart>) -> Arc<Message> {
    Arc::new(Message::Assistant { content })
}

fn request(messages: Vec<Arc<Message>>) -> Request {
    Request { model: "m".into(), messages, ..Request::default() }
}

fn offering(names: &[&str], tool_choice: ToolChoice) -> Request {
    Request {
        tools: names.iter().map(|name| tool(name)).collect(),
        tool_choice,
        ..request(vec![Message::user("Hi").into()])
    }
}

fn answer() -> AnswerFormat {
    AnswerFormat { name: "out".into(), schema: raw(r#"{"type":"object"}"#), strict: true }
}

fn body(profile: Profile, request: &Request) -> Value {
    let post = Chat::new(profile).encode(request, false);
    assert_eq!(post.path, "/chat/completions");
    serde_json::from_slice(&post.body).unwrap()
}

/// A body as text, one line for each of its fields and messages.
fn lines(profile: Profile, request: &Request) -> String {
    let body = body(profile, request);
    let mut out = String::new();
    for (key, value) in body.as_object().unwrap() {
        match value {
            Value::Array(items) => {
                for item in items {
                    out += &format!("{key}: {item}\n");
                }
            }
            _ => out += &format!("{key}: {value}\n"),
        }
    }
    out
}

/// `snapshots/<request>@<profile>`: what changed on the wire is seen there.
fn golden(request_name: &str, profile_name: &str, profile: Profile, request: &Request) {
    insta::assert_snapshot!(format!("{request_name}@{profile_name}"), lines(profile, request));
}

#[test]
fn plain() {
    let request = Request {
        instructions: Some("Be brief.".into()),
        max_output_tokens: Some(100),
        temperature: Some(0.0),
        tool_choice: ToolChoice::Some,
        parallel_tool_calls: Some(false),
        ..request(vec![
            Message::user("Hi").into(),
            Message::assistant("Hello\n\"you\"").into(),
            Arc::new(Message::User {
                content: vec![text("What"), text("is this?"), image("iVBO")],
            }),
        ])
    };
    golden("plain", "openai", Profile::openai(), &request);
    golden("plain", "compatible", Profile::compatible(), &request);
    let streamed = Chat::openai().encode(&request, true);
    let streamed: Value = serde_json::from_slice(&streamed.body).unwrap();
    assert_eq!(streamed["stream"], true);
    assert_eq!(streamed["stream_options"]["include_usage"], true);
    let streamed = Chat::new(Profile::mistral()).encode(&request, true);
    let streamed: Value = serde_json::from_slice(&streamed.body).unwrap();
    assert_eq!(streamed["stream"], true);
    assert_eq!(streamed.get("stream_options"), None);
}

/// The results come right after their calls, images after the last result, the rest after that.
#[test]
fn results() {
    let request = request(vec![
        Message::user("Go").into(),
        assistant(vec![
            AssistantPart::Text { text: "Let me see.".into() },
            call("a", "chart", r#"{"n":1.10}"#),
            call("b", "fails", "{}"),
            call("c", "pictures", "{}"),
        ]),
        Message::user("(meanwhile)").into(),
        result("a", "chart", vec![text("A chart."), text("Two lines."), image("AAAA")]),
        result("b", "fails", vec![text(r#"{"ok":false,"error":{"kind":"timeout"}}"#)]),
        result("c", "pictures", vec![image("BBBB"), image("CCCC")]),
        assistant(vec![AssistantPart::Text { text: "Done.".into() }]),
        Message::user("Thanks").into(),
    ]);
    golden("results", "openai", Profile::openai(), &request);
}

#[test]
fn broken_arguments_in_the_transcript() {
    let request = request(vec![
        Message::user("Go").into(),
        assistant(vec![
            call("a", "f", r#"{"x": "cut"#),
            call("b", "f", ""),
            call("c", "f", "[1]"),
            call("d", "f", " {\"x\": 12345678901234567890} "),
        ]),
        result("a", "f", vec![]),
    ]);
    golden("broken_arguments_in_the_transcript", "compatible", Profile::compatible(), &request);
}

#[test]
fn tools_and_choice() {
    let names = ["f", "g", "h"];
    let shown = |profile, choice: &ToolChoice| {
        let request =
            Request { parallel_tool_calls: Some(false), ..offering(&names, choice.clone()) };
        let body = body(profile, &request);
        let tools: Vec<_> = body["tools"].as_array().into_iter().flatten().collect();
        let names: Vec<_> =
            tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
        format!(
            "{} {} {}",
            names.concat(),
            body.get("tool_choice").map_or("-".into(), Value::to_string),
            body.get("parallel_tool_calls").map_or("-".into(), Value::to_string),
        )
    };
    let mut table = String::new();
    let subset = |names: &[&str], required| ToolChoice::Subset {
        names: names.iter().map(|name| Arc::from(*name)).collect(),
        required,
    };
    for choice in [
        ToolChoice::Auto,
        ToolChoice::Some,
        ToolChoice::One("g".into()),
        ToolChoice::None,
        subset(&["f", "h"], false),
        subset(&["f", "h"], true),
        subset(&[], true),
    ] {
        table += &format!("{choice:?}\n");
        for (name, profile) in [
            ("openai", Profile::openai()),
            ("compatible", Profile::compatible()),
            ("llamacpp", Profile::llamacpp()),
            ("ollama", Profile::ollama()),
            ("mistral", Profile::mistral()),
        ] {
            table += &format!("  {name:<10} {}\n", shown(profile, &choice));
        }
    }
    insta::assert_snapshot!("tools_and_choice", table);
}

#[test]
fn a_tool() {
    let strict = ToolDefinition { strict: Some(true), description: None, ..tool("f") };
    let request =
        Request { tools: vec![strict, tool("g")].into(), ..offering(&[], ToolChoice::Auto) };
    golden("a_tool", "openai", Profile::openai(), &request);
    golden("a_tool", "deepseek", Profile::deepseek(), &request);
    // The schema goes in as the text it is.
    let post = Chat::openai().encode(&request, false);
    let schema = r#""parameters":{"type":"object","properties":{"z":{},"a":{"minimum":1.10}}}"#;
    assert!(String::from_utf8(post.body.into()).unwrap().contains(schema));
}

#[test]
fn models_that_take_tools_only_without_reasoning() {
    for (profile, model, names, effort) in [
        (Profile::openai(), "gpt-5.6-terra", &["f"][..], Some("none")),
        (Profile::openai(), "gpt-5.6-terra", &[], None),
        (Profile::openai(), "gpt-5.4", &["f"], None),
        (Profile::compatible(), "gpt-5.6-terra", &["f"], None),
    ] {
        let request = Request { model: model.into(), ..offering(names, ToolChoice::Auto) };
        let body = body(profile, &request);
        assert_eq!(body.get("reasoning_effort").map(|effort| effort.as_str().unwrap()), effort);
    }
}

#[test]
fn without_tools_nothing_is_said_about_them() {
    for choice in [ToolChoice::Some, ToolChoice::None, ToolChoice::One("f".into())] {
        let request = Request { parallel_tool_calls: Some(true), ..offering(&[], choice) };
        let body = body(Profile::llamacpp(), &request);
        for field in ["tools", "tool_choice", "parallel_tool_calls"] {
            assert_eq!(body.get(field), None);
        }
    }
}

#[test]
fn structured_output() {
    let with_tools = Request { answer: Some(answer()), ..offering(&["f"], ToolChoice::Auto) };
    let without = Request { answer: Some(answer()), ..offering(&[], ToolChoice::Auto) };
    golden("structured_output_with_tools", "openai", Profile::openai(), &with_tools);
    golden("structured_output_with_tools", "llamacpp", Profile::llamacpp(), &with_tools);
    golden("structured_output_without", "llamacpp", Profile::llamacpp(), &without);
    golden("structured_output_without", "deepseek", Profile::deepseek(), &without);
}

#[test]
fn reasoning_and_signatures() {
    let opaque = |provider: &str, json: &str| {
        Some(Opaque { provider: provider.into(), json: json.into(), model: None })
    };
    let signed = ToolCall {
        id: "a".into(),
        name: "f".into(),
        arguments: "{}".into(),
        opaque: opaque("chat", r#"{"google":{"thought_signature":"s"}}"#),
    };
    let request = request(vec![
        Message::user("Go").into(),
        assistant(vec![
            AssistantPart::Reasoning {
                text: "hm".into(),
                opaque: opaque("chat", r#"[{"type":"reasoning.text","text":"hm"}]"#),
            },
            AssistantPart::Opaque(Opaque {
                provider: "other".into(),
                json: "{}".into(),
                model: None,
            }),
            AssistantPart::Call(signed),
        ]),
        result("a", "f", vec![text("1")]),
        assistant(vec![call("b", "f", "{}")]),
        result("b", "f", vec![text("2")]),
        assistant(vec![AssistantPart::Text { text: "2".into() }]),
    ]);
    golden("reasoning_and_signatures", "compatible", Profile::compatible(), &request);
    golden("reasoning_and_signatures", "deepseek", Profile::deepseek(), &request);
    golden("reasoning_and_signatures", "openrouter", Profile::openrouter(), &request);
}

/// A transcript that began with another provider.
#[test]
fn foreign_ids() {
    let long = "toolu_".to_owned() + &"x".repeat(60);
    let request = request(vec![
        assistant(vec![
            call(&long, "f", "{}"),
            call("functions.f:0", "f", "{}"),
            call("D681PevKs", "f", "{}"),
        ]),
        result(&long, "f", vec![text("1")]),
        result("functions.f:0", "f", vec![text("2")]),
        result("D681PevKs", "f", vec![text("3")]),
    ]);
    golden("foreign_ids", "openai", Profile::openai(), &request);
    golden("foreign_ids", "mistral", Profile::mistral(), &request);
    golden("foreign_ids", "compatible", Profile::compatible(), &request);
}
