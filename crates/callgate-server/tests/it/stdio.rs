//! The pipe: lines that are no messages, and lines that are too long.

use serde_json::{Value, json};

use crate::{
    client::{Client, Era, Over},
    shop::Shop,
};

#[tokio::test]
async fn bad_lines_are_answered_and_cost_nothing_else() {
    let shop = Shop::new();
    for era in [Era::Legacy, Era::Modern] {
        let mut client = Client::connect(&shop.server(), (Over::Stdio, era), json!({})).await;
        if era == Era::Modern {
            client.ask("server/discover", "{}").await;
        }
        let long = format!(r#"{{"jsonrpc":"2.0","id":9,"method":"{}"}}"#, "x".repeat(5 << 20));
        let rows = [
            ("{\"jsonrpc\":", -32700, Value::Null),
            ("not json", -32700, Value::Null),
            (r#"{"jsonrpc":"2.0","id":"a"}"#, -32600, json!("a")),
            (r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, -32600, json!(7)),
            ("[]", -32600, Value::Null),
            (long.as_str(), -32600, Value::Null),
        ];
        for (line, code, id) in rows {
            let shown: String = line.chars().take(60).collect();
            client.line(line).await;
            let answer: Value = serde_json::from_str(&client.read().await.unwrap()).unwrap();
            assert_eq!(answer["error"]["code"], code, "{era:?} {shown}: {answer}");
            assert_eq!(answer["id"], id, "{era:?} {shown}");
        }
        client.line("").await;
        client.line("  \r").await;
        assert_eq!(client.call("echo", r#"{"a": 1}"#).await.result()["isError"], false);
    }
}

#[tokio::test]
async fn a_client_that_says_nothing_is_no_error() {
    let shop = Shop::new();
    let server = shop.server();
    let mut client = Client::connect(&server, (Over::Stdio, Era::Modern), json!({})).await;
    client.hang_up();
    client.served.take().unwrap().await.unwrap().unwrap();
}

#[tokio::test]
async fn the_legacy_era_can_be_probed_first() {
    let shop = Shop::new();
    let mut client = Client::connect(&shop.server(), (Over::Stdio, Era::Modern), json!({})).await;
    client.ask("server/discover", "{}").await.result();
    client.era = Era::Legacy;
    client.initialize().await;
    assert_eq!(client.call("echo", "{}").await.result()["isError"], false);
}
