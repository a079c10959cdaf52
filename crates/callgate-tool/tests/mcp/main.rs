//! The MCP client against servers that keep the protocol, bend it, and break it.
#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic as its body may")]

mod http;
mod http_server;
mod mock;
mod questions;
mod stdio;
mod tools;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use callgate_contract::{Admitted, Content, Output};
use callgate_tool::{
    Env, Invoked,
    mcp::{Call, Client, ClientOptions, Lifecycle, ServerConfig, State, Timeouts, Transport},
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// Long enough for any machine; no test waits for it.
pub(crate) const LONG: Duration = Duration::from_secs(120);

pub(crate) const TIMEOUTS: Timeouts = Timeouts { start: LONG, idle: LONG, max: LONG };

pub(crate) fn env() -> Env {
    Arc::new(|name| match name {
        "TOKEN" => Some("tok-4711-secret".to_owned()),
        name => std::env::var(name).ok(),
    })
}

pub(crate) fn stdio(words: &[&str], timeouts: Timeouts) -> ServerConfig {
    ServerConfig {
        name: "under-test".into(),
        transport: Transport::Stdio {
            command: "python3".to_owned(),
            args: words.iter().map(|word| (*word).to_owned()).collect(),
            env: BTreeMap::new(),
            cwd: None,
        },
        timeouts,
        lifecycle: Lifecycle::Auto,
    }
}

pub(crate) fn client(config: ServerConfig) -> Arc<Client> {
    Client::new(config, env(), ClientOptions::default())
}

pub(crate) fn call(tool: &str) -> Call {
    Call {
        tool: tool.into(),
        arguments: Admitted::recorded("{}".into()),
        idempotency_key: Some("key-1".into()),
        repeatable: false,
        timeout: LONG,
        cancel: CancellationToken::new(),
        trace: None,
    }
}

/// An output in a line: blocks, then the structured value.
pub(crate) fn told(output: &Output) -> String {
    let blocks: Vec<&str> = output
        .content
        .iter()
        .map(|block| match block {
            Content::Text { text } => &**text,
            Content::Other { json } => json,
            Content::Image { media_type, .. } => media_type,
        })
        .collect();
    format!("{} | {}", blocks.join(" + "), output.structured.as_deref().unwrap_or("-"))
}

/// An outcome in a line: an output as above, or kind, executed and message of a failure.
pub(crate) fn outcome(invoked: &Invoked) -> String {
    match &invoked.result {
        Ok(output) => told(output),
        Err(failure) => {
            let executed = serde_json::to_string(&failure.executed).unwrap();
            format!("{} {executed}: {}", failure.kind, failure.message)
        }
    }
}

/// `<project>/../shared/mcp/mock.py`; none where it is not there, which CI does not accept.
pub(crate) fn shared_mock() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/mcp/mock.py");
    if path.is_file() {
        return Some(path);
    }
    assert!(std::env::var_os("CI").is_none(), "{} is missing", path.display());
    println!("left out: {} is not there", path.display());
    None
}

/// Our own server (`server.py`), and what it was sent.
pub(crate) struct Own {
    pub(crate) client: Arc<Client>,
    pub(crate) folder: tempfile::TempDir,
}

impl Own {
    pub(crate) fn start(flags: &[&str], timeouts: Timeouts, options: ClientOptions) -> Self {
        Self::with(flags, timeouts, options, BTreeMap::new())
    }

    pub(crate) fn with(
        flags: &[&str],
        timeouts: Timeouts,
        options: ClientOptions,
        env: BTreeMap<String, String>,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/server.py");
        let mut words = vec!["-u", script, folder.path().to_str().unwrap()];
        words.extend(flags);
        let mut config = stdio(&words, timeouts);
        if let Transport::Stdio { env: variables, .. } = &mut config.transport {
            *variables = env;
        }
        Self { client: Client::new(config, self::env(), options), folder }
    }

    /// Every message that any process of the server received.
    pub(crate) fn received(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.folder.path().join("received")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub(crate) fn received_of(&self, method: &str) -> Vec<Value> {
        self.received().into_iter().filter(|message| message["method"] == method).collect()
    }

    /// Waits until the server has received so many messages of a method.
    pub(crate) async fn until_received(&self, method: &str, count: usize) -> Vec<Value> {
        let since = Instant::now();
        loop {
            let received = self.received_of(method);
            if received.len() >= count {
                return received;
            }
            assert!(
                since.elapsed() < LONG,
                "{count} of {method} never came: {:?}",
                self.received()
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits until the client has seen the end of the server: it comes a moment after its last
    /// answer, and a call sent within that moment would have an unknown fate.
    pub(crate) async fn until_gone(&self) {
        let since = Instant::now();
        while matches!(self.client.health().state, State::Ready(_)) {
            assert!(since.elapsed() < LONG, "the end of the server is not seen");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// A process id that the server wrote down.
    pub(crate) fn pid(&self, name: &str) -> Option<i32> {
        std::fs::read_to_string(self.folder.path().join(name)).ok()?.trim().parse().ok()
    }
}
