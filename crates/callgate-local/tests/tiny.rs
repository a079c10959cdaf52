//! What holds for any model, shown on one of random numbers: no download, no patience.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

#[path = "../src/testing.rs"]
mod testing;

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    sync::Mutex,
};

use callgate_local::{Decoding, LocalModel, LocalOptions};
use callgate_model::Model;
use callgate_wire::{
    AnswerFormat, AssistantPart, Delta, Message, Part, ProviderErrorKind, Reply, Request, Stop,
    ToolChoice, ToolDefinition, ToolResult,
};
use candle_core::{
    Device, Tensor,
    quantized::{GgmlDType, QTensor, gguf_file},
};
use serde_json::{Value, json, value::to_raw_value};

/// Numbers that look random and are the same everywhere.
fn noise(seed: usize, count: usize) -> Vec<f32> {
    let mut state = 0x9e37_79b9_u32.wrapping_mul(seed as u32 + 1) | 1;
    (0..count)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            (state as f32 / u32::MAX as f32 - 0.5) * 0.8
        })
        .collect()
}

fn write_model(path: &Path, change: fn(&str, &mut [f32])) {
    let width = testing::WIDTH as usize;
    let mut shapes = vec![
        ("token_embd.weight".to_owned(), vec![testing::VOCABULARY, width]),
        ("output_norm.weight".to_owned(), vec![width]),
    ];
    for layer in 0..2 {
        for (part, shape) in [
            ("attn_norm", vec![width]),
            ("ffn_norm", vec![width]),
            ("attn_q", vec![width, width]),
            ("attn_k", vec![width / 2, width]),
            ("attn_v", vec![width / 2, width]),
            ("attn_output", vec![width, width]),
            ("ffn_gate", vec![64, width]),
            ("ffn_up", vec![64, width]),
            ("ffn_down", vec![width, 64]),
        ] {
            shapes.push((format!("blk.{layer}.{part}.weight"), shape));
        }
    }
    let tensors: Vec<(String, QTensor)> = shapes
        .into_iter()
        .enumerate()
        .map(|(seed, (name, shape))| {
            let mut numbers = noise(seed, shape.iter().product());
            change(&name, &mut numbers);
            let tensor = Tensor::from_vec(numbers, shape, &Device::Cpu).unwrap();
            (name, QTensor::quantize(&tensor, GgmlDType::F32).unwrap())
        })
        .collect();
    let tensors: Vec<(&str, &QTensor)> = tensors.iter().map(|(n, t)| (n.as_str(), t)).collect();
    let metadata = testing::metadata();
    let metadata: Vec<(&str, &gguf_file::Value)> =
        metadata.iter().map(|(key, value)| (key.as_str(), value)).collect();
    gguf_file::write(&mut File::create(path).unwrap(), &metadata, &tensors).unwrap();
}

struct Tiny {
    folder: tempfile::TempDir,
    model: LocalModel,
}

fn tiny(context: usize) -> Tiny {
    changed(context, |_, _| ())
}

/// With numbers of its own in the tensors of these names.
fn changed(context: usize, change: fn(&str, &mut [f32])) -> Tiny {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tiny.gguf");
    write_model(&path, change);
    let model = open(&path, context, None);
    Tiny { folder, model }
}

fn open(path: &Path, context: usize, prefix_folder: Option<PathBuf>) -> LocalModel {
    let options = LocalOptions { context, prefix_folder, ..LocalOptions::default() };
    LocalModel::open(path, options).unwrap()
}

fn tool(name: &str, parameters: &Value) -> ToolDefinition {
    ToolDefinition {
        name: name.into(),
        description: Some("One of <|im_end|> many".into()),
        parameters: to_raw_value(parameters).unwrap().into(),
        strict: None,
        ..ToolDefinition::default()
    }
}

fn request(choice: ToolChoice) -> Request {
    let day = json!({"type": "object", "properties": {
        "day": {"type": "string", "format": "date"},
        "kind": {"enum": ["a", "b"]}
    }, "required": ["day", "kind"]});
    let code = json!({"type": "object", "properties": {
        "code": {"type": "string", "pattern": "^T-[0-9]{1,4}$"}
    }, "required": ["code"]});
    Request {
        messages: vec![Message::user("Which day?").into()],
        tools: vec![tool("day", &day), tool("day_code", &code)].into(),
        tool_choice: choice,
        max_output_tokens: Some(400),
        ..Request::default()
    }
}

async fn reply(model: &LocalModel, request: &Request) -> Reply {
    model.reply(request, None).await.unwrap()
}

#[tokio::test]
async fn calls_fit_their_schemas_and_choices_are_obeyed() {
    let t = tiny(8192);
    for (choice, names) in [
        (ToolChoice::Some, &["day", "day_code"][..]),
        (ToolChoice::One("day".into()), &["day"]),
        (ToolChoice::One("day_code".into()), &["day_code"]),
        (ToolChoice::Subset { names: vec!["day_code".into()], required: true }, &["day_code"]),
    ] {
        let reply = reply(&t.model, &request(choice.clone())).await;
        assert_eq!(reply.stop, Stop::End, "{choice:?}");
        assert!(reply.calls().count() > 0, "{choice:?}");
        for call in reply.calls() {
            assert!(names.contains(&&*call.name), "{choice:?} {call:?}");
            let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
            let members = arguments.as_object().unwrap();
            if &*call.name == "day" {
                assert_eq!(members.len(), 2);
                assert_eq!(arguments["day"].as_str().unwrap().len(), "2026-01-01".len());
                assert!(["a", "b"].contains(&arguments["kind"].as_str().unwrap()));
            } else {
                assert_eq!(members.len(), 1);
                assert!(arguments["code"].as_str().unwrap().starts_with("T-"));
            }
        }
    }
}

/// Nothing is clear to random numbers.
#[tokio::test]
async fn what_may_be_left_out_is_unless_clearly_wanted() {
    let t = tiny(8192);
    let brew = json!({"type": "object", "properties": {
        "drink": {"type": "string", "enum": ["tea", "coffee"]},
        "decaf": {"type": "boolean"},
        "cups": {"type": "integer", "minimum": 1, "maximum": 9},
        "milk": {"type": "object", "properties": {"ml": {"type": "integer"}, "of": {"enum": ["cow", "oat"]}}},
        "with": {"type": "array", "items": {"enum": ["sugar", "lemon"]}}
    }, "required": ["drink"]});
    let choice = ToolChoice::One("brew".into());
    let request = Request { tools: [tool("brew", &brew)].into(), ..request(choice) };
    let reply = reply(&t.model, &request).await;
    assert_eq!(reply.stop, Stop::End);
    for call in reply.calls() {
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
        assert_eq!(arguments.as_object().unwrap().len(), 1, "{arguments}");
    }
    assert!(reply.calls().count() > 0);
}

#[tokio::test]
async fn ids_count_through_the_transcript_and_one_call_is_one() {
    let t = tiny(8192);
    let mut request = request(ToolChoice::One("day".into()));
    request.parallel_tool_calls = Some(false);
    for expected in ["call_1", "call_2", "call_3"] {
        let reply = reply(&t.model, &request).await;
        let calls: Vec<_> = reply.calls().cloned().collect();
        assert_eq!(calls.len(), 1);
        assert_eq!(&*calls[0].id, expected);
        request.messages.push(Message::Assistant { content: reply.content }.into());
        let content = vec![Part::Text { text: r#"{"ok":true,"result":{"n":1.10}}"#.into() }];
        let (call_id, name) = (calls[0].id.clone(), calls[0].name.clone());
        request
            .messages
            .push(Message::Tool(ToolResult { call_id, name, content, is_error: false }).into());
    }
}

#[tokio::test]
async fn no_tools_no_calls_and_a_limit_is_a_limit() {
    let t = tiny(8192);
    let mut none = request(ToolChoice::None);
    none.max_output_tokens = Some(7);
    let said = Mutex::new(String::new());
    let tell = |delta| {
        if let Delta::Text(text) = delta {
            said.lock().unwrap().push_str(&text);
        }
    };
    let reply = t.model.reply(&none, Some(&tell)).await.unwrap();
    assert_eq!(reply.calls().count(), 0);
    assert_eq!(reply.text(), *said.lock().unwrap());
    assert!(reply.usage.input_tokens > 0 && reply.usage.output_tokens <= 7, "{:?}", reply.usage);
    if reply.stop == Stop::End {
        assert!(reply.usage.output_tokens < 7);
    }
    let mut some = request(ToolChoice::One("day".into()));
    some.max_output_tokens = Some(25);
    let reply = self::reply(&t.model, &some).await;
    assert_eq!(reply.stop, Stop::Length);
    assert!(reply.stop.is_cut());
}

#[tokio::test]
async fn answers_fit_their_schema() {
    let t = tiny(8192);
    let schema = json!({"type": "object", "properties": {
        "ids": {"type": "array", "items": {"type": "string", "maxLength": 4}, "maxItems": 2},
        "total": {"type": "integer", "minimum": 0, "maximum": 9}
    }, "required": ["ids", "total"]});
    let answer = AnswerFormat {
        name: "answer".into(),
        schema: to_raw_value(&schema).unwrap().into(),
        strict: true,
    };
    let request = Request { tools: [].into(), answer: Some(answer), ..request(ToolChoice::Auto) };
    let reply = reply(&t.model, &request).await;
    let value: Value = serde_json::from_str(&reply.text()).unwrap();
    assert!(value["ids"].as_array().unwrap().len() <= 2);
    assert!((0..=9).contains(&value["total"].as_i64().unwrap()));
    assert_eq!(reply.content.len(), 1);
    assert!(matches!(reply.content[0], AssistantPart::Text { .. }));
}

#[tokio::test]
async fn a_prompt_beyond_the_context_is_named_as_such() {
    let t = tiny(512);
    let error = t.model.reply(&request(ToolChoice::Some), None).await.unwrap_err();
    assert_eq!(error.kind, ProviderErrorKind::ContextLength);
    assert!(!error.is_retryable());
}

#[tokio::test]
async fn what_was_read_is_not_read_again_and_changes_nothing() {
    let t = tiny(8192);
    let request = request(ToolChoice::Some);
    let cold = reply(&t.model, &request).await;
    assert_eq!(cold.usage.cached_tokens, 0);
    let warm = reply(&t.model, &request).await;
    assert!(warm.usage.cached_tokens > warm.usage.input_tokens / 2, "{:?}", warm.usage);
    assert_eq!(warm.content, cold.content);

    // Another process, by way of the disk.
    let (path, prefixes) = (t.folder.path().join("tiny.gguf"), t.folder.path().join("prefixes"));
    let first = open(&path, 8192, Some(prefixes.clone()));
    assert_eq!(reply(&first, &request).await.content, cold.content);
    assert_eq!(
        fs::read_dir(&prefixes).unwrap().count(),
        1,
        "the tools: so small a model is shown no examples"
    );
    let second = open(&path, 8192, Some(prefixes));
    let stored = reply(&second, &request).await;
    assert_eq!(stored.content, cold.content);
    assert!(stored.usage.cached_tokens > stored.usage.input_tokens / 2, "{:?}", stored.usage);
}

/// Where every token's first number is positive, the one whose own is largest is always the likeliest.
fn closes_at_once(name: &str, numbers: &mut [f32]) {
    const CLOSE: usize = 256;
    if name == "token_embd.weight" {
        for (token, row) in numbers.chunks_mut(testing::WIDTH as usize).enumerate() {
            row[0] = if token == CLOSE { 50.0 } else { 5.0 };
        }
    }
}

#[tokio::test]
async fn a_turn_is_not_closed_before_anything_was_said() {
    let t = changed(8192, closes_at_once);
    for (model, choice) in [
        (t.model.decoding(Decoding::Free), ToolChoice::Auto),
        (t.model.decoding(Decoding::Grammar), ToolChoice::None),
    ] {
        let reply = reply(&model, &request(choice)).await;
        assert_eq!(reply.stop, Stop::End);
        assert_eq!(reply.usage.output_tokens, 1, "and then at once");
        assert_eq!(reply.text().chars().count(), 1);
    }
}

#[tokio::test]
async fn freely_the_same_model_writes_what_it_will() {
    let t = tiny(8192);
    let free = t.model.decoding(Decoding::Free);
    assert_eq!(free.id(), t.model.id());
    let mut request = request(ToolChoice::Some);
    request.max_output_tokens = Some(40);
    let heard = Mutex::new(String::new());
    let hear = |delta| {
        if let Delta::Text(text) = delta {
            heard.lock().unwrap().push_str(&text);
        }
    };
    let reply = free.reply(&request, Some(&hear)).await.unwrap();
    // Random numbers write no call: all of it is text, and told as such.
    assert_eq!(reply.calls().count(), 0);
    assert!(!reply.text().is_empty());
    assert_eq!(reply.text(), *heard.lock().unwrap());
    let decoded = self::reply(&t.model, &request).await;
    assert!(decoded.calls().count() > 0);
    assert!(decoded.usage.cached_tokens > decoded.usage.input_tokens / 2, "the prompt is shared");
}

#[tokio::test]
async fn a_dropped_reply_frees_the_line() {
    let t = tiny(8192);
    let mut long = request(ToolChoice::None);
    long.max_output_tokens = Some(5000);
    let short = request(ToolChoice::Some);
    let alone = reply(&t.model, &short).await;
    let dropped = t.model.reply(&long, None);
    let stop = tokio::time::timeout(std::time::Duration::from_millis(20), dropped).await;
    assert!(stop.is_err() || stop.is_ok_and(|reply| reply.is_ok()));
    assert_eq!(reply(&t.model, &short).await.content, alone.content);
}

#[tokio::test]
async fn several_requests_at_once_wait_for_each_other() {
    let t = tiny(8192);
    let request = request(ToolChoice::Some);
    let alone = reply(&t.model, &request).await;
    let (one, two, three) = tokio::join!(
        reply(&t.model, &request),
        reply(&t.model, &request),
        reply(&t.model, &request),
    );
    for other in [one, two, three] {
        assert_eq!(other.content, alone.content);
    }
}
