//! Assembly, beyond the reported cases.

use super::sketch;
use crate::{Delta, ProviderErrorKind, Retry, chat::assemble};

/// Streams of servers as they are, for the test of every cut.
pub(super) const RECORDED: &[(&str, &str)] = &[
    (
        "openai, with text, parallel calls, usage and multi-byte characters",
        concat!(
            "data: {\"id\":\"chatcmpl-1\",\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null},\"finish_reason\":null}],\"usage\":null,\"obfuscation\":\"q8\"}\r\n\r\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Zürich 😀: \"},\"finish_reason\":null}]}\r\n\r\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\\u00fc\\ud83d\\ude00\"},\"finish_reason\":null}]}\r\n\r\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"call_1\",\"type\":\"function\",\"function\":{\"name\":\"get_weather\",\"arguments\":\"\"}}]},\"finish_reason\":null}]}\r\n\r\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"city\\\":\\\"Zü\"}}]},\"finish_reason\":null}]}\r\n\r\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"rich\\\"}\"}},{\"index\":1,\"id\":\"call_2\",\"type\":\"function\",\"function\":{\"name\":\"get_time\",\"arguments\":\"{}\"}}]},\"finish_reason\":null}]}\r\n\r\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\r\n\r\n",
            "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":50,\"completion_tokens\":20,\"total_tokens\":70,\"prompt_tokens_details\":{\"cached_tokens\":32},\"completion_tokens_details\":{\"reasoning_tokens\":5}}}\r\n\r\n",
            "data: [DONE]\r\n\r\n",
        ),
    ),
    (
        "openrouter, with comments and reasoning under three names",
        concat!(
            ": OPENROUTER PROCESSING\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\",\"reasoning\":\"hm\",\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"hm\"}]}}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\",\"reasoning\":\"m\",\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"m\",\"signature\":\"s\"}]}}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Yes.\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}\n\n",
        ),
    ),
    (
        "data over several lines, closed by the end of the stream",
        "\u{feff}data: {\"choices\":[\rdata: {\"delta\":{\"content\":\"a\"},\rdata: \"finish_reason\":\"stop\"}]}",
    ),
    (
        "reasoning left in the text",
        "data: {\"choices\":[{\"delta\":{\"content\":\"<thi\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"nk>hm</think>\\n\\na\"},\"finish_reason\":\"stop\"}]}\n\n",
    ),
    (
        "an event that breaks off",
        "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"st",
    ),
    (
        "garbage",
        "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: <html>\n\ndata: [DONE]\n\n",
    ),
];

fn stream(deltas: &[&str], finish: &str) -> String {
    let mut out = String::new();
    for delta in deltas {
        out += &format!("data: {{\"choices\":[{{\"delta\":{delta}}}]}}\n\n");
    }
    out + &format!("data: {{\"choices\":[{{\"delta\":{{}},\"finish_reason\":\"{finish}\"}}]}}\n\n")
}

/// Each fragment is one chunk's `tool_calls` entries.
fn calls(fragments: &[&str]) -> Vec<String> {
    let deltas: Vec<_> =
        fragments.iter().map(|calls| format!("{{\"tool_calls\":[{calls}]}}")).collect();
    let deltas: Vec<_> = deltas.iter().map(String::as_str).collect();
    sketch(&assemble([stream(&deltas, "tool_calls").as_bytes()], None).unwrap())
}

#[test]
fn one_rule_for_all_servers() {
    type Row<'a> = (&'a str, &'a [&'a str], &'a [&'a str]);
    let rows: &[Row<'_>] = &[
        (
            "a name in pieces, before arguments begin",
            &[
                r#"{"index":0,"id":"a","function":{"name":"get_","arguments":""}}"#,
                r#"{"index":0,"function":{"name":"weather"}}"#,
                r#"{"index":0,"function":{"arguments":"{}"}}"#,
            ],
            &["a get_weather({})"],
        ),
        (
            "a name that grows",
            &[
                r#"{"index":0,"id":"a","function":{"name":"get_"}}"#,
                r#"{"index":0,"id":"a","function":{"name":"get_weather","arguments":"{}"}}"#,
            ],
            &["a get_weather({})"],
        ),
        (
            "no index, no id, whole calls",
            &[
                r#"{"function":{"name":"f","arguments":"{\"x\":1}"}}"#,
                r#"{"function":{"name":"f","arguments":"{\"x\":2}"}}"#,
            ],
            &[r#"call_0 f({"x":1})"#, r#"call_1 f({"x":2})"#],
        ),
        (
            "no index, no id, fragments",
            &[
                r#"{"function":{"name":"f","arguments":"{\"x\""}}"#,
                r#"{"function":{"arguments":":1}"}}"#,
                r#"{"function":{"name":"g","arguments":"{}"}}"#,
            ],
            &[r#"call_0 f({"x":1})"#, "call_1 g({})"],
        ),
        (
            "no index, an id on each fragment, interleaved",
            &[
                r#"{"id":"a","function":{"name":"f","arguments":"{\"x\""}}"#,
                r#"{"id":"b","function":{"name":"f","arguments":"{\"y\""}}"#,
                r#"{"id":"a","function":{"arguments":":1}"}}"#,
                r#"{"id":"b","function":{"arguments":":2}"}}"#,
            ],
            &[r#"a f({"x":1})"#, r#"b f({"y":2})"#],
        ),
        (
            "index 0 for every whole call (old Ollama), the same tool twice",
            &[
                r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}},{"index":0,"id":"b","function":{"name":"f","arguments":"{\"x\":2}"}}"#,
            ],
            &[r#"a f({"x":1})"#, r#"b f({"x":2})"#],
        ),
        (
            "the same without ids",
            &[
                r#"{"index":0,"function":{"name":"f","arguments":"{\"x\":1}"}}"#,
                r#"{"index":0,"function":{"name":"f","arguments":"{\"x\":2}"}}"#,
                r#"{"index":0,"function":{"name":"g","arguments":"{}"}}"#,
            ],
            &[r#"call_0 f({"x":1})"#, r#"call_1 f({"x":2})"#, "call_2 g({})"],
        ),
        (
            "two calls without arguments at one index",
            &[
                r#"{"index":0,"id":"a","function":{"name":"f","arguments":""}}"#,
                r#"{"index":0,"id":"b","function":{"name":"f","arguments":""}}"#,
            ],
            &["a f()", "b f()"],
        ),
        (
            "an id renewed with each chunk",
            &[
                r#"{"index":0,"id":"a1","function":{"name":"f","arguments":""}}"#,
                r#"{"index":0,"id":"a2","function":{"arguments":"{\"x\""}}"#,
                r#"{"index":0,"id":"a3","function":{"arguments":":1}"}}"#,
            ],
            &[r#"a1 f({"x":1})"#],
        ),
        (
            "an id renewed and the name repeated with each chunk",
            &[
                r#"{"index":0,"id":"a1","function":{"name":"f","arguments":"{\"x\""}}"#,
                r#"{"index":0,"id":"a2","function":{"name":"f","arguments":":1}"}}"#,
            ],
            &[r#"a1 f({"x":1})"#],
        ),
        (
            "an index that counts chunks",
            &[
                r#"{"index":1,"id":"a","function":{"name":"f","arguments":"{\"x\""}}"#,
                r#"{"index":2,"function":{"arguments":":{"}}"#,
                r#"{"index":3,"function":{"arguments":"}}"}}"#,
            ],
            &[r#"a f({"x":{}})"#],
        ),
        (
            "one id for two calls",
            &[
                r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}"#,
                r#"{"index":1,"id":"a","function":{"name":"f","arguments":"{\"x\":2}"}}"#,
            ],
            &[r#"a f({"x":1})"#, r#"call_0 f({"x":2})"#],
        ),
        (
            "ids that are numbers, null and \"null\"",
            &[
                r#"{"index":0,"id":7,"function":{"name":"f","arguments":"{}"}}"#,
                r#"{"index":1,"id":null,"function":{"name":"f","arguments":"{}"}}"#,
                r#"{"index":"2","id":"null","function":{"name":"f","arguments":"{}"}}"#,
            ],
            &["7 f({})", "call_0 f({})", "call_1 f({})"],
        ),
        (
            "an id that comes late",
            &[
                r#"{"index":0,"function":{"name":"f","arguments":"{"}}"#,
                r#"{"index":0,"id":"a","function":{"arguments":"}"}}"#,
            ],
            &["a f({})"],
        ),
        (
            "a placeholder before the real arguments",
            &[
                r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#,
                r#"{"index":0,"function":{"arguments":"{\"x\""}}"#,
                r#"{"index":0,"function":{"arguments":":1}"}}"#,
            ],
            &[r#"a f({"x":1})"#],
        ),
        (
            "a placeholder, with the name repeated",
            &[
                r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#,
                r#"{"index":0,"function":{"name":"f","arguments":"{\"x\":1}"}}"#,
            ],
            &[r#"a f({"x":1})"#],
        ),
        (
            "all once more at the end",
            &[
                r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}"#,
                r#"{"index":0,"function":{"arguments":":1}"}}"#,
                r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}"#,
            ],
            &[r#"a f({"x":1})"#],
        ),
        (
            "a legal increment that looks like a resend",
            &[
                r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"a\":"}}"#,
                r#"{"index":0,"function":{"arguments":"{\"a\":1}}"}}"#,
            ],
            &[r#"a f({"a":{"a":1}})"#],
        ),
        (
            "arguments null and absent; entries null and empty",
            &[
                r#"null,{},{"index":0,"id":"a","type":null,"function":{"name":"f","arguments":null}}"#,
                r#"{"index":0}"#,
            ],
            &["a f()"],
        ),
        (
            "broken and doubly encoded arguments stay as they came",
            &[
                r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{'x': True}"}}"#,
                r#"{"index":1,"id":"b","function":{"name":"f","arguments":"\"{\\\"x\\\":1}\""}}"#,
                r#"{"index":2,"id":"c","function":{"name":"f","arguments":[1.10]}}"#,
            ],
            &["a f({'x': True})", r#"b f("{\"x\":1}")"#, "c f([1.10])"],
        ),
        (
            "Google's signature",
            &[
                r#"{"index":0,"id":"a","extra_content":{"google":{"thought_signature":"s"}},"function":{"name":"f","arguments":"{}"}}"#,
            ],
            &[r#"a f({}) {"google":{"thought_signature":"s"}}"#],
        ),
    ];
    for (what, fragments, expected) in rows {
        assert_eq!(calls(fragments), *expected, "{what}");
    }
}

#[test]
fn legacy_function_call() {
    let legacy = [
        r#"{"function_call":{"name":"f"}}"#,
        r#"{"function_call":{"arguments":"{\"x\""}}"#,
        r#"{"function_call":{"arguments":":1}"}}"#,
    ];
    let reply = assemble([stream(&legacy, "function_call").as_bytes()], None).unwrap();
    assert_eq!(sketch(&reply), [r#"call_0 f({"x":1})"#]);

    let both = [
        r#"{"function_call":{"name":"f","arguments":"{}"},"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}"#,
    ];
    let reply = assemble([stream(&both, "tool_calls").as_bytes()], None).unwrap();
    assert_eq!(sketch(&reply), ["a f({})"]);
}

#[test]
fn text_reasoning_and_usage() {
    let expected: &[&[&str]] = &[
        &["text Zürich 😀: ü😀", r#"call_1 get_weather({"city":"Zürich"})"#, "call_2 get_time({})"],
        &[
            r#"reasoning hmm [{"type":"reasoning.text","text":"hm"},{"type":"reasoning.text","text":"m","signature":"s"}]"#,
            "text Yes.",
        ],
        &["text a"],
        &["reasoning hm", "text a"],
    ];
    for ((what, stream), expected) in RECORDED.iter().zip(expected) {
        assert_eq!(sketch(&assemble([stream.as_bytes()], None).unwrap()), *expected, "{what}");
    }
    let reply = assemble([RECORDED[0].1.as_bytes()], None).unwrap();
    assert_eq!(reply.model.as_deref(), Some("gpt-x"));
    let usage = reply.usage;
    assert_eq!(
        (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.reasoning_tokens),
        (50, 20, 32, 5),
    );
}

#[test]
fn deltas_come_as_soon_as_they_are_sure() {
    use crate::{Codec, chat::Chat};
    let mut decoder = Chat::openai().stream(&crate::Request::default());
    let mut out = Vec::new();
    let mut push = |stream: &str| {
        decoder.push(stream.as_bytes(), &mut out);
        (std::mem::take(&mut out), decoder.is_ending(), decoder.is_done())
    };
    let call = |index, name: &str| Delta::Call { index, name: name.into() };
    let chunk = |delta: &str| format!("data: {{\"choices\":[{{\"delta\":{delta}}}]}}\n\n");
    assert_eq!(push(&chunk(r#"{"content":"a"}"#)), (vec![Delta::Text("a".into())], false, false));
    assert_eq!(
        push(&chunk(
            r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]}"#
        )),
        (vec![], false, false)
    );
    assert_eq!(
        push(&chunk(r#"{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}"#)),
        (vec![call(0, "f")], false, false)
    );
    assert_eq!(
        push("data: {\"choices\":[{\"finish_reason\":\"tool_calls\"}]}\n\n"),
        (vec![], true, false)
    );
    assert_eq!(push("data: [DONE]\n\n"), (vec![], true, true));
}

#[test]
fn ends() {
    let text = [r#"{"content":"a"}"#];
    let stop = |finish: &str| assemble([stream(&text, finish).as_bytes()], None);
    for (finish, lines) in [
        ("stop", &["text a"][..]),
        ("eos", &["text a"]),
        ("tool_calls", &["text a"]),
        ("length", &["text a", "Length"]),
        ("model_length", &["text a", "Length"]),
        ("MAX_TOKENS", &["text a", "Length"]),
        ("content_filter", &["text a", "Refusal"]),
        ("abort", &["text a", "Incomplete"]),
    ] {
        assert_eq!(sketch(&stop(finish).unwrap()), lines, "{finish}");
    }
    for (finish, kind) in [
        ("error", ProviderErrorKind::Unavailable),
        ("insufficient_system_resource", ProviderErrorKind::Unavailable),
        ("malformed_function_call", ProviderErrorKind::MalformedCall),
        // `""` means that it has not ended yet.
        ("", ProviderErrorKind::StreamIncomplete),
    ] {
        let error = stop(finish).unwrap_err();
        assert_eq!((error.kind, error.retry), (kind, Retry::Backoff), "{finish}");
    }
    // The end marker alone is an end as well; fragments after the finish reason count.
    let done = assemble(
        [b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]".as_slice()],
        None,
    );
    assert_eq!(sketch(&done.unwrap()), ["text a"]);
    let late = stream(&[], "tool_calls")
        + &stream(
            &[r#"{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}"#],
            "tool_calls",
        );
    assert_eq!(sketch(&assemble([late.as_bytes()], None).unwrap()), ["a f({})"]);
}

#[test]
fn refusal_and_whole_message() {
    let refused = [r#"{"refusal":"I can"}"#, r#"{"refusal":"not."}"#];
    let reply = assemble([stream(&refused, "stop").as_bytes()], None).unwrap();
    assert_eq!(sketch(&reply), ["text I cannot.", "Refusal"]);

    let whole =
        "data: {\"choices\":[{\"message\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n";
    assert_eq!(sketch(&assemble([whole.as_bytes()], None).unwrap()), ["text a"]);
    let repeated = stream(&[r#"{"content":"a"}"#], "") + whole;
    assert_eq!(sketch(&assemble([repeated.as_bytes()], None).unwrap()), ["text a"]);
}

#[test]
fn a_cap_hides_no_cut() {
    let usage = |tokens: u32| {
        format!("data: {{\"choices\":[],\"usage\":{{\"completion_tokens\":{tokens}}}}}\n\n")
    };
    let call = |arguments: &str| {
        format!(
            r#"{{"tool_calls":[{{"id":"a","function":{{"name":"f","arguments":{arguments:?}}}}}]}}"#
        )
    };
    for (arguments, tokens, cut) in [
        (r#"{"x":"#, 300, true),
        (r#"{"x":"#, 299, false),
        ("", 300, true),
        (r#"{"x":1}"#, 300, false),
    ] {
        let stream = stream(&[&call(arguments)], "tool_calls") + &usage(tokens);
        let reply = assemble([stream.as_bytes()], Some(300)).unwrap();
        assert_eq!(reply.stop.is_cut(), cut, "{arguments} {tokens}");
    }
}

#[test]
fn failures() {
    for (stream, kind, retry) in [
        ("", ProviderErrorKind::StreamIncomplete, Retry::Backoff),
        (": ping\n\n", ProviderErrorKind::StreamIncomplete, Retry::Backoff),
        (RECORDED[4].1, ProviderErrorKind::StreamIncomplete, Retry::Backoff),
        (RECORDED[5].1, ProviderErrorKind::BadReply, Retry::Never),
        (
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow\"}}\n\n",
            ProviderErrorKind::RateLimit,
            Retry::Backoff,
        ),
        (
            "data: {\"error\":{\"code\":\"502\",\"message\":\"up\"},\"choices\":[{\"delta\":{},\"finish_reason\":\"error\"}]}\n\n",
            ProviderErrorKind::Unavailable,
            Retry::Backoff,
        ),
    ] {
        let error = assemble([stream.as_bytes()], None).unwrap_err();
        assert_eq!((error.kind, error.retry), (kind, retry), "{stream}");
    }
}

/// The gate tells the model which names there are.
#[test]
fn no_name_at_the_end_is_a_call_without_one() {
    let stream = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"a\",\"function\":{\"arguments\":\"{}\"}}]},\"finish_reason\":\"stop\"}]}\n\n";
    let reply = assemble([stream.as_bytes()], None).unwrap();
    let calls: Vec<_> = reply.calls().map(|call| (&*call.name, &*call.arguments)).collect();
    assert_eq!(calls, [("", "{}")]);
}
