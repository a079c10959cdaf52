//! The official SDKs' clients, each driven by a small program beside this file.

use std::{fs, process::Command};

use serde_json::{Value, json};

use super::{At, CARRIERS, ERAS, Peers, shop};
use crate::{
    binary::{Binary, until},
    cancel::assert_gone,
    project::Project,
};

/// The path of a program of this folder.
fn script(name: &str) -> String {
    format!("{}/tests/it/clients/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Has a client do everything once: list, call, be refused, see progress, cancel, call again.
fn tried(place: &str, mut client: Command, project: &Project, at: &At, revision: &str) {
    // The tool that hangs writes down its process here.
    let pids = project.path("tools/pids");
    let _ = fs::remove_file(&pids);
    client.arg(&pids);
    match at {
        At::Stdio(words) => client.args(words),
        At::Http { url, .. } => client.arg(url),
    };
    let ended = Binary::of(client).run().with(0);
    let saw: Value = serde_json::from_str(&ended.out)
        .unwrap_or_else(|error| panic!("{place}: {error}: {} {}", ended.out, ended.err));

    // The 1.x client tells the revision over HTTP only.
    if !saw["revision"].is_null() {
        assert_eq!(saw["revision"], revision, "{place}");
    }
    // The Python client that is told the revision asks nothing before its first request.
    if !saw["server"].is_null() {
        assert_eq!(saw["server"], "test", "{place}");
    }
    assert_eq!(saw["tools"], json!(["hang", "pick", "say"]), "{place}");
    assert_eq!(saw["picked"]["structuredContent"], json!({"x": "a", "n": 3}), "{place}");

    let refused = &saw["refused"];
    for (tool, structured) in [
        ("say", &refused["say"]["structuredContent"]),
        // The client would hold the envelope to the output schema.
        ("pick", &refused["pick"]["_meta"]["dev.callgate/envelope"]),
    ] {
        assert_eq!(refused[tool]["isError"], true, "{place} {tool}");
        assert_eq!(structured["error"]["kind"], "schema_mismatch", "{place} {tool}: {refused}");
        assert_eq!(structured["error"]["violations"][0]["path"], "/x", "{place} {tool}");
        let text = refused[tool]["content"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), *structured, "{place} {tool}");
    }
    assert_eq!(saw["unknown"], -32602, "{place}");

    assert!(saw["progress"].as_u64() > Some(0), "{place}: {saw}");
    assert!(saw["cancelled"].is_string(), "{place}: {saw}");
    // The connection outlives the cancelled call, and the tool does not.
    assert_eq!(saw["afterwards"], r#"{"x":"b"}"#, "{place}");
    until("the hanging tool to be named", || fs::read_to_string(&pids).ok());
    assert_gone(&pids);
}

#[test]
fn python() {
    let Some(peers) = Peers::find() else { return };
    let project = shop();
    for carrier in CARRIERS {
        let at = At::by(carrier, &project);
        for (era, revision) in ERAS {
            let mut client = peers.python(project.dir());
            client.arg(script("sdk.py")).arg(era);
            tried(&format!("{carrier} {era}"), client, &project, &at, revision);
        }
        at.end(&project);
    }
}

#[test]
fn typescript_1() {
    let Some(peers) = Peers::find() else { return };
    let project = shop();
    for carrier in CARRIERS {
        let at = At::by(carrier, &project);
        let mut client = peers.node(project.dir());
        client.arg(script("sdk.cjs")).arg(peers.modules()).args(["v1", "legacy"]);
        tried(carrier, client, &project, &at, "2025-11-25");
        at.end(&project);
    }
}

#[test]
fn typescript_2() {
    let Some(peers) = Peers::find() else { return };
    let project = shop();
    for carrier in CARRIERS {
        let at = At::by(carrier, &project);
        for (era, revision) in ERAS {
            let mut client = peers.node(project.dir());
            client.arg(script("sdk.cjs")).arg(peers.modules()).args(["v2", era]);
            tried(&format!("{carrier} {era}"), client, &project, &at, revision);
        }
        at.end(&project);
    }
}
