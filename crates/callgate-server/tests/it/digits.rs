//! Digits, both ways: what a client wrote is what the tool got, and what the tool gave is what
//! the client reads. No number passes through a float.

use serde_json::json;

use crate::{
    client::{Client, WAYS},
    shop::Shop,
};

const NUMBERS: [&str; 7] = [
    "123456789012345678901234567890",
    "-123456789012345678901234567890",
    "18446744073709551615",
    "9007199254740993",
    "1.0",
    "1.10",
    "1E+2",
];

#[tokio::test]
async fn numbers_keep_their_digits() {
    let shop = Shop::new();
    for way in WAYS {
        let mut client = Client::connect(&shop.server(), way, json!({})).await;
        for number in NUMBERS {
            let arguments = format!(r#"{{"n":{number},"deep":[{{"m":{number}}}]}}"#);
            let reply = client.call("echo", &arguments).await;
            let structured = format!(r#""structuredContent":{arguments}"#);
            assert!(reply.text.contains(&structured), "{way:?} {number}: {}", reply.text);
            let text = json!(arguments).to_string();
            assert!(reply.text.contains(&format!(r#""text":{text}"#)), "{way:?} {}", reply.text);
        }
    }
}

#[tokio::test]
async fn refusals_quote_the_digits_that_came() {
    let shop = Shop::new();
    for way in WAYS {
        let mut client = Client::connect(&shop.server(), way, json!({})).await;
        let reply = client.call("spend", r#"{"amount":123456789012345678901234567890}"#).await;
        assert_eq!(reply.result()["isError"], true);
        let (_, structured) = reply.text.split_once(r#""structuredContent":"#).unwrap();
        assert!(structured.contains("123456789012345678901234567890"), "{way:?} {}", reply.text);
        // A tool's words that look like ours are a tool's words.
        let reply = client.call("echo", r#"{"callgate-raw-00":"{}","s":"callgate-raw-[1]"}"#).await;
        let same = r#""structuredContent":{"callgate-raw-00":"{}","s":"callgate-raw-[1]"}"#;
        assert!(reply.text.contains(same), "{}", reply.text);
    }
}
