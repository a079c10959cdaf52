//! Many runs: listed, filtered, paged; and their life: cancelled, paused, asked for twice.

use serde_json::{Value, json};

use crate::house::House;

fn ids(list: &Value) -> Vec<String> {
    let runs = list["runs"].as_array().unwrap_or_else(|| panic!("{list}"));
    runs.iter().map(|run| run["run"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_are_listed_filtered_and_paged_by_when_they_came() {
    let Some(house) = House::new().await else { return };
    let _worker = house.worker();
    let server = house.serve(&[]);
    let mut runs = Vec::new();
    for goal in ["Refund order 1", "Refund order 2", "It's 'quoted' 100%"] {
        runs.push(server.begin(goal).await);
    }
    for run in &runs {
        server.waits(run, "refund").await;
    }
    server.bring_to_its_end(&runs[0]).await;
    runs.reverse();
    let list = async |query: &str| {
        let (status, list) = server.get(&format!("/api/runs{query}")).await;
        assert_eq!(status, 200, "{query}: {list}");
        list
    };
    let all = list("").await;
    assert_eq!(ids(&all), runs);
    assert_eq!(
        (&all["runs"][0]["goal"], &all["runs"][0]["agent"]),
        (&json!("It's 'quoted' 100%"), &json!("clerk"))
    );
    for (query, wanted) in [
        ("?state=waiting", &runs[..2]),
        ("?state=answered", &runs[2..]),
        ("?state=answered&state=waiting", &runs[..]),
        ("?state=failed", &[]),
        ("?agent=clerk", &runs[..]),
        ("?agent=cl%27erk", &[]),
        ("?tool=ask_user", &runs[2..]),
        ("?tool=look", &runs[..]),
        ("?fault=schema_mismatch", &[]),
        ("?text=ORDER", &runs[1..]),
        ("?text=%27quoted%27", &runs[..1]),
        ("?parent=x", &[]),
        ("?since=9000000000000", &[]),
        ("?since=1000", &runs[..]),
    ] {
        assert_eq!(ids(&list(query).await), wanted, "{query}");
    }
    let (mut paged, mut next) = (Vec::new(), String::new());
    loop {
        let page = list(&format!("?limit=1{next}")).await;
        assert_eq!(ids(&page).len(), 1);
        paged.extend(ids(&page));
        match page["next"].as_str() {
            Some(cursor) => next = format!("&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(paged, runs);
    let cursor = list("?limit=2").await["next"].as_str().unwrap().to_owned();
    assert_eq!(ids(&list(&format!("?cursor={cursor}")).await), runs[2..]);
    let (status, agents) = server.get("/api/agents").await;
    let tools = &agents["agents"][0]["tools"];
    assert_eq!((status, tools), (200, &json!(["ask_user", "look", "read_result", "refund"])));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_cancelled_paused_and_asked_for_once() {
    let Some(house) = House::new().await else { return };
    let _worker = house.worker();
    let server = house.serve(&[]);
    let go = async |run: &str, what: &str| {
        let (status, seen) = server.post(&format!("/api/runs/{run}/{what}"), &json!({})).await;
        assert_eq!(status, 200, "{what}: {seen}");
    };
    let run = server.begin("Refund order 1").await;
    server.waits(&run, "refund").await;
    go(&run, "pause").await;
    server.until(&run, "paused").await;
    go(&run, "pause").await;
    go(&run, "resume").await;
    server.until(&run, "waiting").await;
    // What waits for people waits on.
    go(&run, "resume").await;
    let delete = server.web.delete(format!("{}/api/runs/{run}", server.base));
    let (status, problem) = server.send(delete).await;
    assert_eq!((status, &problem["code"]), (409, &json!("run_driven")), "{problem}");
    let mut events = server.watch(&run, None).await;
    go(&run, "cancel").await;
    assert_eq!(server.until(&run, "cancelled").await["finish"]["status"], "cancelled");
    events.until("end").await;
    assert_eq!(house.books().iter().filter(|line| line.starts_with("refund ")).count(), 0);

    // A key is one run, from whichever server it is asked for.
    let other = house.serve(&[]);
    let keyed = async |server: &crate::house::Server, goal: &str| {
        let request = server.web.post(format!("{}/api/runs?wait=60", server.base));
        let request = request.header("content-type", "application/json");
        let request = request.header("idempotency-key", "order-2");
        server.send(request.body(json!({ "goal": goal }).to_string())).await
    };
    let (status, first) = keyed(&server, "Refund order 2").await;
    assert_eq!((status, &first["state"]), (201, &json!("waiting")), "{first}");
    let (status, again) = keyed(&other, "Refund order 2").await;
    assert_eq!((status, &again["run"]), (200, &first["run"]), "{again}");
    let (status, problem) = keyed(&other, "Refund order 3").await;
    assert_eq!((status, &problem["code"]), (409, &json!("key_reused")), "{problem}");
    let (status, problem) = server.get("/api/runs/nobody").await;
    assert_eq!((status, &problem["code"]), (404, &json!("unknown_run")), "{problem}");
    let (status, problem) = server.get("/api/runs/x%27%20OR%201%3D1").await;
    assert_eq!((status, &problem["code"]), (404, &json!("unknown_run")), "{problem}");
}
