//! The neutral requests.

use std::sync::Arc;

use callgate_wire::{
    AnswerFormat, AssistantPart, Message, Opaque, Part, Request, ToolCall, ToolChoice,
    ToolDefinition, ToolResult,
};
use serde_json::value::RawValue;

pub(crate) fn raw(json: &str) -> Arc<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap().into()
}

pub(crate) fn tool(name: &str, parameters: &str) -> ToolDefinition {
    ToolDefinition {
        name: name.into(),
        description: Some("Does it.".into()),
        parameters: raw(parameters),
        strict: None,
        ..ToolDefinition::default()
    }
}

const NOTHING: &str = r#"{"type":"object","properties":{},"additionalProperties":false}"#;
const CUSTOMER: &str = r#"{"type":"object","properties":{"id":{"type":"integer"},"rate":{"type":"number","minimum":1.10}},"required":["id"]}"#;

/// The tools of the recorded replies.
pub(crate) fn tools() -> Arc<[ToolDefinition]> {
    [tool("crm.get_customer", CUSTOMER), tool("now", NOTHING)].into()
}

fn simple(names: &[&str]) -> Arc<[ToolDefinition]> {
    names.iter().map(|name| tool(name, NOTHING)).collect()
}

pub(crate) fn text(text: &str) -> Part {
    Part::Text { text: text.into() }
}

fn image(data: &str) -> Part {
    Part::Image { media_type: "image/png".into(), data: data.into() }
}

fn said(text: &str) -> AssistantPart {
    AssistantPart::Text { text: text.into() }
}

fn call(id: &str, name: &str, arguments: &str) -> AssistantPart {
    let (id, name, arguments) = (id.into(), name.into(), arguments.into());
    AssistantPart::Call(ToolCall { id, name, arguments, opaque: None })
}

fn assistant(content: Vec<AssistantPart>) -> Arc<Message> {
    Message::Assistant { content }.into()
}

pub(crate) fn result(call_id: &str, name: &str, content: Vec<Part>) -> Arc<Message> {
    outcome(call_id, name, content, false)
}

fn outcome(call_id: &str, name: &str, content: Vec<Part>, is_error: bool) -> Arc<Message> {
    let (call_id, name) = (call_id.into(), name.into());
    Message::Tool(ToolResult { call_id, name, content, is_error }).into()
}

pub(crate) fn user(text: &str) -> Arc<Message> {
    Message::user(text).into()
}

fn asking(messages: Vec<Arc<Message>>) -> Request {
    Request { messages, tools: tools(), ..Request::default() }
}

fn choosing(tool_choice: ToolChoice) -> Request {
    let messages = vec![user("Go")];
    Request { tools: simple(&["a", "b.c", "d"]), tool_choice, messages, ..Request::default() }
}

fn subset(required: bool) -> Request {
    choosing(ToolChoice::Subset { names: vec!["a".into(), "b.c".into()], required })
}

fn answering(strict: bool) -> Request {
    let schema = raw(
        r#"{"type":"object","properties":{"total":{"type":"number"}},"required":["total"],"additionalProperties":false}"#,
    );
    let answer = Some(AnswerFormat { name: "answer".into(), schema, strict });
    let instructions = Some("Be brief.".into());
    Request { answer, instructions, messages: vec![user("Sum it up.")], ..Request::default() }
}

/// What a tool loop looks like on its second hop: two calls, two results.
fn second_hop() -> Vec<Arc<Message>> {
    vec![
        user("Who is it, and when?"),
        assistant(vec![
            said("Let me look."),
            call("call_1", "crm.get_customer", r#"{"id":1234567890123456789,"rate":1.10}"#),
            call("call_2", "now", ""),
        ]),
        result("call_2", "now", vec![text("12:00")]),
        result("call_1", "crm.get_customer", vec![text(r#"{"name":"Zoë","debt":1.10}"#)]),
    ]
}

fn opaque(provider: &str, json: &str) -> Opaque {
    Opaque { provider: provider.into(), json: json.into(), model: Some("another-model".into()) }
}

/// All of them, by name.
pub(crate) fn all() -> Vec<(&'static str, Request)> {
    let strict =
        tools().iter().map(|tool| ToolDefinition { strict: Some(true), ..tool.clone() }).collect();
    let many: Vec<_> = (0..130).map(|n| format!("tool_{n}")).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    let long = "a-very-long-server-name-for-testing.export_quarterly_revenue_report_as_pdf_v1";
    vec![
        (
            "plain",
            Request {
                instructions: Some("Be brief.".into()),
                max_output_tokens: Some(100),
                temperature: Some(0.5),
                messages: vec![
                    user("Hi"),
                    assistant(vec![said("Hello \"you\"\n")]),
                    Message::User { content: vec![text("What is"), text("this?"), image("iVBO")] }.into(),
                ],
                ..Request::default()
            },
        ),
        ("parallel_results", asking(second_hop())),
        (
            "error_result",
            asking(vec![
                user("Go"),
                assistant(vec![call("c1", "now", "{}")]),
                outcome("c1", "now", vec![text(r#"{"ok":false,"error":{"kind":"timeout"}}"#)], true),
            ]),
        ),
        (
            "images_in_a_result",
            asking(vec![
                user("Go"),
                assistant(vec![call("c1", "now", "{}"), call("c2", "now", "{}"), call("c3", "now", "{}")]),
                result("c1", "now", vec![text("A chart."), image("AAAA"), image("BBBB")]),
                outcome("c2", "now", vec![text("It failed."), image("CCCC")], true),
                result("c3", "now", vec![image("DDDD")]),
                user("And?"),
            ]),
        ),
        ("forced_one", choosing(ToolChoice::One("b.c".into()))),
        ("forced_some", choosing(ToolChoice::Some)),
        ("forced_none", choosing(ToolChoice::None)),
        ("subset_required", subset(true)),
        ("subset_optional", subset(false)),
        (
            "subset_of_nothing",
            choosing(ToolChoice::Subset { names: Vec::new(), required: true }),
        ),
        ("one_call_only", Request { parallel_tool_calls: Some(false), ..choosing(ToolChoice::Auto) }),
        ("strict_tools", Request { tools: strict, ..asking(vec![user("Go")]) }),
        (
            "recursion_unions_and_open_maps",
            Request {
                tools: [
                    tool("tree", r##"{"type":"object","properties":{"child":{"$ref":"#"}}}"##),
                    tool("union", r#"{"type":"object","properties":{"at":{"anyOf":[{"type":"string"},{"type":"null"}]}}}"#),
                    tool("map", r#"{"type":"object","properties":{"labels":{"type":"object","additionalProperties":{"type":"string"}}}}"#),
                ]
                .into(),
                ..asking(vec![user("Go")])
            },
        ),
        (
            "tools_130",
            Request {
                tools: simple(&many),
                tool_choice: ToolChoice::One("tool_129".into()),
                ..asking(vec![user("Go")])
            },
        ),
        (
            "illegal_names",
            Request {
                tools: simple(&["notes.list", "notes_list", "Add note", "4c0f_run", "-x", long, "größe"]),
                messages: vec![
                    user("Go"),
                    assistant(vec![call("c1", "notes.list", "{}"), call("c2", "gone/tool", "{}")]),
                    result("c1", "notes.list", vec![text("1")]),
                    result("c2", "gone/tool", vec![text("2")]),
                ],
                ..Request::default()
            },
        ),
        (
            "examples_and_tools_that_wait",
            Request {
                tools: tools()
                    .iter()
                    .map(|tool| ToolDefinition {
                        examples: [raw(r#"{"id":1234567890123456789}"#)].into(),
                        defer: true,
                        ..tool.clone()
                    })
                    .chain(simple(&["here"]).iter().cloned())
                    .collect(),
                ..asking(vec![user("Go")])
            },
        ),
        (
            "names_of_two_servers",
            Request {
                tools: simple(&["staging.deploy", "prod.deploy", "now", "now"]),
                tool_choice: ToolChoice::One("prod.deploy".into()),
                ..asking(vec![user("Go")])
            },
        ),
        (
            "broken_arguments",
            asking(vec![
                user("Go"),
                assistant(vec![
                    call("c1", "now", r#"{"path":"a"#),
                    call("c2", "now", "[1]"),
                    call("c3", "now", r#" {"x":1.10} "#),
                ]),
                outcome("c1", "now", vec![text("arguments were cut off")], true),
                outcome("c2", "now", vec![text("not an object")], true),
                result("c3", "now", vec![text("ok")]),
                user("go on"),
            ]),
        ),
        (
            "cancelled_call",
            asking(vec![
                user("go"),
                assistant(vec![call("c1", "now", "{}"), call("c2", "now", "{}")]),
                result("c2", "now", vec![text("12:00")]),
                user("never mind"),
            ]),
        ),
        (
            "orphan_and_second_results",
            asking(vec![
                user("summary of earlier turns"),
                result("old1", "now", vec![text("data")]),
                user("next"),
                assistant(vec![call("c1", "now", "{}")]),
                result("c1", "now", vec![text("first")]),
                result("c1", "now", vec![text("second")]),
            ]),
        ),
        (
            "message_between_call_and_result",
            asking(vec![
                user("go"),
                assistant(vec![call("c1", "now", "{}")]),
                user("[summary]"),
                result("c1", "now", vec![text("real data")]),
                user("next"),
            ]),
        ),
        (
            "ids_used_again",
            asking(vec![
                user("go"),
                assistant(vec![call("t:0", "now", "{}")]),
                result("t:0", "now", vec![text("one")]),
                assistant(vec![call("t:0", "now", "{}")]),
                result("t:0", "now", vec![text("two")]),
                assistant(vec![call("d", "now", r#"{"n":1}"#), call("d", "now", r#"{"n":2}"#)]),
                result("d", "now", vec![text("three")]),
                result("d", "now", vec![text("four")]),
            ]),
        ),
        (
            "foreign_transcript",
            asking(vec![
                user("go"),
                assistant(vec![
                    AssistantPart::Reasoning {
                        text: "hm".into(),
                        opaque: Some(opaque("elsewhere", r#"{"x":1}"#)),
                    },
                    AssistantPart::Opaque(opaque("gemini", r#"{"text":"","thoughtSignature":"s"}"#)),
                    AssistantPart::Opaque(opaque("anthropic", r#"{"type":"redacted_thinking","data":"d"}"#)),
                    AssistantPart::Reasoning {
                        text: "hm".into(),
                        opaque: Some(opaque("responses", r#"{"type":"reasoning"}"#)),
                    },
                    call("functions.now:0", "now", "{}"),
                    call(&"x".repeat(70), "now", "{}"),
                ]),
                result("functions.now:0", "now", vec![text("1")]),
                result(&"x".repeat(70), "now", vec![text("2")]),
            ]),
        ),
        ("answer", answering(true)),
        ("answer_loose", answering(false)),
        ("answer_with_tools", Request { tools: tools(), ..answering(true) }),
        (
            "empty_texts",
            asking(vec![
                user(""),
                user("go"),
                assistant(vec![said("")]),
                user("  "),
                user("again"),
                assistant(vec![said(" \n"), call("c1", "now", "{}")]),
                result("c1", "now", vec![]),
                assistant(vec![said("So far ")]),
            ]),
        ),
        (
            "unicode",
            asking(vec![
                user("Zürich 😀 \u{2028}\u{0}"),
                assistant(vec![call("c1", "now", r#"{"é":"\ud83d\ude00","lone":"\ud83d"}"#)]),
                result("c1", "now", vec![text("日本語")]),
            ]),
        ),
        (
            "begins_with_the_assistant",
            asking(vec![
                assistant(vec![said("As I said:")]),
                assistant(vec![call("c1", "now", "{}")]),
                result("c1", "now", vec![text("1")]),
            ]),
        ),
        ("nothing_at_all", Request::default()),
    ]
}
