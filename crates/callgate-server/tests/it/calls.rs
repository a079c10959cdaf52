//! `tools/call`: what gates and tools say, in MCP's words.

use callgate_server::mcp::{McpOptions, McpServer};
use serde_json::{Value, json};
use std::time::Duration;

use crate::{
    client::{Client, WAYS},
    shop::Shop,
};

/// The one text block of a result.
#[track_caller]
fn text(result: &Value) -> &str {
    let content = result["content"].as_array().unwrap();
    assert_eq!(content.len(), 1, "{result}");
    assert_eq!(content[0]["type"], "text");
    content[0]["text"].as_str().unwrap()
}

#[tokio::test]
async fn a_good_call_runs_once() {
    for way in WAYS {
        let shop = Shop::new();
        let mut client = Client::connect(&shop.server(), way, json!({})).await;
        let reply = client.call("echo", r#"{"b": 1, "a": [true, null]}"#).await;
        let result = reply.result();
        assert_eq!(result["isError"], false, "{way:?} {}", reply.text);
        assert_eq!(result["structuredContent"], json!({ "b": 1, "a": [true, null] }));
        assert_eq!(text(result), r#"{"b": 1, "a": [true, null]}"#);
        assert_eq!(shop.ran(), 1);
        // No schema of the result, no structure promised.
        let reply = client.call("set_status", r#"{"status": "sent"}"#).await;
        assert!(reply.result().get("structuredContent").is_none(), "{}", reply.text);
        // Arguments may be left out.
        let reply = client.ask("tools/call", r#"{"name": "echo"}"#).await;
        assert_eq!(reply.result()["structuredContent"], json!({}));
    }
}

#[tokio::test]
async fn what_the_gates_refuse_is_told_and_does_not_run() {
    let rows = [
        ("set_status", r#"{"status": "payed"}"#, "schema_mismatch"),
        ("set_status", "{}", "schema_mismatch"),
        ("set_status", r#"{"status": "paid"}"#, "rule_violation"),
        ("set_status", r#"{"status": "sent", "status": "draft"}"#, "json_duplicate_key"),
        ("set_status", "[1]", "args_not_object"),
        ("set_status", "7", "args_not_object"),
        ("never", "{}", "policy_denied"),
    ];
    for way in WAYS {
        let shop = Shop::new();
        let mut client = Client::connect(&shop.server(), way, json!({})).await;
        for (tool, arguments, kind) in rows {
            let reply = client.call(tool, arguments).await;
            let result = reply.result();
            assert_eq!(result["isError"], true, "{way:?} {}", reply.text);
            let envelope = &result["structuredContent"];
            assert_eq!(envelope["error"]["kind"], kind, "{way:?} {}", reply.text);
            assert_eq!(envelope["error"]["executed"], false);
            assert_eq!(envelope["ok"], false);
            let read: Value = serde_json::from_str(text(result)).unwrap();
            assert_eq!(read, *envelope);
        }
        let reply = client.call("set_status", r#"{"status": "payed"}"#).await;
        let violation = &reply.result()["structuredContent"]["error"]["violations"][0];
        assert_eq!(violation["path"], "/status");
        assert_eq!(violation["suggestion"], "paid");
        assert_eq!(violation["expected"], json!(["draft", "sent", "paid"]));
        assert_eq!(shop.ran(), 0, "{way:?}");
    }
}

/// Clients hold errors to the output schema as well, and show their own complaint in the place of
/// an envelope that does not fit.
#[tokio::test]
async fn an_envelope_never_breaks_a_promised_output_schema() {
    let shop = Shop::new();
    let contract = json!({ "name": "priced", "description": "Has a price.", "input": {
        "type": "object", "properties": { "id": { "type": "integer" } }, "required": ["id"] },
        "output": { "type": "object", "properties": { "price": { "type": "number" } }, "required": ["price"] } });
    let tools = shop.toolset(&[contract]);
    let server = McpServer::new(tools, McpOptions::default()).unwrap();
    for way in WAYS {
        let mut client = Client::connect(&server, way, json!({})).await;
        // Refused by the gate in (its digits are kept), and by the gate out.
        for (arguments, kind, kept) in [
            (r#"{"id": 1.10}"#, "schema_mismatch", "1.10"),
            (r#"{"id": 7}"#, "output_mismatch", "price"),
        ] {
            let reply = client.call("priced", arguments).await;
            let result = reply.result();
            assert_eq!(result["isError"], true, "{way:?} {}", reply.text);
            assert!(result.get("structuredContent").is_none(), "{way:?} {}", reply.text);
            assert!(text(result).contains(kept), "{}", reply.text);
            let read: Value = serde_json::from_str(text(result)).unwrap();
            assert_eq!(read["error"]["kind"], kind, "{way:?} {}", reply.text);
            assert_eq!(result["_meta"]["dev.callgate/envelope"], read, "{way:?} {}", reply.text);
        }
    }
}

#[tokio::test]
async fn a_name_that_no_tool_has_is_a_protocol_error() {
    let shop = Shop::new();
    for way in WAYS {
        let mut client = Client::connect(&shop.server(), way, json!({})).await;
        let reply = client.call("set_statu", "{}").await;
        let (code, message) = reply.error();
        assert_eq!(code, -32602, "{way:?}");
        assert_eq!(message, "Unknown tool: set_statu. Did you mean set_status?");
        let reply = client.ask("tools/call", r#"{"arguments": {}}"#).await;
        assert_eq!(reply.error().0, -32602, "{way:?} {}", reply.text);
        // The connection goes on.
        assert_eq!(client.call("echo", "{}").await.result()["isError"], false);
    }
}

#[tokio::test]
async fn what_a_tool_says_is_passed_on() {
    let shop = Shop::new();
    for way in WAYS {
        let mut client = Client::connect(&shop.server(), way, json!({})).await;
        let reply = client.call("picture", "{}").await;
        let content = reply.result()["content"].as_array().unwrap();
        let kinds: Vec<&str> =
            content.iter().map(|block| block["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["text", "image", "audio", "resource_link"], "{way:?} {}", reply.text);
        assert_eq!(content[1]["mimeType"], "image/png");
        assert_eq!(content[1]["data"], "iVBORw0KGgo=");
        assert_eq!(content[2]["mimeType"], "audio/wav");

        let reply = client.call("fail", "{}").await;
        let result = reply.result();
        assert_eq!(result["isError"], true);
        assert_eq!(result["structuredContent"]["error"]["kind"], "tool_error");
        assert_eq!(result["structuredContent"]["error"]["executed"], true);

        // Cut short for the model, with a word on it; whole where the schema wants it whole.
        let reply = client.call("list", "{}").await;
        let result = reply.result();
        assert_eq!(result["structuredContent"]["items"], json!([1, 2, 3]), "{}", reply.text);
        assert_eq!(result["content"][0]["text"], r#"{"items": [1, 2], "total": 3}"#);
        let omitted = result["content"][1]["text"].as_str().unwrap();
        assert!(omitted.contains(r#""total":3"#), "{omitted}");

        // What a contract keeps to itself stays there.
        let reply = client.call("selected", "{}").await;
        assert!(reply.result().get("structuredContent").is_none());
        assert!(!reply.text.contains("items"), "{}", reply.text);
    }
}

#[tokio::test]
async fn a_client_with_a_token_hears_of_progress() {
    let shop = Shop::new();
    let options = || McpOptions {
        heartbeat: Duration::from_millis(20),
        drain: Duration::ZERO,
        ..McpOptions::default()
    };
    for way in WAYS {
        let server = shop.server_with(options());
        let mut client = Client::connect(&server, way, json!({})).await;
        // A long call is heard of again and again, with rising figures, until it ends.
        let mut beats = 0;
        let stopping = server.clone();
        client.watch(move |note| {
            beats += usize::from(note["params"]["message"] == "still at work");
            if beats == 3 {
                tokio::spawn(stopping.drain());
            }
        });
        let (id, response) = client.begin("sleep", "{}").await;
        let reply = match response {
            Some(response) => client.follow(id, response).await,
            None => client.reply_to(id).await,
        };
        assert_eq!(reply.result()["structuredContent"]["error"]["kind"], "cancelled", "{way:?}");
        let told = reply.notes.first().unwrap_or_else(|| panic!("{way:?}: nothing was told"));
        assert_eq!(told["method"], "notifications/progress");
        assert!(told["params"]["progressToken"].as_str().unwrap().starts_with('p'), "{told}");
        assert_eq!(told["params"]["progress"].as_f64(), Some(1.0));
        let figures: Vec<f64> =
            reply.notes.iter().map(|note| note["params"]["progress"].as_f64().unwrap()).collect();
        assert!(figures.len() >= 4, "{way:?} {figures:?}");
        assert!(figures.windows(2).all(|pair| pair[0] < pair[1]), "{way:?} {figures:?}");
    }
}

#[tokio::test]
async fn a_call_that_is_over_in_a_moment_tells_nothing_but_its_result() {
    let shop = Shop::new();
    for way in WAYS {
        let server = shop.server_with(McpOptions::default());
        let mut client = Client::connect(&server, way, json!({})).await;
        let mut quiet = false;
        // On a busy machine some of them are no moment.
        for _ in 0..100 {
            quiet = client.call("echo", "{}").await.notes.is_empty();
            if quiet {
                break;
            }
        }
        assert!(quiet, "{way:?}");
    }
}
