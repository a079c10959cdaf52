//! Calls of tier `approve`: asked about by elicitation, live or in rounds, and refused where nobody
//! can be asked.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use callgate_engine::{ApproveAll, DenyAll};
use callgate_server::mcp::{Approvals, McpOptions};
use serde_json::{Value, json};

use crate::{
    client::{Client, Era, Over, Reply, WAYS},
    shop::Shop,
};

fn asking() -> Value {
    json!({ "elicitation": {} })
}

/// Calls a tool and answers its questions, whichever way they come. Gives the questions' params.
async fn call_and_answer(
    client: &mut Client,
    tool: &str,
    arguments: &str,
    answers: &[Value],
) -> (Reply, Vec<Value>) {
    let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
    if client.era == Era::Legacy {
        let mut answers: VecDeque<Value> = answers.iter().cloned().collect();
        let seen = asked.clone();
        client.answer(move |request| {
            assert_eq!(request["method"], "elicitation/create", "{request}");
            seen.lock().unwrap().push(request["params"].clone());
            answers.pop_front().unwrap_or_else(|| panic!("one question too many: {request}"))
        });
        let reply = client.call(tool, arguments).await;
        let asked = asked.lock().unwrap().clone();
        return (reply, asked);
    }
    let mut reply = client.call(tool, arguments).await;
    for answer in answers {
        let result = reply.result();
        assert_eq!(result["resultType"], "input_required", "{}", reply.text);
        let request = &result["inputRequests"]["approval"];
        assert_eq!(request["method"], "elicitation/create", "{}", reply.text);
        asked.lock().unwrap().push(request["params"].clone());
        let state = result["requestState"].as_str().unwrap().to_owned();
        reply = answer_round(client, tool, arguments, &state, answer).await;
    }
    let asked = asked.lock().unwrap().clone();
    (reply, asked)
}

async fn answer_round(
    client: &mut Client,
    tool: &str,
    arguments: &str,
    state: &str,
    answer: &Value,
) -> Reply {
    let state = json!(state);
    let params = format!(
        r#"{{"name":"{tool}","arguments":{arguments},"requestState":{state},"inputResponses":{{"approval":{answer}}}}}"#
    );
    client.ask("tools/call", &params).await
}

fn accept() -> Value {
    json!({ "action": "accept", "content": {} })
}

fn edit(arguments: &str) -> Value {
    json!({ "action": "accept", "content": { "arguments": arguments } })
}

fn is_question(reply: &Reply) -> bool {
    reply.result()["resultType"] == "input_required"
}

#[tokio::test]
async fn a_yes_runs_exactly_what_was_shown() {
    for way in WAYS {
        let shop = Shop::new();
        let mut client = Client::connect(&shop.server(), way, asking()).await;
        // What is shown is admitted: the number in quotes is mended before anybody is asked.
        let arguments = r#"{"id": "123456789012345678901234567890"}"#;
        let (reply, asked) = call_and_answer(&mut client, "remove", arguments, &[accept()]).await;
        let result = reply.result();
        assert_eq!(result["isError"], false, "{way:?} {}", reply.text);
        assert!(
            reply.text.contains(r#"{\"id\": 123456789012345678901234567890}"#),
            "{}",
            reply.text
        );
        assert_eq!(shop.ran(), 1, "{way:?}");
        let message = asked[0]["message"].as_str().unwrap();
        for part in [
            "Run remove?",
            "Removes a thing.",
            "destroy",
            "{\"id\": 123456789012345678901234567890}",
        ] {
            assert!(message.contains(part), "{part}: {message}");
        }
        assert_eq!(asked[0]["mode"], "form");
    }
}

#[tokio::test]
async fn a_no_runs_nothing() {
    for way in WAYS {
        let shop = Shop::new();
        let mut client = Client::connect(&shop.server(), way, asking()).await;
        for action in ["decline", "cancel"] {
            let answer = json!({ "action": action });
            let (reply, _) =
                call_and_answer(&mut client, "remove", r#"{"id": 1}"#, &[answer]).await;
            let envelope = &reply.result()["structuredContent"];
            assert_eq!(reply.result()["isError"], true);
            assert_eq!(envelope["error"]["kind"], "approval_rejected", "{way:?} {}", reply.text);
            assert!(
                envelope["error"]["message"].as_str().unwrap().starts_with("The user rejected")
            );
        }
        assert_eq!(shop.ran(), 0, "{way:?}");
    }
}

#[tokio::test]
async fn an_edit_is_judged_and_asked_about_again() {
    for way in WAYS {
        let shop = Shop::new();
        let mut client = Client::connect(&shop.server(), way, asking()).await;
        // To other arguments, and a yes to those.
        let answers = [edit(r#"{"id": 2}"#), accept()];
        let (reply, asked) = call_and_answer(&mut client, "remove", r#"{"id": 1}"#, &answers).await;
        assert_eq!(reply.result()["isError"], false, "{way:?} {}", reply.text);
        assert_eq!(reply.result()["content"][0]["text"], r#"{"id": 2}"#, "{way:?}");
        assert!(asked[1]["message"].as_str().unwrap().ends_with(r#"Arguments: {"id": 2}"#));
        assert_eq!(shop.ran(), 1);
        // Twice, then no.
        let answers = [edit(r#"{"id": 2}"#), edit(r#"{"id": 3}"#), json!({ "action": "decline" })];
        let (reply, asked) = call_and_answer(&mut client, "remove", r#"{"id": 1}"#, &answers).await;
        assert_eq!(reply.result()["structuredContent"]["error"]["kind"], "approval_rejected");
        assert!(asked[2]["message"].as_str().unwrap().ends_with(r#"Arguments: {"id": 3}"#));
        // To arguments that the gates refuse.
        let (reply, _) =
            call_and_answer(&mut client, "remove", r#"{"id": 1}"#, &[edit(r#"{"id": "x"}"#)]).await;
        assert_eq!(
            reply.result()["structuredContent"]["error"]["kind"],
            "schema_mismatch",
            "{way:?}"
        );
        // To arguments that need no approval.
        let (reply, _) =
            call_and_answer(&mut client, "spend", r#"{"amount": 50}"#, &[edit(r#"{"amount": 5}"#)])
                .await;
        assert_eq!(
            reply.result()["content"][0]["text"],
            r#"{"amount": 5}"#,
            "{way:?} {}",
            reply.text
        );
        assert_eq!(shop.ran(), 2, "{way:?}");
    }
}

#[tokio::test]
async fn who_cannot_ask_is_refused_with_the_reason() {
    for way in WAYS {
        for capabilities in [json!({}), json!({ "elicitation": { "url": {} } })] {
            let shop = Shop::new();
            let mut client = Client::connect(&shop.server(), way, capabilities).await;
            let reply = client.call("remove", r#"{"id": 1}"#).await;
            let error = &reply.result()["structuredContent"]["error"];
            assert_eq!(error["kind"], "approval_rejected", "{way:?} {}", reply.text);
            assert!(
                error["message"].as_str().unwrap().contains("elicitation capability"),
                "{error}"
            );
            // What needs no approval runs.
            assert_eq!(client.call("spend", r#"{"amount": 1}"#).await.result()["isError"], false);
            assert_eq!(shop.ran(), 1, "{way:?}");
        }
    }
}

#[tokio::test]
async fn another_approver_takes_the_clients_place() {
    for way in WAYS {
        let shop = Shop::new();
        let by =
            |approver| McpOptions { approvals: Approvals::By(approver), ..McpOptions::default() };
        let mut client =
            Client::connect(&shop.server_with(by(Arc::new(ApproveAll))), way, asking()).await;
        assert_eq!(client.call("remove", r#"{"id": 1}"#).await.result()["isError"], false);
        let mut client =
            Client::connect(&shop.server_with(by(Arc::new(DenyAll))), way, asking()).await;
        assert_eq!(client.call("remove", r#"{"id": 1}"#).await.result()["isError"], true);
        assert_eq!(shop.ran(), 1);
    }
}

#[tokio::test]
async fn a_state_is_good_for_one_call_and_once() {
    for over in [Over::Stdio, Over::Http] {
        let shop = Shop::new();
        let server = shop.server();
        let mut client = Client::connect(&server, (over, Era::Modern), asking()).await;
        let one = r#"{"id": 1}"#;
        let state_of = |reply: &Reply| reply.result()["requestState"].as_str().unwrap().to_owned();
        let state = state_of(&client.call("remove", one).await);

        // Another call's, forged, or of another tool: no state of this call.
        let mut forged = state.clone();
        forged.replace_range(forged.len() - 4.., "AAAA");
        for (tool, arguments, state) in [
            ("remove", r#"{"id": 2}"#, state.as_str()),
            ("spend", r#"{"amount": 50}"#, state.as_str()),
            ("remove", one, forged.as_str()),
            ("remove", one, "x"),
        ] {
            let reply = answer_round(&mut client, tool, arguments, state, &accept()).await;
            assert_eq!(reply.error().0, -32602, "{over:?} {tool} {arguments}");
        }
        // An answer that is none, or to another question, is no answer.
        let reply = answer_round(&mut client, "remove", one, &state, &json!({ "action": 1 })).await;
        assert_eq!(reply.error().0, -32602, "{}", reply.text);
        let params = json!({ "name": "remove", "arguments": { "id": 1 }, "requestState": state,
            "inputResponses": { "other": accept() } });
        // Spacing is part of what the state is bound to, so the text is the same as before.
        let text = params.to_string().replace(r#"{"id":1}"#, one);
        assert!(is_question(&client.ask("tools/call", &text).await));
        // Without its state an answer answers nothing.
        let text = format!(
            r#"{{"name":"remove","arguments":{one},"inputResponses":{{"approval":{}}}}}"#,
            accept()
        );
        assert!(is_question(&client.ask("tools/call", &text).await));
        assert_eq!(shop.ran(), 0);

        let reply = answer_round(&mut client, "remove", one, &state, &accept()).await;
        assert_eq!(reply.result()["isError"], false, "{}", reply.text);
        // Sent again it asks again: one yes is one call.
        let reply = answer_round(&mut client, "remove", one, &state, &accept()).await;
        assert!(is_question(&reply), "{}", reply.text);
        assert_eq!(shop.ran(), 1, "{over:?}");

        // A yes to a definition that is another one by now is a yes to nothing.
        let state = state_of(&reply);
        let contract = json!({ "name": "remove", "description": "Removes everything.",
            "input": { "type": "object" }, "annotations": { "destructive": true } });
        server.replace(shop.toolset(&[contract]));
        let reply = answer_round(&mut client, "remove", one, &state, &accept()).await;
        assert!(is_question(&reply), "{}", reply.text);
        assert_eq!(shop.ran(), 1, "{over:?}");
    }
}
