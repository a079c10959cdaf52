//! `/v1/models`, as both libraries read it.

use callgate_server::proxy::{Allow, ProxyOptions};
use serde_json::Value;

use crate::{client::Served, provider::Provider};

#[tokio::test]
async fn models_that_may_be_named() {
    let provider = Provider::start(Vec::new()).await;
    let options = ProxyOptions {
        default_model: Some("openai:gpt-5.4".to_owned()),
        aliases: [("fast", "ollama:qwen3"), ("*", "ollama:qwen3")]
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .into(),
        allow: Allow::Only(vec!["gemini:*".to_owned(), "anthropic:claude".to_owned()]),
        listed: vec!["gemini:pro".to_owned(), "fast".to_owned()],
        ..ProxyOptions::default()
    };
    let proxy = Served::start(provider.registry(), options).await;
    let get = async |path: &str| {
        let response = proxy.client.get(format!("{}{path}", proxy.url)).send().await.unwrap();
        let status = response.status().as_u16();
        (status, serde_json::from_str::<Value>(&response.text().await.unwrap()).unwrap())
    };
    let (status, list) = get("/v1/models").await;
    let ids: Vec<&str> =
        list["data"].as_array().unwrap().iter().map(|m| m["id"].as_str().unwrap()).collect();
    assert_eq!(
        (status, ids),
        (200, vec!["openai:gpt-5.4", "fast", "anthropic:claude", "gemini:pro"])
    );
    assert_eq!(
        (&list["object"], &list["has_more"], &list["last_id"]),
        (&"list".into(), &false.into(), &"gemini:pro".into())
    );
    for model in list["data"].as_array().unwrap() {
        assert_eq!((&model["object"], &model["type"]), (&"model".into(), &"model".into()));
        assert!(
            model["created"].is_u64()
                && model["owned_by"].is_string()
                && model["display_name"].is_string()
        );
    }
    assert_eq!(get("/v1/models/gemini:other").await.1["id"], "gemini:other");
    assert_eq!(get("/v1/models/gemini/other").await.1["owned_by"], "gemini");
    let (status, error) = get("/v1/models/mistral:large").await;
    assert_eq!((status, &error["error"]["code"]), (404, &"model_not_found".into()));
    let (status, error) = {
        let response = proxy.post("/v1/messages/count_tokens", &[], "{}".to_owned()).await;
        (
            response.status().as_u16(),
            serde_json::from_str::<Value>(&response.text().await.unwrap()).unwrap(),
        )
    };
    assert_eq!((status, &error["error"]["type"]), (404, &"not_found_error".into()));
}
