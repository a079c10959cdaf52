//! The support example, unchanged, against a server that speaks Chat Completions as servers do:
//! whole and streamed, with the oddities that people report.

use serde_json::{Value, json};

use crate::{
    binary::{Ended, callgate},
    project::Project,
    server::{Answer, Request, Server},
};

const TICKET: &str = r#"{"id": "T-1042", "subject": "Refund", "status": "pending", "priority": "high",
    "assignee": "Maria Silva", "customer": "C-003", "createdAt": "2026-03-01T10:00:00Z", "updates": []}"#;
const INVOICES: &str = r#"{"items": [{"id": "INV-2026-0014", "customer": "C-003", "date": "2026-03-03",
    "status": "paid", "currency": "EUR", "total": 1961.30, "ledgerId": 4611686018455380085}], "count": 1}"#;
const ANSWER: &str = "Maria Silva has it; INV-2026-0014 is paid: 1961.30.";
const INVOICE_ARGUMENTS: &str =
    r#"{"startDate": "2026-03-01", "endDate": "2026-03-31", "status": "paid"}"#;

/// In the support service's place.
fn service() -> Server {
    Server::start(|_, request| {
        let body = match request.line.as_str() {
            "GET /tickets/T-1042" => TICKET,
            line if line.starts_with("GET /invoices?") => INVOICES,
            _ => return Answer::status(404, &json!({ "error": "no such thing" })),
        };
        let mut answer = Answer::json(&Value::Null);
        answer.pieces = vec![body.as_bytes().to_vec()];
        answer
    })
}

/// A call of the ticket and one of the invoices, as parts of a whole reply.
fn two_calls(has_ids: bool) -> Value {
    let call = |id: &str, name: &str, arguments: &str| {
        let mut call =
            json!({ "type": "function", "function": { "name": name, "arguments": arguments } });
        if has_ids {
            call["id"] = json!(id);
        }
        call
    };
    json!([
        call("a", "get_ticket", r#"{"ticketId": "T-1042"}"#),
        call("b", "searchInvoices", INVOICE_ARGUMENTS)
    ])
}

fn whole(message: Value, finish: &str) -> Answer {
    let mut message = message;
    message["role"] = json!("assistant");
    Answer::json(&json!({
        "id": "c1", "object": "chat.completion", "model": "m",
        "choices": [{ "index": 0, "message": message, "finish_reason": finish }],
        "usage": { "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120 }
    }))
}

fn answer() -> Answer {
    whole(json!({ "content": ANSWER }), "stop")
}

fn busy() -> Answer {
    let said = json!({ "error": { "message": "Too many requests", "type": "rate_limit_error" } });
    Answer::status(429, &said).header("retry-after: 0")
}

/// Chunks of a streamed reply, as `data:` lines.
fn stream(chunks: &[Value], end: &str) -> String {
    let lines = chunks.iter().map(|chunk| format!("data: {chunk}\n\n"));
    lines.chain([end.to_owned()]).collect()
}

fn delta(delta: &Value, finish: Option<&str>) -> Value {
    json!({ "id": "c1", "object": "chat.completion.chunk",
            "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] })
}

fn call_delta(index: usize, id: Option<&str>, name: Option<&str>, arguments: &str) -> Value {
    let mut function = json!({ "arguments": arguments });
    if let Some(name) = name {
        function["name"] = json!(name);
    }
    let mut call = json!({ "index": index, "function": function });
    if let Some(id) = id {
        call["id"] = json!(id);
        call["type"] = json!("function");
    }
    delta(&json!({ "tool_calls": [call] }), None)
}

/// Both calls, their arguments in pieces.
fn in_pieces() -> Vec<Value> {
    vec![
        delta(&json!({ "role": "assistant", "content": "" }), None),
        call_delta(0, Some("a"), Some("get_ticket"), ""),
        call_delta(0, None, None, r#"{"ticketId": "#),
        call_delta(0, None, None, r#""T-1042"}"#),
        call_delta(1, Some("b"), Some("searchInvoices"), &INVOICE_ARGUMENTS[..20]),
        call_delta(1, None, None, &INVOICE_ARGUMENTS[20..]),
    ]
}

fn with(mut chunks: Vec<Value>, last: &[Value]) -> Vec<Value> {
    chunks.extend_from_slice(last);
    chunks
}

fn words() -> Vec<Value> {
    let mut chunks: Vec<Value> =
        ANSWER.split_inclusive(' ').map(|word| delta(&json!({ "content": word }), None)).collect();
    chunks.push(delta(&json!({}), Some("stop")));
    chunks
}

const DONE: &str = "data: [DONE]\n\n";

fn streamed_answer() -> Answer {
    Answer::stream(&stream(&words(), DONE))
}

/// Runs the example against a server that gives these answers.
fn support(answers: Vec<Answer>, more: &[&str]) -> (Ended, Vec<Request>, Vec<Request>) {
    let (service, model) = (service(), Server::playing(answers));
    let project = Project::support();
    let base = format!("{}/v1", model.url);
    let goal = "Who has T-1042, and what was paid in March 2026?";
    let mut arguments = vec!["run", goal, "-m", "compat:m", "--base-url", &base];
    arguments.extend(more);
    let ended = callgate(project.dir(), &arguments).env("SUPPORT_URL", &service.url).run();
    (ended, model.seen(), service.seen())
}

/// That both tools were called once and rightly, and the model read both results under the ids
/// that its calls went back with.
#[track_caller]
fn assert_right(what: &str, (ended, model, service): (Ended, Vec<Request>, Vec<Request>)) {
    assert_eq!(ended.code, 0, "{what}: {}", ended.err);
    assert_eq!(ended.out.trim_end(), ANSWER, "{what}");
    let mut asked: Vec<&str> = service.iter().map(|request| request.line.as_str()).collect();
    asked.sort_unstable();
    assert_eq!(
        asked,
        [
            "GET /invoices?startDate=2026-03-01&endDate=2026-03-31&status=paid",
            "GET /tickets/T-1042"
        ],
        "{what}"
    );
    let messages = model.last().unwrap().body["messages"].as_array().unwrap().clone();
    let [.., said, first, second] = messages.as_slice() else { panic!("{what}: {messages:?}") };
    let ids: Vec<&Value> =
        said["tool_calls"].as_array().unwrap().iter().map(|call| &call["id"]).collect();
    assert_eq!(ids.len(), 2, "{what}");
    assert!(ids[0] != ids[1] && ids.iter().all(|id| !id.as_str().unwrap().is_empty()), "{what}");
    assert_eq!([&first["tool_call_id"], &second["tool_call_id"]], [ids[0], ids[1]], "{what}");
    let read = |message: &Value| message["content"].as_str().unwrap().to_owned();
    assert!(read(first).contains("Maria Silva"), "{what}: {first}");
    // Law 7, through the whole house: digits as the service wrote them.
    assert!(read(second).contains("1961.30"), "{what}: {second}");
    assert!(read(second).contains("4611686018455380085"), "{what}: {second}");
}

#[test]
fn whole_replies() {
    for (what, answers) in [
        (
            "as documented",
            vec![
                whole(json!({ "content": null, "tool_calls": two_calls(true) }), "tool_calls"),
                answer(),
            ],
        ),
        (
            "no ids, and \"stop\" with calls",
            vec![whole(json!({ "content": "", "tool_calls": two_calls(false) }), "stop"), answer()],
        ),
        (
            "busy at first, and again in the middle",
            vec![
                busy(),
                whole(json!({ "tool_calls": two_calls(true) }), "tool_calls"),
                busy(),
                answer(),
            ],
        ),
        (
            "no usage",
            vec![
                Answer::json(&json!({ "choices": [{ "message":
                    { "role": "assistant", "tool_calls": two_calls(true) }, "finish_reason": "tool_calls" }] })),
                answer(),
            ],
        ),
    ] {
        let (ended, model, service) = support(answers, &["--no-stream"]);
        assert!(model.iter().all(|request| request.body["stream"] != json!(true)), "{what}");
        assert_right(what, (ended, model, service));
    }
}

#[test]
fn streamed_replies() {
    let finish = |reason| delta(&json!({}), Some(reason));
    let usage = json!({ "id": "c1", "choices": [],
                        "usage": { "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120 } });
    let documented = || stream(&with(in_pieces(), &[finish("tool_calls"), usage.clone()]), DONE);
    let at_one_index = [
        call_delta(0, None, Some("get_ticket"), r#"{"ticketId": "T-1042"}"#),
        call_delta(0, None, Some("searchInvoices"), INVOICE_ARGUMENTS),
        finish("stop"),
    ];
    let alive = documented().replace("data: ", ": keep-alive\n\ndata: ");
    for (what, calls) in [
        ("as documented", Answer::stream(&documented())),
        ("a few bytes at a time", Answer::stream(&documented()).in_crumbs()),
        ("CRLF line ends", Answer::stream(&documented().replace('\n', "\r\n")).in_crumbs()),
        ("comments to keep the connection", Answer::stream(&alive)),
        (
            "no [DONE], and \"stop\" with calls",
            Answer::stream(&stream(&with(in_pieces(), &[finish("stop")]), "")),
        ),
        ("no ids, and one index for all", Answer::stream(&stream(&at_one_index, DONE))),
        (
            "a whole reply where a stream was asked for",
            whole(json!({ "tool_calls": two_calls(true) }), "tool_calls"),
        ),
    ] {
        let (ended, model, service) = support(vec![calls, streamed_answer()], &[]);
        assert!(model.iter().all(|request| request.body["stream"] == json!(true)), "{what}");
        assert_right(what, (ended, model, service));
    }
    let calls = || Answer::stream(&documented());
    assert_right("busy at first", support(vec![busy(), calls(), busy(), streamed_answer()], &[]));
}

#[test]
fn what_is_shown_of_it() {
    let usage =
        json!({ "choices": [], "usage": { "prompt_tokens": 1100, "completion_tokens": 20 } });
    let calls = stream(&with(in_pieces(), &[delta(&json!({}), Some("tool_calls")), usage]), DONE);
    let (ended, ..) = support(vec![Answer::stream(&calls), streamed_answer()], &[]);
    ended.with(0).says(&[
        "support · compat:m · 5 tools",
        "hop 1 · Who has T-1042",
        "1,100 tokens in, 20 out",
        r#"→ get_ticket {"ticketId": "T-1042"}"#,
        "✓ admitted",
        "get_ticket gave in",
        "searchInvoices gave in",
        "hop 2 · 2 results",
        "answered · 2 hops · 2 calls",
    ]);
}

#[test]
fn a_stream_that_breaks_off_runs_nothing() {
    let cut = || Answer::stream(&stream(&in_pieces(), ""));
    let (ended, model, service) = support(vec![cut(), streamed_answer()], &[]);
    assert_eq!(service.len(), 0, "law 10");
    assert_eq!(ended.with(0).out.trim_end(), ANSWER);
    assert_eq!(model.len(), 2);
}

#[test]
fn by_variables() {
    let (service, model) = (service(), Server::playing(vec![streamed_answer()]));
    let project = Project::support();
    callgate(project.dir(), &["run", "Say it.", "-v", "--model", "openai/gpt-x"])
        .env("SUPPORT_URL", &service.url)
        .env("OPENAI_BASE_URL", &format!("{}/v1", model.url))
        .env("OPENAI_API_KEY", "sk-of-a-test")
        .run()
        .with(0)
        .says(&["(OPENAI_BASE_URL)", "key of OPENAI_API_KEY"]);
    let [request] = &model.seen()[..] else { panic!() };
    assert_eq!(request.line, "POST /v1/chat/completions");
    assert!(request.headers.contains("authorization: bearer sk-of-a-test"), "{}", request.headers);
    assert_eq!(request.body["model"], "gpt-x");
    let names: Vec<&Value> =
        request.body["tools"].as_array().unwrap().iter().map(|t| &t["function"]["name"]).collect();
    assert_eq!(names, ["add_note", "get_customer", "get_ticket", "get_weather", "searchInvoices"]);
}

#[test]
fn two_cities_at_once() {
    let call = |id: &str, city: &str| {
        json!({ "id": id, "type": "function", "function":
                { "name": "get_weather", "arguments": json!({ "city": city }).to_string() } })
    };
    let calls = json!({ "tool_calls": [call("a", "Oslo"), call("b", "Lisbon")] });
    let (ended, model, _) = support(vec![whole(calls, "tool_calls"), answer()], &["--no-stream"]);
    ended.with(0).says(&["get_weather#1 gave", "get_weather#2 gave"]);
    let messages = model[1].body["messages"].as_array().unwrap();
    let read: Vec<&str> = messages
        .iter()
        .filter(|m| m["role"] == "tool")
        .map(|m| m["content"].as_str().unwrap())
        .collect();
    assert!(read[0].contains("Oslo") && read[1].contains("Lisbon"), "{read:?}");
}
