//! Whole responses, in every shape that was seen.

use std::sync::Arc;

use super::sketch;
use crate::{
    AssistantPart, Codec, Message, ProviderError, ProviderErrorKind, Reply, Request, ToolCall,
    chat::Chat,
};

fn decode(body: &str) -> Result<Reply, ProviderError> {
    Chat::compatible().decode(&Request::default(), 200, None, body.as_bytes())
}

fn message(message: &str, finish: &str) -> Result<Reply, ProviderError> {
    decode(&format!(
        "{{\"choices\":[{{\"index\":0,\"message\":{message},\"finish_reason\":{finish}}}]}}"
    ))
}

#[test]
fn messages() {
    for (json, finish, expected) in [
        (r#"{"role":"assistant","content":"a"}"#, r#""stop""#, &["text a"][..]),
        (r#"{"content":[{"type":"text","text":"a"},"b"]}"#, "null", &["text ab"]),
        (
            r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"a"}]}"#,
            r#""stop""#,
            &["reasoning hm", "text a"],
        ),
        (r#"{"content":"","reasoning_content":"hm"}"#, r#""stop""#, &["reasoning hm"]),
        (
            r#"{"content":null,"reasoning_content":"hm","reasoning":"hm"}"#,
            r#""stop""#,
            &["reasoning hm"],
        ),
        (r#"{"content":null,"refusal":"no"}"#, r#""stop""#, &["text no", "Refusal"]),
        (
            r#"{"content":"<think>hm</think>\n\n{\"a\":1}"}"#,
            r#""stop""#,
            &["reasoning hm", r#"text {"a":1}"#],
        ),
        // An empty end is an end.
        (r#"{"content":null}"#, r#""stop""#, &[]),
        ("null", r#""stop""#, &[]),
        (
            r#"{"content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1.10}"}},{"id":"b","function":{"name":"f","arguments":{"n":12345678901234567890}}}]}"#,
            r#""stop""#,
            &[r#"a f({"x":1.10})"#, r#"b f({"n":12345678901234567890})"#],
        ),
        (
            r#"{"tool_calls":[{"function":{"name":"f"}},{"id":9,"function":{"name":"f","arguments":""}},{"id":9,"function":{"name":"f","arguments":null}}]}"#,
            r#""tool_call""#,
            &["call_0 f()", "9 f()", "call_1 f()"],
        ),
        (
            r#"{"content":"","function_call":{"name":"f","arguments":"{}"}}"#,
            r#""function_call""#,
            &["call_0 f({})"],
        ),
        (r#"{"content":"a","tool_calls":null}"#, r#""tool_calls""#, &["text a"]),
        (r#"{"content":"a","tool_calls":[]}"#, r#""stop""#, &["text a"]),
        (
            r#"{"content":null,"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}"#,
            r#""length""#,
            &["a f({})", "Length"],
        ),
    ] {
        assert_eq!(sketch(&message(json, finish).unwrap()), expected, "{json}");
    }
    let malformed = message(r#"{"content":null}"#, r#""MALFORMED_FUNCTION_CALL""#).unwrap_err();
    assert_eq!(malformed.kind, ProviderErrorKind::MalformedCall);
    assert!(malformed.is_retryable());
}

#[test]
fn generated_ids_are_new_in_the_transcript() {
    let call = |id: &str| {
        AssistantPart::Call(ToolCall {
            id: id.into(),
            name: "f".into(),
            arguments: "{}".into(),
            opaque: None,
        })
    };
    let earlier = Message::Assistant { content: vec![call("call_0"), call("call_2")] };
    let request = Request { messages: vec![Arc::new(earlier)], ..Request::default() };
    let body = r#"{"choices":[{"message":{"tool_calls":[{"function":{"name":"f"}},{"function":{"name":"f"}}]}}]}"#;
    let reply = Chat::compatible().decode(&request, 200, None, body.as_bytes()).unwrap();
    assert_eq!(sketch(&reply), ["call_1 f()", "call_3 f()"]);
}

#[test]
fn usage_from_anywhere() {
    for usage in [
        r#""usage":{"prompt_tokens":5,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":3}}"#,
        r#""usage":{"input_tokens":5.0,"output_tokens":"2","prompt_cache_hit_tokens":3}"#,
        r#""usage":{"prompt_tokens":5,"completion_tokens":2,"num_cached_tokens":3,"prompt_tokens_details":null}"#,
        r#""x_groq":{"usage":{"prompt_tokens":5,"completion_tokens":2,"num_cached_tokens":3}}"#,
    ] {
        let body = format!(r#"{{"choices":[{{"message":{{"content":"a"}}}}],{usage}}}"#);
        let usage = decode(&body).unwrap().usage;
        let counts = (usage.input_tokens, usage.output_tokens, usage.cached_tokens);
        assert_eq!(counts, (5, 2, 3), "{body}");
    }
    let on_choice = r#"{"choices":[{"message":{"content":"a"},"usage":{"completion_tokens":2}}]}"#;
    assert_eq!(decode(on_choice).unwrap().usage.output_tokens, 2);
    let odd = r#"{"choices":[{"message":{"content":"a"}}],"usage":"none"}"#;
    assert_eq!(decode(odd).unwrap().usage.total(), 0);
}

#[test]
fn of_several_choices_the_first_counts() {
    let body = r#"{"choices":[{"index":1,"message":{"content":"b"}},{"index":0,"message":{"content":"a"}}]}"#;
    assert_eq!(decode(body).unwrap().text(), "a");
}
