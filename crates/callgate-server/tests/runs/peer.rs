//! Schemathesis, a program of other people, reads the document that is served and tries everything
//! that it can think of, within its time.

use std::process::{Command, Stdio};

use serde_json::json;

use crate::house::{House, folder};

/// How long it may think, in seconds.
const TIME: &str = "75";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn schemathesis_finds_nothing() {
    let Some(program) = std::env::var_os("CALLGATE_SCHEMATHESIS") else {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "CALLGATE_SCHEMATHESIS is not set");
        eprintln!("skipped: CALLGATE_SCHEMATHESIS names no program; `cargo xtask test` brings it");
        return;
    };
    let house = House::new(&[("look", json!({})), ("refund", json!({ "amount": 1 }))]);
    let place = tempfile::tempdir().unwrap();
    let server = house.serve(folder(place.path())).await;
    // No tool takes longer than a client waits.
    house.open.send(true).unwrap();
    let url = server.url("/api/openapi.json");
    // It keeps notes of its own where it runs.
    let notes = tempfile::tempdir().unwrap();
    let here = notes.path().to_owned();
    let settings = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/runs/schemathesis.toml");
    let output = tokio::task::spawn_blocking(move || {
        Command::new(program)
            .args(["--config-file", settings, "run", &url, "--max-time", TIME])
            .current_dir(here)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    })
    .await
    .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}\n{why}");
    let document = callgate_server::runs::RunsApi::document(false);
    let paths = document["paths"].as_object().unwrap();
    let all: usize = paths.values().map(|methods| methods.as_object().unwrap().len()).sum();
    // The document itself it reads, and does not try.
    let tested = format!("Tested: {}", all - 1);
    assert!(told.contains(&tested), "it has not tried all {all} operations: {told}");
    let (status, runs) = server.get("/api/runs").await;
    assert_eq!(status, 200, "the server still answers");
    assert!(!runs["runs"].as_array().unwrap().is_empty(), "it began runs");
}
