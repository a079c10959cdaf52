//! Who runs the loop in `cost` and `scale`: programs that take the same options and print the same
//! line, built or installed. What they share is described in `bench/peers/rust/driver`.

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

/// Where the peers' sources and manifests are.
const FOLDER: &str = "bench/peers";

/// What a peer is written in: it decides how many runs are worth waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Rust,
    Node,
    Python,
}

/// What a peer does of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// Callgate: the whole loop behind its gates.
    Ours,
    /// The loop, with whatever checks the peer has.
    Loop,
    /// Requests only: the measure of the others.
    Bare,
}

/// A program that is ready to run.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) name: &'static str,
    pub(super) language: Language,
    pub(super) work: Work,
    /// As it is installed.
    pub(super) version: String,
    program: PathBuf,
    arguments: Vec<PathBuf>,
    more: &'static [&'static str],
    /// What stands before the provider's address in the URL that it is given.
    pub(super) login: &'static str,
    python_path: Option<PathBuf>,
}

impl Peer {
    /// The program, to be given its options.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).args(self.more);
        if let Some(path) = &self.python_path {
            // Nothing is written beside the sources.
            command.env("PYTHONPATH", path).env("PYTHONDONTWRITEBYTECODE", "1");
        }
        command
    }
}

/// Name, set below `target/peers` whose last part is its folder here, and whose versions are told.
const PYTHON: [(&str, &str, &[&str]); 4] = [
    ("pydantic-ai", "bench/pydantic-ai", &["pydantic-ai-slim"]),
    ("LangGraph", "bench/langgraph", &["langchain", "langgraph"]),
    ("OpenAI Agents, Python", "bench/openai-agents-py", &["openai-agents"]),
    ("OpenAI SDK by hand, Python", "bench/openai-py", &["openai", "jsonschema"]),
];

const NODE: [(&str, &str, &[&str]); 3] = [
    ("Vercel AI SDK", "bench/ai-sdk", &["ai", "@ai-sdk/openai"]),
    ("OpenAI Agents, Node", "bench/openai-agents-js", &["@openai/agents"]),
    ("OpenAI SDK by hand, Node", "bench/openai-js", &["openai", "ajv"]),
];

/// Name, binary, and what of the lock its version is.
const RUST: [(&str, &str, &[&str]); 5] = [
    ("bare reqwest", "bare-reqwest", &["reqwest"]),
    ("bare hyper", "bare-hyper", &["hyper"]),
    ("async-openai by hand", "async-openai", &["async-openai", "jsonschema"]),
    ("genai by hand", "genai", &["genai", "jsonschema"]),
    ("rig", "rig", &["rig"]),
];

/// Everybody, ours first. `built` is the folder of the workspace's binaries. Those that cannot be
/// installed here are left out, with a word.
pub(super) fn everybody(
    steps: &mut Steps,
    built: &Path,
    release: bool,
) -> Result<Vec<Peer>, Failure> {
    let mut all = vec![ours(built, "callgate", &[]), ours(built, "callgate, SQLite", &SQLITE)];
    all.extend(rust(steps, release)?);
    all.extend(node(steps)?);
    all.extend(python(steps)?);
    Ok(all)
}

const SQLITE: [&str; 2] = ["--journal", "sqlite"];

fn ours(built: &Path, name: &'static str, more: &'static [&'static str]) -> Peer {
    Peer {
        name,
        language: Language::Rust,
        work: Work::Ours,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        program: built.join(exe("callgate-cost")),
        arguments: Vec::new(),
        more,
        login: "",
        python_path: None,
    }
}

/// Ours with the client that asks providers elsewhere: one on this machine is asked by another, unless
/// its URL has a user name.
pub(super) fn ours_as_elsewhere(built: &Path) -> Peer {
    Peer { login: "bench:bench@", ..ours(built, "callgate, over reqwest", &[]) }
}

/// The Rust peers, built in their own workspace with the versions of its lock.
fn rust(steps: &mut Steps, release: bool) -> Result<Vec<Peer>, Failure> {
    let folder = root().join(FOLDER).join("rust");
    let target = root().join("target/bench-peers");
    let mut build = cargo(&["build", "--locked", "--bins"]);
    build.arg("--manifest-path").arg(folder.join("Cargo.toml")).arg("--target-dir").arg(&target);
    if release {
        build.arg("--release");
    }
    steps.run("peers", 60, build)?;
    let lock = fs::read_to_string(folder.join("Cargo.lock"))?;
    let built = target.join(if release { "release" } else { "debug" });
    let peer = |(name, binary, packages): (&'static str, &str, &[&str])| Peer {
        name,
        language: Language::Rust,
        work: if name.starts_with("bare") { Work::Bare } else { Work::Loop },
        version: versions(packages, |package| locked(&lock, package)),
        program: built.join(exe(&format!("callgate-bench-{binary}"))),
        arguments: Vec::new(),
        more: &[],
        login: "",
        python_path: None,
    };
    Ok(RUST.into_iter().map(peer).collect())
}

fn node(steps: &mut Steps) -> Result<Vec<Peer>, Failure> {
    let mut all = Vec::new();
    for (name, set, packages) in NODE {
        let folder = folder(set);
        let Some(npm) = peers::npm(steps, set, &format!("{folder}/package.json"))? else {
            continue;
        };
        let source = root().join(folder);
        // Node looks for packages beside the program, so the program goes to them.
        let installed = root().join("target/peers").join(set);
        let program = installed.join("main.mjs");
        fs::copy(source.join("main.mjs"), &program)?;
        fs::copy(source.with_file_name("driver.mjs"), installed.with_file_name("driver.mjs"))?;
        let version = |package: &str| {
            let text = fs::read_to_string(npm.file(package).join("package.json")).ok()?;
            let manifest: Value = serde_json::from_str(&text).ok()?;
            manifest["version"].as_str().map(str::to_owned)
        };
        all.push(Peer {
            name,
            language: Language::Node,
            work: Work::Loop,
            version: versions(packages, version),
            program: npm.node(),
            arguments: vec![program],
            more: &[],
            login: "",
            python_path: None,
        });
    }
    Ok(all)
}

fn python(steps: &mut Steps) -> Result<Vec<Peer>, Failure> {
    let mut all = Vec::new();
    for (name, set, packages) in PYTHON {
        let folder = folder(set);
        let requirements = format!("{folder}/requirements.txt");
        let Some(bin) = peers::pypi(steps, set, &requirements)? else { continue };
        let text = fs::read_to_string(root().join(requirements))?;
        let version = |package: &str| {
            let pinned =
                |line: &str| Some(line.strip_prefix(package)?.strip_prefix("==")?.to_owned());
            text.lines().find_map(pinned)
        };
        all.push(Peer {
            name,
            language: Language::Python,
            work: Work::Loop,
            version: versions(packages, version),
            program: bin.join("python"),
            arguments: vec![root().join(folder).join("main.py")],
            more: &[],
            login: "",
            python_path: Some(root().join(FOLDER)),
        });
    }
    Ok(all)
}

/// Where the sources of an installed set are.
pub(super) fn folder(set: &str) -> String {
    format!("{FOLDER}/{}", set.rsplit('/').next().unwrap_or(set))
}

/// `ai 6.0.326, @ai-sdk/openai 3.0.141`.
pub(super) fn versions(packages: &[&str], of: impl Fn(&str) -> Option<String>) -> String {
    let told = packages.iter().map(|package| match of(package) {
        Some(version) => format!("{package} {version}"),
        None => format!("{package} ?"),
    });
    told.collect::<Vec<_>>().join(", ")
}

/// The version of a package in a `Cargo.lock`; the highest where there are several.
pub(super) fn locked(lock: &str, package: &str) -> Option<String> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines();
    let mut found = None;
    while let Some(line) = lines.next() {
        if line == name {
            found = lines.next()?.strip_prefix("version = \"")?.strip_suffix('"');
        }
    }
    found.map(str::to_owned)
}

pub(super) fn exe(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_a_lock() {
        let lock = "[[package]]\nname = \"reqwest\"\nversion = \"0.12.28\"\n\n[[package]]\n\
                    name = \"reqwest\"\nversion = \"0.13.5\"\n";
        assert_eq!(locked(lock, "reqwest").as_deref(), Some("0.13.5"));
        assert_eq!(locked(lock, "request"), None);
        assert_eq!(versions(&["reqwest", "x"], |p| locked(lock, p)), "reqwest 0.13.5, x ?");
    }
}
