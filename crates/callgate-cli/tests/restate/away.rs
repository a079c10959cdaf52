//! Restate, or its workers, not there: what is said, and that it goes on by itself.

use serde_json::json;

use crate::{house::House, support::until};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_missing_is_told_and_served_once_it_is_there() {
    let Some(mut house) = House::without_restate() else { return };
    let server = house.serve(&[]);
    let ready = async |wanted: u16, part: &str| {
        until(&format!("/readyz to say {part:?}"), || async {
            let (status, says) = server.ready().await;
            (status == wanted && says.contains(part)).then_some(())
        })
        .await;
    };
    ready(503, "Restate cannot be reached").await;
    assert_eq!(server.get("/healthz").await.0, 200);
    let goal = json!({ "goal": "Refund order 1" });
    for (status, problem) in [
        server.post("/api/runs", &goal).await,
        server.get("/api/runs").await,
        server.get("/api/runs/run-1").await,
        server.get("/api/runs/run-1/events").await,
        server.post("/api/runs/run-1/cancel", &json!({})).await,
        server.post("/api/runs/run-1/approve", &json!({ "call": "c" })).await,
        server.get("/api/runs/run-1/export").await,
    ] {
        assert_eq!((status, &problem["code"]), (503, &json!("engine_unreachable")), "{problem}");
        assert!(problem["detail"].as_str().unwrap().contains("127.0.0.1"), "{problem}");
    }
    // What needs no runs is served all the same.
    assert_eq!(server.get("/api/catalog").await.0, 200);

    house.restate.up().await;
    ready(503, "callgate worker").await;
    let (status, problem) = server.post("/api/runs", &goal).await;
    assert_eq!((status, &problem["code"]), (503, &json!("no_worker")), "{problem}");

    let worker = house.worker();
    ready(200, "ready").await;
    let run = server.begin("Refund order 1").await;
    let mut events = server.watch(&run, None).await;
    let seen = events.until("approvalRequested").await;

    // A worker that is gone: what is there is shown, and what is begun is kept.
    worker.kill();
    assert_eq!(server.waits(&run, "refund").await["arguments"], r#"{"amount":17}"#);
    let kept = server.begin("Refund order 2").await;
    let (_, shown) = server.get(&format!("/api/runs/{kept}")).await;
    assert_eq!((&shown["state"], &shown["events"]), (&json!("running"), &json!(0)), "{shown}");
    assert!(shown["trouble"].is_string(), "{shown}");
    let (_, list) = server.get("/api/runs?state=running").await;
    assert_eq!(list["runs"][0]["run"], *kept, "{list}");
    let (status, problem) = server.get(&format!("/api/runs/{kept}/doctor")).await;
    assert_eq!((status, &problem["code"]), (503, &json!("no_worker")), "{problem}");
    // One that nobody has begun is ended without them.
    let (status, seen_by_us) = server.post(&format!("/api/runs/{kept}/cancel"), &json!({})).await;
    assert_eq!(status, 200, "{seen_by_us}");
    server.until(&kept, "cancelled").await;

    // Restate is killed under a stream, and comes back: the stream goes on.
    house.restate.kill();
    ready(503, "Restate cannot be reached").await;
    house.restate.up().await;
    let _worker = house.worker();
    ready(200, "ready").await;
    let mut fresh = server.watch(&run, Some(*seen.last().unwrap())).await;
    // The run belongs to the build, which is the same: the new address has it after the next try.
    let (old, new, ended) =
        tokio::join!(events.until("end"), fresh.until("end"), server.bring_to_its_end(&run));
    assert_eq!(old, new);
    let all: Vec<u64> = seen.into_iter().chain(new).collect();
    assert_eq!(all, (0..ended["events"].as_u64().unwrap()).collect::<Vec<_>>());
}
