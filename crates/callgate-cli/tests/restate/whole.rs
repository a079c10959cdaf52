//! A whole run over HTTP, what is told of it, and servers that come and go meanwhile.

use serde_json::{Value, json};

use crate::house::House;

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_begun_watched_approved_answered_and_examined() {
    let Some(house) = House::new().await else { return };
    let _worker = house.worker();
    let server = house.serve(&[]);
    let run = server.begin("Refund order 17").await;
    let mut events = server.watch(&run, None).await;
    let seen = events.until("approvalRequested").await;
    assert_eq!(seen, (0..seen.len() as u64).collect::<Vec<_>>());
    let wait = server.waits(&run, "refund").await;
    assert_eq!(wait["arguments"], r#"{"amount":17}"#);

    // What is wrong with a word is told as it is everywhere.
    let path = |what: &str| format!("/api/runs/{run}/{what}");
    let code = |(status, problem): (u16, Value)| (status, problem["code"].clone());
    let call = &wait["call"];
    for (what, word, problem) in [
        ("approve", json!({ "call": "nobody" }), "not_waiting"),
        ("answer", json!({ "call": call, "text": "x" }), "other_word"),
        ("approve", json!({ "call": call, "binding": "other" }), "other_binding"),
        ("approve", json!({ "call": call, "arguments": { "amount": 1000 } }), "edit_refused"),
    ] {
        let refused = code(server.post(&path(what), &word).await);
        assert_eq!(refused, (409, json!(problem)), "{what} {word}");
    }
    // An edit goes through the gates and is asked about again.
    let edit = json!({ "call": call, "arguments": { "amount": 12 } });
    assert_eq!(server.post(&path("approve"), &edit).await.0, 200);
    events.until("approvalRequested").await;
    let wait = server.waits(&run, "refund").await;
    assert_eq!(wait["arguments"], r#"{"amount":12}"#);
    let ended = server.bring_to_its_end(&run).await;
    assert_eq!(ended["finish"]["text"], "All done.");
    assert_eq!((&ended["drivenHere"], &ended["trouble"]), (&json!(false), &Value::Null));
    let positions = events.until("end").await;
    let last = *positions.last().unwrap();
    assert_eq!(last + 1, ended["events"].as_u64().unwrap());
    let again = json!({ "call": wait["call"] });
    assert_eq!(code(server.post(&path("approve"), &again).await), (409, json!("already_decided")));
    let (status, _) = server.post(&path("cancel"), &json!({})).await;
    assert_eq!(status, 409);

    // Of a run that is over nothing follows.
    let url = format!("{}{}?after={last}", server.base, path("events"));
    let stream = server.web.get(&url).header("accept", "text/event-stream").send().await.unwrap();
    assert_eq!(stream.status(), 204);
    let (_, page) = server.get(&format!("{}?after=2&limit=3", path("events"))).await;
    let places: Vec<_> = page["events"].as_array().unwrap().iter().map(|e| &e["seq"]).collect();
    assert_eq!((places, &page["isEnd"]), (vec![&json!(3), &json!(4), &json!(5)], &json!(false)));

    // Everything is derived again from what Restate has, and taken along.
    let (status, replayed) = server.post(&path("replay"), &json!({})).await;
    assert_eq!((status, &replayed["holds"]), (200, &json!(true)), "{replayed}");
    assert_eq!(server.get(&path("doctor")).await.0, 200);
    let (status, inspection) = server.get(&path("inspection")).await;
    assert_eq!(status, 200, "{inspection}");
    let (status, file) = server.get(&path("export")).await;
    assert_eq!(status, 200);
    let file = file.as_str().unwrap().to_owned();
    let read = callgate::engine::runfile::read(&mut file.as_bytes()).unwrap();
    assert_eq!(read.lines.len() as u64, last + 1);
    assert_eq!(read.header.catalog.len(), 4, "{}", read.header_text);

    // A fork goes on from the hop that asked for the refund.
    let (status, fork) = server.post(&path("fork"), &json!({ "hop": 2 })).await;
    assert_eq!(status, 201, "{fork}");
    let forked = fork["run"].as_str().unwrap();
    server.bring_to_its_end(forked).await;
    let replay = server.post(&format!("/api/runs/{forked}/replay"), &json!({})).await.1;
    assert_eq!(replay["holds"], true, "{replay}");
    let other = json!({ "hop": 1, "model": "openai:other" });
    assert_eq!(code(server.post(&path("fork"), &other).await), (409, json!("model_unavailable")));
    assert_eq!(
        code(server.post(&path("fork"), &json!({ "hop": 9 })).await),
        (409, json!("no_hop"))
    );
    let books = house.books();
    let looks = books.iter().filter(|line| line.starts_with("look ")).count();
    assert_eq!((looks, books.len()), (1, 3), "the fork looked no second time: {books:?}");

    // What it does not do is said.
    let import = server.web.post(format!("{}/api/runs/import", server.base));
    let import = import.header("content-type", "application/x-ndjson").body(file);
    assert_eq!(code(server.send(import).await), (501, json!("engine_unsupported")));
    // And a run that is over can be forgotten.
    let delete = server.web.delete(format!("{}/api/runs/{run}", server.base));
    let (status, removed) = server.send(delete).await;
    assert_eq!((status, &removed["removed"]), (200, &json!([run])), "{removed}");
    assert_eq!(code(server.get(&format!("/api/runs/{run}")).await), (404, json!("unknown_run")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_while_a_run_waits_loses_nothing() {
    let Some(house) = House::new().await else { return };
    let _worker = house.worker();
    let server = house.serve(&[]);
    let run = server.begin("Refund order 18").await;
    let mut events = server.watch(&run, None).await;
    let before = events.until("approvalRequested").await;
    server.process.kill();

    let server = house.serve(&[]);
    server.until(&run, "waiting").await;
    let last = *before.last().unwrap();
    let mut events = server.watch(&run, Some(last)).await;
    let (watched, ended) = tokio::join!(events.until("end"), server.bring_to_its_end(&run));
    let all: Vec<u64> = before.into_iter().chain(watched).collect();
    // From before and after: every position once, in order.
    assert_eq!(all, (0..ended["events"].as_u64().unwrap()).collect::<Vec<_>>());
    // Two servers at a time show the same, and nothing was done twice.
    let other = house.serve(&[]);
    assert_eq!(other.until(&run, "answered").await, ended);
    assert_eq!(house.books().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_speaks_a2a_over_runs_of_restate() {
    let Some(house) = House::new().await else { return };
    let _worker = house.worker();
    let server = house.serve(&["--a2a"]);
    let (status, card) = server.get("/.well-known/agent-card.json").await;
    assert_eq!((status, &card["name"]), (200, &json!("clerk")), "{card}");
    let send = async |message: Value| {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage",
            "params": { "message": message } });
        let request = server.web.post(format!("{}/a2a/v1/", server.base));
        let request =
            request.header("a2a-version", "1.0").header("content-type", "application/json");
        let (status, answer) = server.send(request.body(body.to_string())).await;
        assert_eq!(status, 200, "{answer}");
        answer["result"]["task"].clone()
    };
    let words =
        json!({ "messageId": "m1", "role": "ROLE_USER", "parts": [{ "text": "Refund it" }] });
    let task = send(words.clone()).await;
    assert_eq!(task["status"]["state"], "TASK_STATE_INPUT_REQUIRED", "{task}");
    // The same message is the same task.
    assert_eq!(send(words).await["id"], task["id"]);
    let run = task["id"].as_str().unwrap();
    let ended = server.bring_to_its_end(run).await;
    assert_eq!(ended["goal"], "Refund it");
}
