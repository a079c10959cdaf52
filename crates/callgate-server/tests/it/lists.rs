//! `tools/list`: what is on it, in which order, on which page, and who hears that it changed.

use callgate_server::mcp::McpOptions;
use serde_json::{Value, json};

use crate::{
    client::{Client, Era, Over, WAYS},
    shop::Shop,
};

fn names(list: &Value) -> Vec<&str> {
    list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_list_is_the_catalog_in_order() {
    let shop = Shop::new();
    for way in WAYS {
        let mut client = Client::connect(&shop.server(), way, json!({})).await;
        let reply = client.ask("tools/list", "{}").await;
        let list = reply.result();
        // Sorted, and without the blocked one.
        let expected = [
            "echo",
            "fail",
            "list",
            "picture",
            "remove",
            "selected",
            "set_status",
            "sleep",
            "spend",
        ];
        assert_eq!(names(list), expected, "{way:?}");
        let set_status = &list["tools"][6];
        let properties = set_status["inputSchema"]["properties"].as_object().unwrap();
        assert_eq!(properties.keys().collect::<Vec<_>>(), ["zeta", "status", "alpha"], "{way:?}");
        assert_eq!(set_status["description"], "Sets a status.");
        assert!(set_status.get("outputSchema").is_none());
        let hints = json!({ "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false });
        assert_eq!(list["tools"][0]["annotations"], hints);
        assert_eq!(list["tools"][0]["outputSchema"], json!({ "type": "object" }));
        // What is selected of a result is not what its schema describes.
        assert!(list["tools"][5].get("outputSchema").is_none());
        assert_eq!(list["ttlMs"], 60_000);
        assert_eq!(list["cacheScope"], "public");
        assert_eq!(list.get("resultType").is_some(), way.1 == Era::Modern, "{way:?}");
        let again = client.ask("tools/list", "{}").await;
        assert_eq!(again.result(), list);
    }
}

#[tokio::test]
async fn the_handshake_says_what_is_served() {
    let shop = Shop::new();
    let options = McpOptions {
        name: "support".to_owned(),
        version: "2.0.0".to_owned(),
        instructions: Some("Be kind.".to_owned()),
        ..McpOptions::default()
    };
    let server = shop.server_with(options);
    for over in [Over::Stdio, Over::Http] {
        let mut client = Client::connect(&server, (over, Era::Modern), json!({})).await;
        let reply = client.ask("server/discover", "{}").await;
        let found = reply.result();
        assert_eq!(found["capabilities"], json!({ "tools": { "listChanged": true } }));
        assert_eq!(found["instructions"], "Be kind.");
        let versions = found["supportedVersions"].as_array().unwrap();
        assert!(versions.contains(&json!("2026-07-28")), "{found}");
        let info = &found["_meta"]["io.modelcontextprotocol/serverInfo"];
        assert_eq!((&info["name"], &info["version"]), (&json!("support"), &json!("2.0.0")));
    }
    let legacy = Client::connect(&server, (Over::Http, Era::Legacy), json!({})).await;
    let reply = legacy.stranger().initialize().await;
    assert_eq!(reply.result()["serverInfo"]["name"], "support");
    assert_eq!(reply.result()["capabilities"], json!({ "tools": { "listChanged": true } }));
}

#[tokio::test]
async fn pages_follow_each_other_and_cursors_belong_to_one_list() {
    let shop = Shop::new();
    let options = || McpOptions { page_size: 4, ..McpOptions::default() };
    for way in WAYS {
        let server = shop.server_with(options());
        let mut client = Client::connect(&server, way, json!({})).await;
        let mut seen = Vec::new();
        let mut cursor: Option<String> = None;
        let mut pages = 0;
        loop {
            let params = cursor.map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
            let reply = client.ask("tools/list", &params.to_string()).await;
            seen.extend(names(reply.result()).iter().map(ToString::to_string));
            pages += 1;
            cursor = reply.result()["nextCursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!((pages, seen.len()), (3, 9), "{way:?}: {seen:?}");
        let first = client.ask("tools/list", "{}").await;
        let cursor = first.result()["nextCursor"].as_str().unwrap().to_owned();
        // The same catalog is the same list in another process; another one is not.
        let mut twin = Client::connect(&shop.server_with(options()), way, json!({})).await;
        let params = json!({ "cursor": cursor }).to_string();
        assert_eq!(names(twin.ask("tools/list", &params).await.result())[0], "remove");
        server.replace(shop.toolset(&[json!({ "name": "only", "input": { "type": "object" } })]));
        for bad in [cursor.as_str(), "x", "", "bm9wZTo0"] {
            let params = json!({ "cursor": bad }).to_string();
            let reply = client.ask("tools/list", &params).await;
            let (code, message) = reply.error();
            assert_eq!(code, -32602, "{way:?} {bad:?}");
            assert!(message.contains("list again without a cursor"), "{message}");
        }
    }
}

#[tokio::test]
async fn clients_hear_that_the_list_changed() {
    let shop = Shop::new();
    let other = || shop.toolset(&[json!({ "name": "only", "input": { "type": "object" } })]);

    // Legacy, stdio: on the pipe.
    let server = shop.server();
    let mut client = Client::connect(&server, (Over::Stdio, Era::Legacy), json!({})).await;
    // An answer after the notification of being ready: the session is known by then.
    client.ask("tools/list", "{}").await;
    crate::client::until("the session to be known", || server.changes().listeners() == 1).await;
    server.replace(other());
    let line = client.read().await.unwrap();
    assert!(line.contains("notifications/tools/list_changed"), "{line}");
    assert_eq!(names(client.ask("tools/list", "{}").await.result()), ["only"]);

    // Legacy, HTTP: on the session's own stream.
    let server = shop.server();
    let client = Client::connect(&server, (Over::Http, Era::Legacy), json!({})).await;
    let mut events = client.web().events().await;
    crate::client::until("the session to be known", || server.changes().listeners() == 1).await;
    server.replace(other());
    let event = events.next().await.unwrap();
    assert!(event.contains("notifications/tools/list_changed"), "{event}");

    // Modern: on the stream of whoever listens, and of what it listens for only.
    for over in [Over::Stdio, Over::Http] {
        let server = shop.server();
        let mut client = Client::connect(&server, (over, Era::Modern), json!({})).await;
        let params =
            json!({ "notifications": { "toolsListChanged": true, "promptsListChanged": true } });
        let (id, text) = client.request("subscriptions/listen", &params.to_string());
        let mut events = None;
        if over == Over::Stdio {
            client.line(&text).await;
        } else {
            let web = client.web();
            let response = web.post(Era::Modern, "subscriptions/listen", None, text).await;
            events = Some(crate::client::Events::of(response));
        }
        let first: Value = match &mut events {
            Some(events) => serde_json::from_str(&events.next().await.unwrap()).unwrap(),
            None => serde_json::from_str(&client.read().await.unwrap()).unwrap(),
        };
        assert_eq!(first["method"], "notifications/subscriptions/acknowledged", "{first}");
        // There are no prompts to hear of.
        assert_eq!(first["params"]["notifications"], json!({ "toolsListChanged": true }));
        crate::client::until("the listener to listen", || server.changes().listeners() == 1).await;
        server.changes().prompts();
        server.replace(other());
        let second: Value = match &mut events {
            Some(events) => serde_json::from_str(&events.next().await.unwrap()).unwrap(),
            None => serde_json::from_str(&client.read().await.unwrap()).unwrap(),
        };
        assert_eq!(second["method"], "notifications/tools/list_changed", "{second}");
        assert_eq!(second["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
    }
}
