//! The card: read without a token, known again by its tag, with every required member.

use callgate_server::{
    a2a::A2aOptions,
    http::{HttpOptions, Token},
};
use callgate_tool::a2a::wire::{Binding, Card, Version};
use serde_json::Value;

use crate::world::{World, options};

async fn card(world: &World) -> (reqwest::Response, Value) {
    let url = format!("{}/.well-known/agent-card.json", world.address);
    let response = world.http.get(&url).send().await.unwrap();
    let text = world.http.get(&url).send().await.unwrap().text().await.unwrap();
    (response, serde_json::from_str(&text).unwrap())
}

#[tokio::test]
async fn everybody_reads_it_and_asks_again_cheaply() {
    let token = Token::new("correct horse battery staple").unwrap();
    let http = HttpOptions { token: Some(token), ..HttpOptions::default() };
    let world = World::with(A2aOptions { bearer: true, ..options() }, http).await;
    let (response, card) = card(&world).await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["cache-control"], "public, max-age=60");
    let tag = response.headers()["etag"].to_str().unwrap().to_owned();
    let url = format!("{}/.well-known/agent-card.json", world.address);
    for (tags, status) in [(tag.as_str(), 304), ("\"other\"", 200), ("*", 304)] {
        let again = world.http.get(&url).header("if-none-match", tags).send().await.unwrap();
        assert_eq!(again.status(), status, "{tags}");
    }
    assert_eq!(card["securityRequirements"][0]["schemes"]["bearer"]["list"], serde_json::json!([]));
    // What is behind it needs the token.
    let refused = world.http.post(world.rpc_url()).body("{}").send().await.unwrap();
    assert_eq!(refused.status(), 401);
    world.end().await;
}

#[tokio::test]
async fn skills_have_their_schemas_in_an_extension() {
    let world = World::new().await;
    let (_, json) = card(&world).await;
    for member in [
        "name",
        "description",
        "version",
        "capabilities",
        "supportedInterfaces",
        "skills",
        "defaultInputModes",
        "defaultOutputModes",
    ] {
        assert!(json.get(member).is_some_and(|value| *value != Value::Null), "{member}");
    }
    for absent in ["url", "protocolVersion", "preferredTransport"] {
        assert!(json.get(absent).is_none(), "{absent} is 0.3's");
    }
    let text = json.to_string();
    let read = Card::read(serde_json::from_str(&text).unwrap()).unwrap();
    let ways: Vec<_> = read.interfaces.iter().map(|way| (way.binding, way.version)).collect();
    assert_eq!(ways, [(Binding::JsonRpc, Version::V1), (Binding::Http, Version::V1)]);
    assert!(read.interfaces.iter().all(|way| way.url.starts_with(&world.address)));
    let add = read.skill("add").unwrap().input.as_ref().unwrap().value();
    assert_eq!(add["properties"]["b"]["maximum"], 9_007_199_254_740_999_i64);
    let ids: Vec<&str> = read.skills.iter().map(|skill| skill.id.as_str()).collect();
    // Neither what may never run nor what the machine adds for a model.
    assert_eq!(ids, ["clerk", "add", "break_down", "echo", "refund", "sleep"]);
    assert!(read.skill("clerk").is_some() && read.streaming);
    for skill in json["skills"].as_array().unwrap() {
        assert!(!skill["tags"].as_array().unwrap().is_empty(), "{skill}");
    }
    world.end().await;
}

#[tokio::test]
async fn a_public_address_and_the_members_of_0_3() {
    let options =
        A2aOptions { public_url: Some("https://agents.example/".into()), v03: true, ..options() };
    let world = World::with(options, HttpOptions::default()).await;
    let (_, json) = card(&world).await;
    assert_eq!(json["url"], "https://agents.example/a2a/v1/");
    assert_eq!(
        (&json["protocolVersion"], &json["preferredTransport"]),
        (&"0.3.0".into(), &"JSONRPC".into())
    );
    let versions: Vec<_> = json["supportedInterfaces"]
        .as_array()
        .unwrap()
        .iter()
        .map(|way| way["protocolVersion"].as_str().unwrap())
        .collect();
    assert_eq!(versions, ["1.0", "1.0", "0.3"]);
    world.end().await;
}
