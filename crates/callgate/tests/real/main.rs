//! Servers that no one here wrote: each is listed, pinned and called through the gates, and leaves
//! nothing running.
//!
//! `cargo xtask test` brings them and says where they are (`CALLGATE_PEERS`). Without them the
//! tests say that they were left out; in CI that fails.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod peers;
mod subjects;

use std::sync::Arc;

use callgate::{
    Project,
    contract::{ErrorKind, Executed},
    engine::ApproveAll,
    machine::Status,
};
use serde_json::{Value, json};

use peers::{Mark, Peers};
use subjects::Subject;

/// A server, a tool of it, arguments, and what its result holds.
async fn called(project: &Project, tool: &str, arguments: &Value) -> callgate::Called {
    let name = project
        .catalog()
        .tools()
        .find(|known| known.backend["mcp"]["tool"] == tool)
        .unwrap_or_else(|| panic!("{tool} is not among {:?}", project.catalog().names()))
        .name
        .clone();
    project.call(&name, &arguments.to_string()).approver(Arc::new(ApproveAll)).make().await.unwrap()
}

async fn tried(subject: &Subject) {
    let mark = Mark::new(subject.name);
    let folder = tempfile::tempdir().unwrap();
    (subject.prepare)(folder.path());
    let config = (subject.config)(folder.path(), &mark);
    let agent = json!({ "name": "test", "mcpServers": { subject.name: config } });
    std::fs::write(folder.path().join("agent.json"), agent.to_string()).unwrap();

    let unpinned = Project::open(folder.path()).unwrap();
    let (project, told) = unpinned.pin().await.unwrap();
    assert_eq!(told.len(), 1);
    assert!(told[0].error.is_none(), "{}: {:?}", subject.name, told[0].error);
    assert!(told[0].unusable.is_empty(), "{}: {:?}", subject.name, told[0].unusable);
    assert!(
        project.catalog().len() >= subject.tools,
        "{}: {:?}",
        subject.name,
        project.catalog().names()
    );
    let health = project.servers()[0].client().health();
    assert!(format!("{health:?}").contains(subject.version), "{}: {health:?}", subject.name);

    for (tool, arguments, holds) in (subject.calls)(folder.path()) {
        let called = called(&project, tool, &arguments).await;
        assert!(called.envelope.ok, "{} {tool} {arguments}: {}", subject.name, called.text);
        assert_eq!(called.finish.status, Status::Answered);
        assert!(
            called.text.contains(holds),
            "{} {tool}: {holds:?} in {}",
            subject.name,
            called.text
        );
    }
    if let Some((tool, arguments, path, keyword)) = &subject.wrong {
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        let refused = called(&project, tool, &arguments).await;
        let fault = refused.envelope.error.unwrap();
        assert_eq!(
            (fault.kind, fault.executed),
            (ErrorKind::SchemaMismatch, Executed::No),
            "{}",
            refused.text
        );
        let places: Vec<_> =
            fault.violations.iter().map(|v| (v.path.as_str(), v.keyword.as_str())).collect();
        assert!(places.contains(&(path, keyword)), "{}: {places:?}", subject.name);
        assert_eq!(refused.finish.calls, 0, "nothing was sent");
    }
    // Opened again, the lock is enough and the server says what it said.
    let drift = project.drift(&[]).await;
    assert!(
        !drift.drifted && drift.servers.iter().all(|s| s.error.is_none()),
        "{}: {drift:?}",
        subject.name
    );
    project.close().await;
    mark.assert_gone().await;
}

macro_rules! servers {
    ($($test:ident => $subject:expr;)*) => {
        $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $test() {
            let Some(peers) = Peers::find() else { return };
            tried(&$subject(&peers)).await;
        })*
    };
}

servers! {
    everything => subjects::everything;
    filesystem => subjects::filesystem;
    memory => subjects::memory;
    sequential_thinking => subjects::sequential_thinking;
    time => subjects::time;
    git => subjects::git;
    sqlite => subjects::sqlite;
    notion => subjects::notion;
    chrome_devtools => subjects::chrome_devtools;
}

/// A server that is there already, over HTTP.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_over_http() {
    let Some(peers) = Peers::find() else { return };
    let mark = Mark::new("everything-http");
    let served = peers.serve_everything(&mark).await;
    let mut subject = subjects::everything(&peers);
    let url = format!("http://127.0.0.1:{}/mcp", served.port());
    subject.config = Box::new(move |_, _| json!({ "type": "http", "url": url }));
    tried_over_http(&subject).await;
    served.end().await;
    mark.assert_gone().await;
}

async fn tried_over_http(subject: &Subject) {
    // The mark of the server itself is looked for once it was ended.
    tried(subject).await;
}

/// What a server leaves behind that dies at its start: a typed error, not a hang.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_dies_at_its_start_is_told() {
    let Some(peers) = Peers::find() else { return };
    let mark = Mark::new("dies");
    let folder = tempfile::tempdir().unwrap();
    // The Python SDK 2.x has no such server: the program ends with a traceback.
    let config = json!({
        "command": peers.python(), "args": ["-m", "mcp_server_sqlite"], "env": mark.env(),
    });
    let agent = json!({ "name": "test", "mcpServers": { "dies": config } });
    std::fs::write(folder.path().join("agent.json"), agent.to_string()).unwrap();
    let project = Project::open(folder.path()).unwrap();
    let (project, told) = project.pin().await.unwrap();
    let error = told[0].error.as_ref().unwrap().to_string();
    assert!(error.contains("mcp_server_sqlite"), "what it said on standard error: {error}");
    project.close().await;
    mark.assert_gone().await;
}
