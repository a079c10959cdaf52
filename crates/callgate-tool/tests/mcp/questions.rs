//! Questions of a server, in both protocols, and tasks.

use std::sync::{Arc, Mutex};

use callgate_tool::mcp::{Answered, Answering, ClientOptions, Elicitor, Question, Wants};
use serde_json::{Value, json};

use crate::{Own, TIMEOUTS, call, outcome};

/// Says its name, and remembers who asked what.
#[derive(Default)]
struct Ada(Mutex<Vec<Question>>);

impl Elicitor for Ada {
    fn elicit(&self, question: Question) -> Answering<'_> {
        self.0.lock().unwrap().push(question);
        Box::pin(async {
            let content = json!({ "name": "Ada" });
            Answered::Accept(content.as_object().unwrap().clone())
        })
    }
}

struct Nobody;

impl Elicitor for Nobody {
    fn elicit(&self, _: Question) -> Answering<'_> {
        Box::pin(async { Answered::Cancel })
    }
}

fn with(flags: &[&str], elicitor: Option<Arc<dyn Elicitor>>) -> Own {
    Own::start(flags, TIMEOUTS, ClientOptions { elicitor, ..ClientOptions::default() })
}

async fn structured(own: &Own, tool: &str) -> Value {
    let invoked = own.client.call(call(tool)).await;
    let output = invoked.result.unwrap_or_else(|failure| panic!("{tool}: {failure:?}"));
    serde_json::from_str(&output.structured.unwrap()).unwrap()
}

#[tokio::test]
async fn live_questions_of_the_old_protocol() {
    let ada = Arc::new(Ada::default());
    let own = with(&[], Some(ada.clone()));
    let answer = structured(&own, "ask").await;
    // The absent value has its schema's default.
    assert_eq!(
        answer["result"],
        json!({ "action": "accept", "content": { "name": "Ada", "age": 30 } })
    );
    let asked = ada.0.lock().unwrap().clone();
    assert_eq!((&*asked[0].server, asked[0].message.as_str()), ("under-test", "Your name?"));
    let Wants::Form { schema } = &asked[0].wants else { panic!("it is a form") };
    assert_eq!(schema["properties"]["name"]["type"], "string");
    let declared = &own.received_of("initialize")[0]["params"]["capabilities"];
    assert_eq!(*declared, json!({ "elicitation": { "form": { "applyDefaults": true } } }));

    assert_eq!(structured(&own, "pinged").await["result"], json!({}));
    assert_eq!(structured(&own, "sample").await["error"]["code"], -32601);
}

#[tokio::test]
async fn without_a_person_the_answer_is_no() {
    let own = with(&[], None);
    assert_eq!(own.client.list().await.unwrap().faults, []);
    let declared = &own.received_of("initialize")[0]["params"]["capabilities"];
    assert_eq!(*declared, json!({}));
    assert_eq!(structured(&own, "ask").await["result"], json!({ "action": "decline" }));

    let own = with(&[], Some(Arc::new(Nobody)));
    assert_eq!(structured(&own, "ask").await["result"], json!({ "action": "cancel" }));
}

#[tokio::test]
async fn questions_within_results() {
    let own = with(&["modern"], Some(Arc::new(Ada::default())));
    let (state, other) = tokio::join!(structured(&own, "state"), own.client.call(call("ok")));
    assert_eq!(state, json!({ "q": { "action": "accept", "content": { "name": "Ada" } } }));
    assert_eq!(outcome(&other), "ok | -");
    let text = std::fs::read_to_string(own.folder.path().join("received")).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("tools/call")).collect();
    let answered: Vec<&&str> = lines.iter().filter(|line| line.contains("requestState")).collect();
    // Byte for byte, to its own call, under a new id.
    assert_eq!(answered.len(), 1, "{lines:?}");
    assert!(answered[0].contains(r#""requestState":"a\u0062\/\u00e9""#), "{}", answered[0]);
    let ids: std::collections::HashSet<String> =
        own.received_of("tools/call").iter().map(|m| m["id"].to_string()).collect();
    assert_eq!(ids.len(), 3);
    let meta = &own.received_of("tools/call")[0]["params"]["_meta"];
    let able = &meta["io.modelcontextprotocol/clientCapabilities"];
    assert_eq!(able["elicitation"], json!({ "form": {} }));

    // A server that only wants to be asked later is.
    assert_eq!(outcome(&own.client.call(call("shed")).await), "came again | -");
}

#[tokio::test]
async fn tasks_are_waited_for() {
    let own = with(&["modern"], Some(Arc::new(Ada::default())));
    assert_eq!(outcome(&own.client.call(call("task")).await), "task done | -");
    let updates = own.received_of("tasks/update");
    assert_eq!(updates.len(), 1);
    assert_eq!(updates[0]["params"]["inputResponses"]["q"]["content"]["name"], "Ada");
    assert_eq!(updates[0]["params"]["taskId"], "t1");

    let failed = outcome(&own.client.call(call("task_failed")).await);
    assert_eq!(failed, "tool_error \"unknown\": it broke");
}

/// A person who never answers holds a task until the call is cancelled; then it is called off.
#[tokio::test]
async fn a_task_is_called_off() {
    struct Never;
    impl Elicitor for Never {
        fn elicit(&self, _: Question) -> Answering<'_> {
            Box::pin(std::future::pending())
        }
    }
    let own = with(&["modern"], Some(Arc::new(Never)));
    let task = call("task");
    let cancel = task.cancel.clone();
    let canceller = async {
        own.until_received("tasks/get", 1).await;
        cancel.cancel();
    };
    let (invoked, ()) = tokio::join!(own.client.call(task), canceller);
    assert!(outcome(&invoked).starts_with("cancelled \"unknown\""), "{}", outcome(&invoked));
    let called_off = own.until_received("tasks/cancel", 1).await;
    assert_eq!(called_off[0]["params"]["taskId"], "t1");
}
