//! Lists: pages, filters, and how much of each task is shown.

use serde_json::{Value, json};

use crate::world::{World, text};

#[tokio::test]
async fn pages_and_filters() {
    let world = World::new().await;
    for (i, (words, context)) in
        [("one", "c1"), ("two", "c1"), ("ask", "c2"), ("fail", "c2"), ("five", "c3")]
            .into_iter()
            .enumerate()
    {
        let mut message = text(&format!("m{i}"), words);
        message["contextId"] = context.into();
        let task = world.send(message).await;
        assert_eq!(task["contextId"], context);
    }
    let list = async |params: Value| world.rpc("ListTasks", params).await;
    let all = list(json!({})).await;
    assert_eq!(
        (&all["totalSize"], &all["pageSize"], &all["nextPageToken"]),
        (&json!(5), &json!(50), &json!(""))
    );
    let first = &all["tasks"][0];
    assert!(first.get("artifacts").is_none() && first.get("history").is_none(), "{first}");
    let rows = [
        (json!({ "contextId": "c1" }), 2),
        (json!({ "contextId": "none" }), 0),
        (json!({ "status": "TASK_STATE_COMPLETED" }), 3),
        (json!({ "status": "TASK_STATE_INPUT_REQUIRED" }), 1),
        (json!({ "status": "TASK_STATE_FAILED", "contextId": "c2" }), 1),
        (json!({ "status": "TASK_STATE_WORKING" }), 0),
        (json!({ "statusTimestampAfter": "2020-01-01T00:00:00Z" }), 5),
        (json!({ "statusTimestampAfter": "2999-01-01T00:00:00Z" }), 0),
    ];
    for (params, count) in rows {
        let page = list(params.clone()).await;
        assert_eq!(page["totalSize"], count, "{params}");
        assert_eq!(page["tasks"].as_array().unwrap().len(), count, "{params}");
    }
    let full =
        list(json!({ "contextId": "c1", "includeArtifacts": true, "historyLength": 1 })).await;
    assert!(
        full["tasks"][0]["artifacts"][0].is_object() && full["tasks"][0]["history"][0].is_object()
    );
    // Page by page everything comes once, in the same order.
    let (mut seen, mut token) = (Vec::new(), String::new());
    loop {
        let page = list(json!({ "pageSize": 2, "pageToken": token })).await;
        assert_eq!((&page["totalSize"], &page["pageSize"]), (&json!(5), &json!(2)));
        seen.extend(page["tasks"].as_array().unwrap().iter().map(|task| task["id"].clone()));
        token = page["nextPageToken"].as_str().unwrap().to_owned();
        if token.is_empty() {
            break;
        }
    }
    let order: Vec<Value> =
        all["tasks"].as_array().unwrap().iter().map(|task| task["id"].clone()).collect();
    assert_eq!(seen, order);
    assert_eq!(list(json!({ "pageToken": "nonsense" })).await["code"], -32602);
    let rest = world.rest("/tasks?pageSize=2&status=TASK_STATE_COMPLETED&includeArtifacts=true");
    let page = world.http.get(rest).header("a2a-version", "1.0").send().await.unwrap();
    let page: Value = serde_json::from_str(&page.text().await.unwrap()).unwrap();
    assert_eq!((&page["totalSize"], page["tasks"].as_array().unwrap().len()), (&json!(3), 2));
    world.end().await;
}
