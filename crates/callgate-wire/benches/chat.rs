//! What the codec costs a turn: a request out, a streamed call in.
//!
//! `bare` is the same JSON through `serde_json::Value` and nothing else, for comparison in the same
//! run.
#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark")]

use std::sync::Arc;

use callgate_wire::{
    AssistantPart, Codec, Message, Part, Request, ToolCall, ToolDefinition, ToolResult, chat::Chat,
};
use divan::{Bencher, black_box};
use serde_json::{Value, value::RawValue};

fn main() {
    divan::main();
}

/// A typical streamed turn: 11 events, one call of about 90 bytes of arguments.
fn events() -> Vec<String> {
    let mut events = vec![
        r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"searchInvoices","arguments":""}}]},"logprobs":null,"finish_reason":null}]}"#.to_owned(),
    ];
    let arguments =
        r#"{"startDate":"2026-01-01","endDate":"2026-01-31","status":"paid","customer":"C-1042"}"#;
    for piece in arguments.as_bytes().chunks(11) {
        let piece = serde_json::to_string(std::str::from_utf8(piece).unwrap()).unwrap();
        events.push(format!(
            r#"{{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{{"index":0,"delta":{{"tool_calls":[{{"index":0,"function":{{"arguments":{piece}}}}}]}},"logprobs":null,"finish_reason":null}}]}}"#
        ));
    }
    events.push(r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"tool_calls"}]}"#.to_owned());
    events.push(r#"{"id":"chatcmpl-1","choices":[],"usage":{"prompt_tokens":400,"completion_tokens":40,"total_tokens":440,"prompt_tokens_details":{"cached_tokens":384}}}"#.to_owned());
    events
}

#[divan::bench]
fn stream(bencher: Bencher<'_, '_>) {
    let chunks: Vec<_> = events().iter().map(|event| format!("data: {event}\n\n")).collect();
    let chat = Chat::compatible();
    let request = request(0);
    bencher.bench(|| {
        let mut decoder = chat.stream(&request);
        let mut deltas = Vec::new();
        for chunk in &chunks {
            decoder.push(black_box(chunk.as_bytes()), &mut deltas);
        }
        decoder.push(b"data: [DONE]\n\n", &mut deltas);
        decoder.finish(&mut deltas).unwrap()
    });
}

#[divan::bench]
fn stream_bare(bencher: Bencher<'_, '_>) {
    let events = events();
    bencher.bench(|| {
        for event in &events {
            black_box(serde_json::from_str::<Value>(black_box(event)).unwrap());
        }
    });
}

/// A transcript of so many turns with a call and a result of 1 KiB each, and 10 tools.
fn request(turns: usize) -> Request {
    let parameters: Arc<RawValue> = RawValue::from_string(
        r#"{"type":"object","properties":{"startDate":{"type":"string","format":"date"},"endDate":{"type":"string","format":"date"},"status":{"enum":["draft","sent","paid","void"]}},"required":["startDate"],"additionalProperties":false}"#.to_owned(),
    )
    .unwrap()
    .into();
    let tool = |n| ToolDefinition {
        name: format!("tool_{n}").into(),
        description: Some("Finds invoices by date and status.".into()),
        parameters: Arc::clone(&parameters),
        strict: Some(true),
        ..ToolDefinition::default()
    };
    let mut messages = vec![Arc::new(Message::user("Which invoices were paid in January?"))];
    for turn in 0..turns {
        let id: Arc<str> = format!("call_{turn}").into();
        messages.push(Arc::new(Message::Assistant {
            content: vec![AssistantPart::Call(ToolCall {
                id: Arc::clone(&id),
                name: "tool_1".into(),
                arguments: r#"{"startDate":"2026-01-01","status":"paid"}"#.into(),
                opaque: None,
            })],
        }));
        messages.push(Arc::new(Message::Tool(ToolResult {
            call_id: id,
            name: "tool_1".into(),
            content: vec![Part::Text {
                text: r#"{"id":"INV-1042","total":"19.90"},"#.repeat(30).into(),
            }],
            is_error: false,
        })));
    }
    Request {
        model: "m".into(),
        instructions: Some("Answer from the tools.".into()),
        messages,
        tools: (0..10).map(tool).collect(),
        ..Request::default()
    }
}

#[divan::bench(args = [0, 10])]
fn encode(bencher: Bencher<'_, '_>, turns: usize) {
    let chat = Chat::openai();
    let request = request(turns);
    bencher.bench(|| chat.encode(black_box(&request), true));
}

/// What merely copying the finished body as a value would cost.
#[divan::bench(args = [0, 10])]
fn encode_bare(bencher: Bencher<'_, '_>, turns: usize) {
    let body: Value =
        serde_json::from_slice(&Chat::openai().encode(&request(turns), true).body).unwrap();
    bencher.bench(|| serde_json::to_vec(black_box(&body)).unwrap());
}

#[divan::bench]
fn decode(bencher: Bencher<'_, '_>) {
    let body = r#"{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"refusal":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"searchInvoices","arguments":"{\"startDate\":\"2026-01-01\",\"endDate\":\"2026-01-31\",\"status\":\"paid\"}"}}]},"logprobs":null,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":400,"completion_tokens":40,"total_tokens":440}}"#;
    let request = request(0);
    bencher
        .bench(|| Chat::openai().decode(&request, 200, None, black_box(body.as_bytes())).unwrap());
}
