//! Tasks of the agent: begun, answered, asked about, cancelled, and there after a restart.

use callgate_server::http::HttpOptions;
use serde_json::{Value, json};

use crate::world::{World, options, state, text};

#[tokio::test]
async fn a_message_in_words_is_a_run_of_the_agent() {
    let world = World::new().await;
    let task = world.send(text("m1", "hello there")).await;
    assert_eq!(state(&task), "TASK_STATE_COMPLETED");
    assert_eq!(task["artifacts"][0]["parts"][0]["text"], "You said: hello there");
    assert_eq!(task["history"][0]["messageId"], "m1");
    assert_eq!(task["history"][0]["parts"][0]["text"], "hello there");
    // A task is a run.
    let id = task["id"].as_str().unwrap();
    let summary = world.host.summary(id).await.unwrap();
    assert_eq!((summary.agent.as_str(), summary.goal.as_str()), ("clerk", "hello there"));
    let got = world.rpc("GetTask", json!({ "id": id })).await;
    assert_eq!(got, task);
    // Over the other binding it is the same.
    let rest = world
        .http
        .get(world.rest(&format!("/tasks/{id}?historyLength=0")))
        .header("a2a-version", "1.0");
    let rest: Value =
        serde_json::from_str(&rest.send().await.unwrap().text().await.unwrap()).unwrap();
    assert_eq!((&rest["artifacts"], rest.get("history")), (&task["artifacts"], None));
    world.end().await;
}

#[tokio::test]
async fn a_message_that_comes_twice_is_one_task() {
    let world = World::new().await;
    let first = world.send(text("m1", "hello")).await;
    let again = world.send(text("m1", "hello")).await;
    assert_eq!(first["id"], again["id"]);
    for other in [text("m2", "hello"), text("m1", "hello you")] {
        assert_ne!(world.send(other).await["id"], first["id"]);
    }
    world.end().await;
}

#[tokio::test]
async fn who_does_not_want_to_wait_does_not() {
    let world = World::new().await;
    let params =
        json!({ "message": text("m1", "sleep"), "configuration": { "returnImmediately": true } });
    let sent = world.rpc("SendMessage", params).await;
    let id = sent["task"]["id"].as_str().unwrap().to_owned();
    assert!(["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"].contains(&state(&sent["task"])));
    let message = json!({ "messageId": "m2", "role": "ROLE_USER", "taskId": id, "parts": [{ "text": "faster" }] });
    let refused = world.send(message).await;
    assert_eq!(refused["code"], -32004, "nothing was asked: {refused}");
    let cancelled = world.rpc("CancelTask", json!({ "id": id })).await;
    assert_eq!(state(&cancelled), "TASK_STATE_CANCELED");
    let again = world.rpc("CancelTask", json!({ "id": id })).await;
    assert_eq!(again["code"], -32002);
    world.end().await;
}

#[tokio::test]
async fn a_question_of_the_model_is_answered_under_the_same_id() {
    let world = World::new().await;
    let asked = world.send(text("m1", "ask")).await;
    assert_eq!(state(&asked), "TASK_STATE_INPUT_REQUIRED");
    let said = &asked["status"]["message"];
    assert_eq!(said["role"], "ROLE_AGENT");
    assert_eq!(said["parts"][0]["text"], "Which one?");
    assert_eq!(said["parts"][1]["data"]["choices"], json!(["red", "blue"]));
    let mut answer = text("m2", "blue");
    answer["taskId"] = asked["id"].clone();
    let mut elsewhere = answer.clone();
    elsewhere["contextId"] = "another".into();
    assert_eq!(world.send(elsewhere).await["code"], -32602);
    let done = world.send(answer.clone()).await;
    assert_eq!((&done["id"], state(&done)), (&asked["id"], "TASK_STATE_COMPLETED"));
    let words = done["artifacts"][0]["parts"][0]["text"].as_str().unwrap();
    assert!(words.contains("blue"), "{words}");
    let history: Vec<_> = done["history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| {
            (message["role"].as_str().unwrap(), message["parts"][0]["text"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        history,
        [("ROLE_USER", "ask"), ("ROLE_AGENT", "Which one?"), ("ROLE_USER", "blue")]
    );
    // The same words again are the same message; others come too late.
    assert_eq!(state(&world.send(answer).await), "TASK_STATE_COMPLETED");
    let mut late = text("m3", "red");
    late["taskId"] = asked["id"].clone();
    assert_eq!(world.send(late).await["code"], -32004);
    world.end().await;
}

#[tokio::test]
async fn a_failure_tells_nothing_of_the_provider() {
    let world = World::new().await;
    let task = world.send(text("m1", "fail")).await;
    assert_eq!(state(&task), "TASK_STATE_FAILED");
    assert_eq!(
        task["status"]["message"]["parts"][0]["text"],
        "The agent's model could not be asked."
    );
    assert!(!task.to_string().contains("acme"));
    world.end().await;
}

#[tokio::test]
async fn a_task_outlives_its_server() {
    let world = World::new().await;
    let asked = world.send(text("m1", "ask")).await;
    let journal = world.journal.clone();
    world.end().await;
    let world = World::over(journal, options(), HttpOptions::default()).await;
    let got = world.rpc("GetTask", json!({ "id": asked["id"] })).await;
    assert_eq!(got, asked);
    assert_eq!(world.send(text("m1", "ask")).await["id"], asked["id"], "the same message");
    let mut answer = text("m2", "red");
    answer["taskId"] = asked["id"].clone();
    let done = world.send(answer).await;
    assert_eq!((&done["id"], state(&done)), (&asked["id"], "TASK_STATE_COMPLETED"));
    world.end().await;
}
