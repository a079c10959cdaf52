//! What a program sees: contracts made of functions, typed answers, approvals, watching.
#![allow(clippy::unwrap_used)]

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use callgate::{
    FunctionTool, IntoTool,
    engine::{Notice, Word},
    machine::{Event, StoppedBy, event::Decision},
    prelude::*,
};
use futures_util::StreamExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Serialize, JsonSchema)]
struct Ticket {
    id: String,
    /// The number of updates brought
    updates: u32,
}

/// Looks up a support ticket.
///
/// Not for invoices.
#[tool(name = "getTicket", read_only, timeout_ms = 5000)]
async fn get_ticket(
    /// The ticket's id, such as T-1042
    #[schemars(regex(pattern = r"^T-[0-9]+$"))]
    id: String,
    /// How many updates to bring
    #[default(5)]
    updates: u32,
    #[default("all")] kind: String,
    since: Option<String>,
) -> Result<Ticket, ToolError> {
    assert_eq!((kind.as_str(), since), ("all", None));
    Ok(Ticket { id, updates })
}

/// Doubles a number; it cannot fail.
#[tool]
async fn double(n: i64) -> i64 {
    n * 2
}

#[test]
fn a_function_says_its_contract() {
    let contract = get_ticket.into_tool().contract();
    assert_eq!(contract["name"], "getTicket");
    assert_eq!(contract["description"], "Looks up a support ticket.\n\nNot for invoices.");
    assert_eq!(contract["annotations"], json!({"readOnly": true}));
    assert_eq!(contract["timeoutMs"], 5000);
    let input = &contract["input"];
    assert_eq!(input["required"], json!(["id"]));
    assert_eq!(input["additionalProperties"], false);
    assert_eq!(input["properties"]["id"]["pattern"], "^T-[0-9]+$");
    assert_eq!(input["properties"]["id"]["description"], "The ticket's id, such as T-1042");
    assert_eq!(input["properties"]["updates"]["default"], 5);
    assert_eq!(contract["output"]["properties"]["updates"]["type"], "integer");
    assert_eq!(double.into_tool().contract()["output"]["type"], "integer");
}

fn agent(script: &Value) -> callgate::AgentBuilder {
    let model = callgate::model::scripted(&script.to_string()).unwrap();
    Agent::builder().model(model)
}

#[tokio::test]
async fn arguments_default_and_results_come_back() {
    let script = json!({"replies": [
        {"calls": [{"name": "getTicket", "arguments": {"id": "T-1"}}, {"name": "double", "arguments": {"n": 21}}]},
        {"text": "done"}
    ]});
    let agent = agent(&script).tool(get_ticket).tool(double).build().unwrap();
    let (mut notices, answer) = agent.run("go").watch();
    let (outputs, answer) = tokio::join!(
        async {
            let mut outputs = Vec::new();
            while let Some(notice) = notices.next().await {
                if let Notice::Record(record) = notice
                    && let Event::CallFinished(finished) = &record.event
                {
                    outputs.push(finished.output.clone().unwrap().structured.unwrap());
                }
            }
            outputs
        },
        answer
    );
    assert_eq!(answer.unwrap().text(), "done");
    assert_eq!(
        outputs.iter().map(|o| &**o).collect::<Vec<_>>(),
        [r#"{"id":"T-1","updates":5}"#, "42"]
    );
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
struct Verdict {
    ticket: String,
    open: bool,
}

#[tokio::test]
async fn answers_have_the_type_asked_for() {
    let script = json!({"replies": [
        {"text": "{\"ticket\": \"T-1\", \"open\": \"perhaps\"}"},
        {"text": "```json\n{\"ticket\": \"T-1\", \"open\": true}\n```"}
    ]});
    let agent = agent(&script).build().unwrap();
    let verdict = agent.run("Is T-1 open?").answer::<Verdict>().await.unwrap();
    assert_eq!(verdict, Verdict { ticket: "T-1".to_owned(), open: true });
}

#[tokio::test]
async fn an_answer_that_never_fits_ends_in_a_typed_error() {
    let script = json!({"replies": [{"text": "no idea"}], "repeatLast": true});
    let agent = agent(&script).build().unwrap();
    let error = agent.run("Is T-1 open?").answer::<Verdict>().await.unwrap_err();
    let Error::Unanswered(finish) = &error else { panic!("{error}") };
    assert_eq!(finish.stopped_by, Some(StoppedBy::SchemaFail));
    assert_eq!(finish.hops, 4, "one reply and three re-asks");
}

/// Deletes a ticket for good.
#[tool(destructive)]
async fn delete_ticket(id: String) -> Result<String, ToolError> {
    Ok(format!("{id} deleted"))
}

#[tokio::test]
async fn a_person_edits_and_the_gates_judge_the_edit() {
    let script = json!({"replies": [
        {"calls": [{"name": "delete_ticket", "arguments": {"id": "T-1"}}]},
        {"text": "done"}
    ]});
    let asked = Arc::new(AtomicU32::new(0));
    let counter = asked.clone();
    let agent = agent(&script)
        .tool(delete_ticket)
        .on_approval(move |question| {
            let n = counter.fetch_add(1, Ordering::SeqCst);
            async move {
                let arguments: Value = serde_json::from_str(&question.arguments).unwrap();
                let decision = match n {
                    // Once to other arguments: judged, admitted, and asked again.
                    0 => Decision::Edit { arguments: r#"{"id": "T-2"}"#.into() },
                    _ => {
                        assert_eq!(arguments, json!({"id": "T-2"}));
                        Decision::Approve
                    }
                };
                Word { decision, by: Some("Ana".into()) }
            }
        })
        .build()
        .unwrap();
    let answer = agent.run("Delete T-1").await.unwrap();
    assert_eq!(answer.finish().calls, 1);
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn nobody_asked_means_no() {
    let script = json!({"replies": [
        {"calls": [{"name": "delete_ticket", "arguments": {"id": "T-1"}}]},
        {"text": "It was not permitted."}
    ]});
    let agent = agent(&script).tool(delete_ticket).build().unwrap();
    assert_eq!(agent.run("Delete T-1").await.unwrap().finish().calls, 0);
}

#[test]
fn mistakes_are_told_together() {
    let twice =
        || FunctionTool::new::<Value, Value, ToolError, _, _>("t", "x", |v| async { Ok(v) });
    let broken = twice().with("input", json!({"type": "object", "requried": ["a"]}));
    let error = agent(&json!({"replies": []}))
        .tool(double)
        .tool(double)
        .tool(broken)
        .build()
        .unwrap_err()
        .to_string();
    assert!(error.contains("the name \"double\" is taken"), "{error}");
    assert!(
        error.contains("unknown keyword \"requried\"") && error.contains("required"),
        "{error}"
    );
    assert!(matches!(Agent::builder().build(), Err(Error::NoModel)));
}

#[tokio::test]
async fn another_model_stands_in_at_an_outage_and_the_transcript_goes_with_it() {
    let down =
        json!({"error": {"kind": "unavailable", "message": "overloaded", "retry": "backoff"}});
    let first = json!({"replies": [
        {"calls": [{"name": "double", "arguments": {"n": 4}}]}, down
    ]});
    let second = callgate::model::scripted(r#"{"replies": [{"text": "It is 8."}]}"#).unwrap();
    let agent = agent(&first).fallback(second).tool(double).build().unwrap();
    let replies = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = replies.clone();
    let answer = agent
        .run("Double 4")
        .on_notice(move |notice| {
            if let Notice::Record(record) = notice
                && let Event::ModelReplied { by, passed_over, .. } = &record.event
            {
                seen.lock().unwrap().push((by.is_some(), passed_over.len()));
            }
        })
        .await
        .unwrap();
    assert_eq!(answer.text(), "It is 8.");
    assert_eq!(*replies.lock().unwrap(), [(false, 0), (true, 1)]);
}

#[tokio::test]
async fn a_refused_key_is_no_outage() {
    let denied = json!({"replies": [
        {"error": {"kind": "auth", "message": "wrong key", "retry": "never"}}
    ]});
    let second = callgate::model::scripted(r#"{"replies": [{"text": "never asked"}]}"#).unwrap();
    let agent = agent(&denied).fallback(second).build().unwrap();
    let error = agent.run("Hello").await.unwrap_err();
    assert!(error.to_string().contains("wrong key"), "{error}");
}

#[tokio::test]
async fn a_choice_among_the_tools_is_held_by_the_gate() {
    let script = json!({"replies": [
        {"calls": [{"name": "double", "arguments": {"n": 1}}]},
        {"calls": [{"name": "getTicket", "arguments": {"id": "T-1"}}]},
        {"text": "done"}
    ]});
    let choice = json!({"name": "a", "toolChoice": {"one": "getTicket"}});
    let spec = callgate::machine::Agent::read("agent.json", &choice.to_string()).unwrap();
    let model = callgate::model::scripted(&script.to_string()).unwrap();
    let agent =
        Agent::builder().spec(spec).model(model).tool(get_ticket).tool(double).build().unwrap();
    // The refused call leaves the opening's choice behind: afterwards the model is free.
    let finish = agent.run("T-1?").finish().await.unwrap();
    assert_eq!((finish.calls, finish.text.as_deref()), (1, Some("done")));
}

#[tokio::test]
async fn an_answer_schema_that_is_none_ends_the_run_before_anything_is_sent() {
    let agent = agent(&json!({"replies": [{"text": "never asked"}]})).build().unwrap();
    let engine = agent.engine();
    let mut start = engine.start("go", Value::Null);
    let schema = json!({"type": "nonsense"});
    start.answer = Some(callgate::machine::event::AnswerSchema { schema, tool: None });
    let finish =
        engine.session(None, Default::default()).start(start).await.unwrap().finished().unwrap();
    assert_eq!((finish.stopped_by, finish.hops), (Some(StoppedBy::SchemaFail), 0));
    let fault = finish.fault.unwrap();
    assert!(fault.message.contains("nonsense") && fault.message.contains("/type"), "{fault:?}");
}
