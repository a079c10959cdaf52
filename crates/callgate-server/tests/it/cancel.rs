//! Cancelled calls, and servers that are told to stop: tools end, and nothing is left behind.

use std::{fs, path::Path, time::Duration};

use callgate_server::mcp::McpOptions;
use serde_json::json;

use crate::{
    client::{Client, Era, Over, WAYS, until},
    shop::Shop,
};

/// The process that the tool `sleep` runs in, once it runs.
async fn started(file: &Path) -> u32 {
    until("the tool to start", || fs::read_to_string(file).is_ok_and(|pid| pid.ends_with('\n')))
        .await;
    fs::read_to_string(file).unwrap().trim().parse().unwrap()
}

async fn gone(pid: u32) {
    let process = format!("/proc/{pid}/stat");
    // A zombie is gone: its parent has only not looked yet.
    until("the tool's process to be gone", || {
        fs::read_to_string(&process).map_or(true, |stat| stat.contains(") Z "))
    })
    .await;
}

#[tokio::test]
async fn a_cancelled_call_ends_its_process() {
    for way in WAYS {
        let shop = Shop::new();
        let server = shop.server();
        let mut client = Client::connect(&server, way, json!({})).await;
        let (id, response) = client.begin("sleep", "{}").await;
        let pid = started(&shop.pid_file()).await;
        assert_eq!(server.calls_at_work(), 1);
        if way == (Over::Http, Era::Modern) {
            // Over modern HTTP to cancel is to close the stream.
            drop(response);
        } else {
            client
                .notify("notifications/cancelled", json!({ "requestId": id, "reason": "enough" }))
                .await;
        }
        gone(pid).await;
        until("the call to end", || server.calls_at_work() == 0).await;
        // The connection goes on, and the cancelled call is never answered.
        assert_eq!(client.call("echo", "{}").await.result()["isError"], false, "{way:?}");
    }
}

#[tokio::test]
async fn calls_in_flight_are_answered_before_the_server_stops() {
    for way in WAYS {
        let shop = Shop::new();
        let options = McpOptions { drain: Duration::from_millis(50), ..McpOptions::default() };
        let server = shop.server_with(options);
        let mut client = Client::connect(&server, way, json!({})).await;
        let (id, response) = client.begin("sleep", "{}").await;
        let pid = started(&shop.pid_file()).await;
        client.stop.cancel();
        let reply = match response {
            Some(response) => client.follow(id, response).await,
            None => client.reply_to(id).await,
        };
        let error = &reply.result()["structuredContent"]["error"];
        assert_eq!(error["kind"], "cancelled", "{way:?} {}", reply.text);
        gone(pid).await;
        client.served.take().unwrap().await.unwrap().unwrap();
        if way.0 == Over::Stdio {
            assert_eq!(client.read().await, None, "{way:?}");
        }
    }
}

#[tokio::test]
async fn a_call_that_ends_in_time_is_not_cut_short() {
    for way in WAYS {
        let shop = Shop::new();
        let ready = shop.folder.path().join("ready");
        let contract = json!({ "name": "finish", "input": { "type": "object" }, "backend": {
            "command": ["sh", "-c", "grep -q now && exit 0; echo $$ > \"$0\"; while [ ! -e \"$1\" ]; do sleep 0.02; done; echo '{\"done\": true}'",
                shop.pid_file(), ready] } });
        let options = McpOptions { drain: Duration::from_secs(100), ..McpOptions::default() };
        let server =
            callgate_server::mcp::McpServer::new(shop.toolset(&[contract]), options).unwrap();
        let mut client = Client::connect(&server, way, json!({})).await;
        let (id, response) = client.begin("finish", "{}").await;
        started(&shop.pid_file()).await;
        client.stop.cancel();
        if way.0 == Over::Http {
            until("the server to drain", || server.is_draining()).await;
        } else {
            // The pipe stands, and nothing new is begun on it.
            while client.call("finish", "{\"now\": true}").await.json.get("error").is_none() {}
        }
        fs::write(&ready, "").unwrap();
        let reply = match response {
            Some(response) => client.follow(id, response).await,
            None => client.reply_to(id).await,
        };
        assert_eq!(
            reply.result()["content"][0]["text"],
            "{\"done\": true}",
            "{way:?} {}",
            reply.text
        );
        client.served.take().unwrap().await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_client_that_hangs_up_leaves_nothing_behind() {
    for era in [Era::Legacy, Era::Modern] {
        let shop = Shop::new();
        let server = shop.server();
        let mut client = Client::connect(&server, (Over::Stdio, era), json!({})).await;
        let mut other = Client::connect(&server, (Over::Stdio, era), json!({})).await;
        client.begin("sleep", "{}").await;
        let pid = started(&shop.pid_file()).await;
        client.hang_up();
        gone(pid).await;
        client.served.take().unwrap().await.unwrap().unwrap();
        // Others do not notice.
        assert_eq!(other.call("echo", "{}").await.result()["isError"], false);
    }
}

#[tokio::test]
async fn calls_beyond_the_limit_wait_for_their_turn() {
    let shop = Shop::new();
    let server = shop.server_with(McpOptions { max_calls: 1, ..McpOptions::default() });
    let mut client = Client::connect(&server, (Over::Http, Era::Modern), json!({})).await;
    let mut other = client.beside();
    let (_, sleeping) = client.begin("sleep", "{}").await;
    started(&shop.pid_file()).await;
    let (id, waiting) = other.begin("echo", "{}").await;
    until("both calls to be there", || server.calls_at_work() == 2).await;
    assert_eq!(shop.ran(), 0);
    drop(sleeping);
    let reply = other.follow(id, waiting.unwrap()).await;
    assert_eq!(reply.result()["isError"], false, "{}", reply.text);
    assert_eq!(shop.ran(), 1);
}
