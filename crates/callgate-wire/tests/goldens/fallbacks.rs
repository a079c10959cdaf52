//! What depends on the model, or on what the codec was told.

use std::fmt::Write as _;

use callgate_wire::{
    Codec, Request, ToolChoice,
    anthropic::{Anthropic, Thinking},
    chat::{Chat, Profile},
    gemini::Gemini,
    ollama::Ollama,
    responses::Responses,
};

use crate::{continuation, dialects, requests, shown};

fn named(name: &str) -> Request {
    requests::all().into_iter().find(|(known, _)| *known == name).unwrap().1
}

#[test]
fn by_model() {
    let thinking = Anthropic::new().with_thinking(Thinking::Budget(2000));
    let begun = |name: &str| {
        let dialects = dialects();
        continuation::begun_on(dialects.iter().find(|dialect| dialect.name == name).unwrap())
    };
    let one_call = Request { parallel_tool_calls: Some(false), ..named("forced_some") };
    let cases: Vec<(&str, Box<dyn Codec>, &str, Request)> = vec![
        ("forced, while thinking", Box::new(thinking), "claude-sonnet-4-5", named("forced_one")),
        (
            "forced, a model that refuses it",
            Box::new(Anthropic::new()),
            "claude-opus-5-5",
            named("forced_some"),
        ),
        (
            "a subset, a model that refuses force",
            Box::new(Anthropic::new()),
            "claude-opus-5-5",
            named("subset_required"),
        ),
        ("one forced call", Box::new(Anthropic::new()), "claude-sonnet-4-5", one_call),
        ("thinking goes on", Box::new(thinking), "claude-sonnet-4-5", begun("anthropic")),
        ("thinking cannot go on", Box::new(thinking), "claude-sonnet-4-5", begun("gemini")),
        (
            "adaptive",
            Box::new(Anthropic::new().with_thinking(Thinking::Adaptive)),
            "claude-opus-4-7",
            named("plain"),
        ),
        (
            "without marks",
            Box::new(Anthropic::new().with_cache(false)),
            "claude-sonnet-4-5",
            named("forced_none"),
        ),
        (
            "state of another model",
            Box::new(Anthropic::new()),
            "claude-haiku-4-5",
            begun("anthropic"),
        ),
        ("no reasoning", Box::new(Responses::new()), "gpt-4.1", named("plain")),
        ("state of another model", Box::new(Responses::new()), "gpt-6-sol", begun("responses")),
        (
            "an older Gemini, an answer beside tools",
            Box::new(Gemini::new()),
            "gemini-2.5-flash",
            named("answer_with_tools"),
        ),
        (
            "an older Gemini, images in a result",
            Box::new(Gemini::new()),
            "gemini-2.5-flash",
            named("images_in_a_result"),
        ),
        (
            "an old Gemini, a subset",
            Box::new(Gemini::new()),
            "gemini-2.0-flash",
            named("subset_optional"),
        ),
        (
            "an old Gemini, strict",
            Box::new(Gemini::new()),
            "gemini-2.0-flash",
            named("strict_tools"),
        ),
        ("state of another model", Box::new(Gemini::new()), "gemini-3-pro", begun("gemini")),
        (
            "a context that was set",
            Box::new(Ollama::new().with_num_ctx(8192)),
            "qwen3:8b",
            named("plain"),
        ),
        (
            "Ollama's /v1, forced",
            Box::new(Chat::new(Profile::ollama())),
            "qwen3:8b",
            named("forced_one"),
        ),
        (
            "tools without reasoning",
            Box::new(Chat::openai()),
            "gpt-5.6-terra",
            named("one_call_only"),
        ),
    ];
    let mut out = String::new();
    for (what, codec, model, request) in cases {
        let request = Request { model: model.into(), ..request };
        writeln!(out, "== {what}, {model}: {}", shown::body(&codec.encode(&request, false)))
            .unwrap();
    }
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("encode_by_model", out);
    });
}

/// Hard rule of every provider.
#[test]
fn without_tools_nothing_is_said_about_them() {
    for choice in [ToolChoice::Some, ToolChoice::None, ToolChoice::One("f".into())] {
        let request = Request {
            parallel_tool_calls: Some(false),
            tool_choice: choice,
            messages: vec![requests::user("Hi")],
            ..Request::default()
        };
        for dialect in dialects() {
            let post = dialect.codec.encode(&dialect.addressed(&request), false);
            let body = String::from_utf8(post.body.into()).unwrap();
            assert!(!body.contains("tool") && !body.contains("parallel"), "{body}");
        }
    }
}

/// What cannot be forced is said to be so, so that the run looks at the reply.
#[test]
fn what_is_not_forced_is_noted() {
    let forced = named("forced_one");
    let unforced = |codec: &dyn Codec, request: &Request| {
        codec.encode(request, false).notes.iter().any(callgate_wire::Note::is_unforced)
    };
    for dialect in dialects() {
        assert_eq!(
            unforced(&*dialect.codec, &dialect.addressed(&forced)),
            dialect.name == "ollama"
        );
        let one = dialect.addressed(&named("one_call_only"));
        let without = matches!(dialect.name, "gemini" | "ollama");
        assert_eq!(unforced(&*dialect.codec, &one), without, "{}", dialect.name);
    }
}
