//! The document that describes the API.

use std::collections::BTreeSet;

use callgate_contract::schema::Schema;
use callgate_server::runs::RunsApi;
use serde_json::{Value, json};

use crate::house::House;

fn refs(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(to)) = members.get("$ref") {
                found.insert(to.clone());
            }
            members.values().for_each(|value| refs(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| refs(value, found)),
        _ => {}
    }
}

#[test]
fn everything_that_is_referred_to_is_there() {
    let document = RunsApi::document(true);
    let mut found = BTreeSet::new();
    refs(&document, &mut found);
    assert!(found.len() > 10, "{found:?}");
    for to in found {
        let pointer = to.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{to}");
    }
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        let mut schema = schema.clone();
        if let Some(schema) = schema.as_object_mut() {
            schema.insert("components".to_owned(), document["components"].clone());
        }
        assert!(Schema::compile_as_given(schema).is_ok(), "{name}");
    }
}

#[test]
fn operations_are_named_once_and_told() {
    let document = RunsApi::document(false);
    let mut names = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let name = operation["operationId"].as_str().unwrap();
            assert!(names.insert(name.to_owned()), "{name}");
            assert!(!operation["summary"].as_str().unwrap().is_empty(), "{method} {path}");
            assert!(operation["responses"]["default"].is_object(), "{method} {path}");
            let in_path = path.matches('{').count();
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            assert_eq!(
                parameters.filter(|p| p["in"] == "path").count(),
                in_path,
                "{method} {path}"
            );
        }
    }
    assert!(names.len() >= 23, "{names:?}");
    assert!(document.get("security").is_none());
}

#[tokio::test]
async fn it_is_served() {
    let house = House::new(&[]);
    let server = house.in_memory().await;
    let (status, document) = server.get("/api/openapi.json").await;
    assert_eq!((status, &document["openapi"]), (200, &json!("3.1.0")));
    assert_eq!(document, RunsApi::document(false));
}
