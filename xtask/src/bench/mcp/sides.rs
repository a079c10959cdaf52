//! Clients and servers of the MCP benchmark: programs with the same job and the same two tools.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::{
    failure::Failure,
    peers, root,
    steps::{Steps, cargo},
};

/// Where the sources are.
const FOLDER: &str = "bench/peers";

/// What a side is written in: it decides how many calls are worth waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Language {
    Python,
    Node,
    Rust,
}

/// A program and its words.
#[derive(Debug, Clone)]
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) language: Language,
    words: Vec<PathBuf>,
}

impl Program {
    fn new<W: Into<PathBuf>>(
        name: &'static str,
        language: Language,
        words: impl IntoIterator<Item = W>,
    ) -> Self {
        Self { name, language, words: words.into_iter().map(Into::into).collect() }
    }
}

/// Everybody who could be had.
#[derive(Debug, Default)]
pub(super) struct Sides {
    pub(super) clients: Vec<Program>,
    pub(super) servers: Vec<Program>,
    /// Name and version.
    pub(super) versions: Vec<(String, String)>,
}

impl Sides {
    fn client<W: Into<PathBuf>>(
        &mut self,
        name: &'static str,
        language: Language,
        words: impl IntoIterator<Item = W>,
    ) {
        self.clients.push(Program::new(name, language, words));
    }

    fn version(&mut self, name: &str, version: impl Into<String>) {
        self.versions.push((name.to_owned(), version.into()));
    }
}

/// `client` with `calls` calls at `server`.
pub(super) fn command(
    client: &Program,
    server: &Program,
    [calls, in_flight, warm]: [usize; 3],
) -> Command {
    let mut words = client.words.iter();
    let mut command = Command::new(words.next().map_or(Path::new(""), PathBuf::as_path));
    command.args(words);
    command.args([calls, in_flight, warm].map(|number| number.to_string()));
    command.args(&server.words).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// Builds and installs everybody. `built` is the folder of the workspace's binaries. Those that
/// cannot be installed here are left out, with a word.
pub(super) fn everybody(steps: &mut Steps, built: &Path, release: bool) -> Result<Sides, Failure> {
    let mut sides = Sides::default();
    ours(&mut sides, built);
    rmcp(&mut sides, steps, release)?;
    typescript(&mut sides, steps)?;
    python(&mut sides, steps)?;
    Ok(sides)
}

fn exe(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}

fn ours(sides: &mut Sides, built: &Path) {
    let program = built.join(exe("callgate-mcp"));
    let words = |more: &[&str]| -> Vec<PathBuf> {
        std::iter::once(program.clone()).chain(more.iter().map(PathBuf::from)).collect()
    };
    sides.client("callgate", Language::Rust, words(&["client"]));
    sides.client("callgate, 2025-11-25", Language::Rust, words(&["client", "--legacy"]));
    sides.client("callgate, whole calls", Language::Rust, words(&["call"]));
    sides.servers.push(Program::new("callgate", Language::Rust, words(&["serve"])));
    sides.version("callgate", env!("CARGO_PKG_VERSION"));
}

fn rmcp(sides: &mut Sides, steps: &mut Steps, release: bool) -> Result<(), Failure> {
    let folder = root().join(FOLDER).join("rmcp");
    let target = root().join("target/bench-peers");
    let mut build = cargo(&["build", "--locked", "--bins"]);
    build.arg("--manifest-path").arg(folder.join("Cargo.toml")).arg("--target-dir").arg(&target);
    if release {
        build.arg("--release");
    }
    steps.run("rmcp", 60, build)?;
    let built = target.join(if release { "release" } else { "debug" });
    let client = built.join(exe("rmcp-client"));
    sides.client("rmcp", Language::Rust, [client.clone()]);
    sides.client("rmcp, 2026-07-28", Language::Rust, [client, "--modern".into()]);
    sides.servers.push(Program::new("rmcp", Language::Rust, [built.join(exe("rmcp-server"))]));
    let lock = fs::read_to_string(folder.join("Cargo.lock"))?;
    let version = lock.split_once("name = \"rmcp\"\nversion = \"").map(|(_, rest)| rest);
    sides.version("rmcp", version.and_then(|rest| rest.split('"').next()).unwrap_or("?"));
    Ok(())
}

fn typescript(sides: &mut Sides, steps: &mut Steps) -> Result<(), Failure> {
    const SET: &str = "bench/mcp-ts";
    let source = root().join(FOLDER).join("mcp-ts");
    let manifest = format!("{FOLDER}/mcp-ts/package.json");
    let Some(npm) = peers::npm(steps, SET, &manifest)? else { return Ok(()) };
    // Node looks for packages beside the program, so the programs go to them.
    let installed = root().join("target/peers").join(SET);
    for file in fs::read_dir(&source)? {
        let file = file?.path();
        if let Some(name) =
            file.file_name().filter(|_| file.extension().is_some_and(|e| e == "mjs"))
        {
            fs::copy(&file, installed.join(name))?;
        }
    }
    let words = |file: &str| [npm.node(), installed.join(file)];
    for (name, generation) in [("TypeScript SDK 2", "v2"), ("TypeScript SDK 1", "v1")] {
        sides.client(name, Language::Node, words(&format!("client-{generation}.mjs")));
        let server = words(&format!("server-{generation}.mjs"));
        sides.servers.push(Program::new(name, Language::Node, server));
    }
    for (name, package) in [
        ("TypeScript SDK 2", "@modelcontextprotocol/client"),
        ("TypeScript SDK 2", "@modelcontextprotocol/server"),
        ("TypeScript SDK 1", "@modelcontextprotocol/sdk"),
    ] {
        let manifest = fs::read_to_string(npm.file(package).join("package.json"))?;
        let manifest: Value = serde_json::from_str(&manifest).unwrap_or_default();
        let version = manifest["version"].as_str().unwrap_or("?");
        sides.version(name, format!("{package} {version}"));
    }
    Ok(())
}

fn python(sides: &mut Sides, steps: &mut Steps) -> Result<(), Failure> {
    let requirements = format!("{FOLDER}/mcp-py/requirements.txt");
    let Some(bin) = peers::pypi(steps, "bench/mcp-py", &requirements)? else { return Ok(()) };
    let source = root().join(FOLDER).join("mcp-py");
    let words = |file: &str| [bin.join("python"), source.join(file)];
    sides.client("Python SDK", Language::Python, words("client.py"));
    sides.servers.push(Program::new("Python SDK", Language::Python, words("server.py")));
    let text = fs::read_to_string(root().join(requirements))?;
    let version = text.lines().find_map(|line| line.strip_prefix("mcp=="));
    sides.version("Python SDK", format!("mcp {}", version.unwrap_or("?")));
    Ok(())
}
