//! What holds of every body and every decoder, whatever comes.

use std::{collections::HashSet, sync::Arc};

use callgate_wire::{AssistantPart, Message, Opaque, Part, Request, ToolCall, ToolResult};
use proptest::prelude::*;
use serde_json::Value;

use crate::{Dialect, dialects, requests};

const IDS: &[&str] = &["", "a", "b", "t:0", "functions.f:1", "toolu_1"];
const NAMES: &[&str] = &["now", "crm.get_customer", "gone", "a b"];
const ARGUMENTS: &[&str] = &["", "{}", "{\"x\":1.10}", "{\"cut", "[1]", "{\"s\":\"\\ud83d\"}"];
const TEXTS: &[&str] = &["", " ", "hm", "So: "];

fn opaque() -> impl Strategy<Value = Option<Opaque>> {
    let kept = prop::sample::select(vec![
        ("anthropic", r#"{"type":"thinking","thinking":"hm","signature":"s"}"#),
        ("gemini", r#"{"id":"g","thoughtSignature":"s"}"#),
        ("gemini", r#"{"text":"","thoughtSignature":"s"}"#),
        ("responses", r#"{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"e"}"#),
        ("chat", "not even JSON"),
    ]);
    let of = |(provider, json): (&str, &str)| Opaque {
        provider: provider.into(),
        json: json.into(),
        model: None,
    };
    prop::option::of(kept.prop_map(of))
}

fn call() -> impl Strategy<Value = AssistantPart> {
    let pick = prop::sample::select;
    (pick(IDS), pick(NAMES), pick(ARGUMENTS)).prop_map(|(id, name, arguments)| {
        let (id, name, arguments) = (id.into(), name.into(), arguments.into());
        AssistantPart::Call(ToolCall { id, name, arguments, opaque: None })
    })
}

fn part() -> impl Strategy<Value = AssistantPart> {
    let text =
        prop::sample::select(TEXTS).prop_map(|text| AssistantPart::Text { text: text.into() });
    let reasoning = (prop::sample::select(TEXTS), opaque())
        .prop_map(|(text, opaque)| AssistantPart::Reasoning { text: text.into(), opaque });
    prop_oneof![text, reasoning, call(), call()]
}

pub(crate) fn message() -> impl Strategy<Value = Arc<Message>> {
    let image = Part::Image { media_type: "image/png".into(), data: "AAAA".into() };
    let content = prop_oneof![
        prop::sample::select(TEXTS).prop_map(|text| vec![requests::text(text)]),
        Just(vec![image]),
        Just(vec![]),
    ];
    let result = (prop::sample::select(IDS), content.clone(), any::<bool>()).prop_map(
        |(call_id, content, is_error)| {
            let (call_id, name) = (call_id.into(), "now".into());
            Message::Tool(ToolResult { call_id, name, content, is_error })
        },
    );
    let said =
        prop::collection::vec(part(), 0..4).prop_map(|content| Message::Assistant { content });
    let user = content.prop_map(|content| Message::User { content });
    prop_oneof![1 => user, 2 => said, 2 => result].prop_map(Arc::new)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Calls and results of a body in their order: `(is call, id or position)`.
fn steps(dialect: &Dialect, body: &Value) -> Vec<(bool, String)> {
    let id = |value: &Value| value.as_str().unwrap().to_owned();
    let mut out = Vec::new();
    match dialect.replies {
        "chat" | "ollama" => {
            for message in list(&body["messages"]) {
                let calls = list(&message["tool_calls"]);
                out.extend(calls.iter().map(|call| (true, id(&call["id"]))));
                if message["role"] == "tool" {
                    out.push((false, id(&message["tool_call_id"])));
                } else if message["role"] == "user" {
                    out.push((false, "user".into()));
                }
            }
        }
        "responses" => {
            for item in list(&body["input"]) {
                match item["type"].as_str() {
                    Some("function_call") => out.push((true, id(&item["call_id"]))),
                    Some("function_call_output") => out.push((false, id(&item["call_id"]))),
                    _ if item["role"] == "user" => out.push((false, "user".into())),
                    _ => {}
                }
            }
        }
        "anthropic" => {
            for (n, message) in list(&body["messages"]).iter().enumerate() {
                assert_eq!(message["role"], if n % 2 == 0 { "user" } else { "assistant" });
                assert!(!list(&message["content"]).is_empty());
                for block in list(&message["content"]) {
                    match block["type"].as_str() {
                        Some("tool_use") => out.push((true, id(&block["id"]))),
                        Some("tool_result") => out.push((false, id(&block["tool_use_id"]))),
                        Some("text") => {
                            assert!(!block["text"].as_str().unwrap().trim().is_empty());
                            if message["role"] == "user" {
                                out.push((false, "user".into()));
                            }
                        }
                        _ => {}
                    }
                }
            }
        }
        _ => {
            // Without ids, by position: the turn and the place in it.
            let contents = list(&body["contents"]);
            assert_eq!(contents[0]["role"], "user");
            for (n, content) in contents.iter().enumerate() {
                let parts = list(&content["parts"]);
                assert!(!parts.is_empty());
                let named = |kind: &str| -> Vec<String> {
                    let of = parts.iter().filter_map(|part| part.get(kind));
                    of.map(|call| call["name"].as_str().unwrap().to_owned()).collect()
                };
                let (calls, answers) = (named("functionCall"), named("functionResponse"));
                let turn = if answers.is_empty() { n } else { n - 1 };
                assert!(answers.is_empty() || answers.len() == parts.len());
                let step =
                    |is_call, at: usize, name: &String| (is_call, format!("{turn}.{at}.{name}"));
                out.extend(calls.iter().enumerate().map(|(at, name)| step(true, at, name)));
                out.extend(answers.iter().enumerate().map(|(at, name)| step(false, at, name)));
                if content["role"] == "user" && answers.is_empty() {
                    out.push((false, "user".into()));
                }
            }
        }
    }
    out
}

proptest! {
    /// Every call is answered exactly once, at once and in order, by its own id; no result is alone.
    #[test]
    fn transcripts_are_right(messages in prop::collection::vec(message(), 0..10)) {
        let request = Request { messages, tools: requests::tools(), ..Request::default() };
        for dialect in dialects() {
            let post = dialect.codec.encode(&dialect.addressed(&request), false);
            let body: Value = serde_json::from_slice(&post.body).unwrap();
            let mut open: Vec<String> = Vec::new();
            let mut seen = HashSet::new();
            let mut answering = 0;
            for (is_call, id) in steps(&dialect, &body) {
                if is_call {
                    prop_assert_eq!(answering, 0, "{}: a call among results", dialect.name);
                    prop_assert!(seen.insert(id.clone()), "{}: {} again", dialect.name, id);
                    open.push(id);
                } else if id == "user" {
                    prop_assert!(open.is_empty(), "{}: words before results", dialect.name);
                } else {
                    prop_assert_eq!(open.get(answering), Some(&id), "{}", dialect.name);
                    answering += 1;
                    if answering == open.len() {
                        open.clear();
                        answering = 0;
                    }
                }
            }
            prop_assert!(open.is_empty(), "{}: {:?} have no result", dialect.name, open);
        }
    }

    /// A longer transcript begins with the same bytes, so that prompt caches hold.
    #[test]
    fn a_longer_transcript_begins_alike(
        before in prop::collection::vec(message(), 0..6),
        after in prop::collection::vec(message(), 0..3),
    ) {
        // What comes first must be whole: a result that is still to come would change it.
        let with = |more: &[Arc<Message>]| {
            let asked = requests::user("And?");
            let messages = before.iter().chain([&asked]).chain(more).cloned().collect();
            Request { messages, ..Request::default() }
        };
        let orphans: Vec<_> = after
            .into_iter()
            .filter(|message| !matches!(**message, Message::Tool(_)))
            .collect();
        for dialect in dialects().iter().filter(|dialect| matches!(dialect.replies, "chat" | "responses" | "ollama")) {
            let key = if dialect.replies == "responses" { "input" } else { "messages" };
            let [short, long] = [&[][..], &orphans].map(|more| {
                let post = dialect.codec.encode(&dialect.addressed(&with(more)), false);
                serde_json::from_slice::<Value>(&post.body).unwrap()
            });
            let (short, long) = (list(&short[key]), list(&long[key]));
            prop_assert_eq!(short, &long[..short.len()], "{}", dialect.name);
        }
    }

    /// No panic, and law 6, whatever bytes come.
    #[test]
    fn any_stream(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..30), cut in 0usize..600) {
        let stream = pieces.concat().into_bytes();
        let (head, tail) = stream.split_at(cut.min(stream.len()));
        for dialect in dialects() {
            let request = dialect.addressed(&Request { tools: requests::tools(), ..Request::default() });
            let run = |chunks: &[&[u8]]| {
                let mut decoder = dialect.codec.stream(&request);
                let mut deltas = Vec::new();
                chunks.iter().for_each(|chunk| decoder.push(chunk, &mut deltas));
                (decoder.finish(&mut deltas), deltas)
            };
            prop_assert_eq!(run(&[&stream]), run(&[head, tail]), "{}", dialect.name);
            for status in [200, 500] {
                let _ = dialect.codec.decode(&request, status, Some(1), &stream);
            }
        }
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for dialect in dialects() {
            let request = dialect.addressed(&Request::default());
            let mut decoder = dialect.codec.stream(&request);
            let mut deltas = Vec::new();
            decoder.push(&bytes, &mut deltas);
            let _ = decoder.finish(&mut deltas);
            let _ = dialect.codec.decode(&request, 200, None, &bytes);
            let _ = dialect.codec.decode(&request, 400, None, &bytes);
        }
    }
}

/// Pieces of which streams are made, and with which they are spoiled.
const PIECES: &[&str] = &[
    "data: ",
    "\n\n",
    "\n",
    "\r\n\r",
    "[DONE]",
    "null",
    "{",
    "}",
    "{}",
    "é",
    "\\u00",
    "{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":1}}}",
    "{\"type\":\"content_block_start\",\"content_block\":{\"type\":\"tool_use\",\"name\":\"now\"}}",
    "{\"type\":\"content_block_delta\",\"index\":7,\"delta\":{\"partial_json\":\"{\"}}",
    "{\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"x\"}}",
    "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}",
    "{\"type\":\"message_stop\"}",
    "{\"type\":\"error\"}",
    "{\"type\":\"response.output_item.added\",\"item\":{\"type\":\"function_call\",\"name\":\"crm_get_customer\"}}",
    "{\"type\":\"response.output_item.done\",\"item\":{\"type\":\"message\",\"content\":null}}",
    "{\"type\":\"response.function_call_arguments.delta\",\"delta\":\"{\"}",
    "{\"type\":\"response.completed\",\"response\":{\"output\":[{\"type\":\"function_call\"}]}}",
    "{\"type\":\"response.completed\",\"response\":{}}",
    "{\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{}},{\"text\":1},7]}}]}",
    "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\",\"thoughtSignature\":\"s\"}]},\"finishReason\":\"STOP\"}]}",
    "{\"message\":{\"content\":\"<think>\",\"tool_calls\":[{}]},\"done\":false}",
    "{\"message\":{\"tool_calls\":[{\"function\":{\"name\":\"now\"}}]},\"done\":true}",
    "{\"error\":\"x\"}",
];
