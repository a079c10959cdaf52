//! The peers of the faults bench: programs that read cells and run their own agent loop.

use std::{collections::BTreeMap, fs, path::PathBuf};

use serde_json::{Value, json};

use super::SMOKE_PEERS;
use crate::{
    bench::{
        Plan,
        crew::{exe, folder, locked, versions},
    },
    failure::Failure,
    peers, root,
    steps::cargo,
};

/// The name of ours.
pub(super) const OURS: &str = "callgate";

const ALL: &[&str] = &["chat", "responses", "anthropic", "gemini"];
const OPENAI: &[&str] = &["chat", "responses"];

/// A program that is ready to run.
#[derive(Debug)]
pub(super) struct Peer {
    /// Short, for rows.
    pub(super) name: &'static str,
    /// As it is told.
    pub(super) label: &'static str,
    /// As it is installed.
    pub(super) version: String,
    command: Vec<PathBuf>,
    env: BTreeMap<&'static str, PathBuf>,
    /// What the documented options need of the environment.
    tuned: BTreeMap<&'static str, &'static str>,
    dialects: &'static [&'static str],
}

impl Peer {
    /// As the plan says it.
    pub(super) fn told(&self) -> Value {
        json!({
            "command": self.command, "env": self.env, "tuned": self.tuned,
            "dialects": self.dialects,
        })
    }
}

/// Name, label, dialects and packages whose versions are told. The set is `bench/NAME`.
type Known = (&'static str, &'static str, &'static [&'static str], &'static [&'static str]);

const PYTHON: [Known; 3] = [
    (
        "pydantic-ai",
        "Pydantic AI",
        ALL,
        &["pydantic-ai-slim", "openai", "anthropic", "google-genai"],
    ),
    (
        "langgraph",
        "LangChain",
        ALL,
        &[
            "langchain",
            "langgraph",
            "langchain-openai",
            "langchain-anthropic",
            "langchain-google-genai",
        ],
    ),
    ("openai-agents-py", "OpenAI Agents, Python", OPENAI, &["openai-agents"]),
];

const NODE: [Known; 2] = [
    (
        "ai-sdk",
        "Vercel AI SDK",
        ALL,
        &["ai", "@ai-sdk/openai", "@ai-sdk/anthropic", "@ai-sdk/google"],
    ),
    ("openai-agents-js", "OpenAI Agents, Node", OPENAI, &["@openai/agents"]),
];

/// Ours first. A smoke run has one peer a language.
pub(super) fn everybody(plan: &mut Plan) -> Result<Vec<Peer>, Failure> {
    let built = plan.built(&["callgate-bench-peers"])?;
    let mut all = vec![Peer {
        name: OURS,
        label: "Callgate",
        version: format!("callgate {}", env!("CARGO_PKG_VERSION")),
        command: vec![built.join(exe("callgate-faults"))],
        env: BTreeMap::new(),
        tuned: BTreeMap::new(),
        dialects: ALL,
    }];
    let wanted = |name: &str, smoke: bool| !smoke || SMOKE_PEERS.contains(&name);
    for known in PYTHON {
        if wanted(known.0, plan.smoke) {
            all.extend(python(plan, known)?);
        }
    }
    for known in NODE {
        if wanted(known.0, plan.smoke) {
            all.extend(node(plan, known)?);
        }
    }
    if wanted("rig", plan.smoke) {
        all.push(rig(plan)?);
    }
    Ok(all)
}

/// The SDKs of OpenAI's agents hide the reason of a failure also from a function that asks for it,
/// unless they are told that tool data may be logged.
fn tuned(name: &str) -> BTreeMap<&'static str, &'static str> {
    let shown =
        name.starts_with("openai-agents").then_some(("OPENAI_AGENTS_DONT_LOG_TOOL_DATA", "0"));
    shown.into_iter().collect()
}

/// The set below `target/peers`; its name lives as long as the program, as a step's does.
fn set(name: &str) -> &'static str {
    match name {
        "pydantic-ai" => "bench/pydantic-ai",
        "langgraph" => "bench/langgraph",
        "openai-agents-py" => "bench/openai-agents-py",
        "ai-sdk" => "bench/ai-sdk",
        _ => "bench/openai-agents-js",
    }
}

fn python(plan: &mut Plan, known: Known) -> Result<Option<Peer>, Failure> {
    let (name, label, dialects, packages) = known;
    let folder = folder(set(name));
    let requirements = format!("{folder}/requirements.txt");
    let Some(bin) = peers::pypi(&mut plan.steps, set(name), &requirements)? else {
        return Ok(None);
    };
    let pinned = fs::read_to_string(root().join(&requirements))?;
    Ok(Some(Peer {
        name,
        label,
        version: versions(packages, |package| pypi_version(&pinned, package)),
        command: vec![bin.join("python"), root().join(folder).join("faults.py")],
        env: BTreeMap::from([("PYTHONDONTWRITEBYTECODE", PathBuf::from("1"))]),
        tuned: tuned(name),
        dialects,
    }))
}

fn node(plan: &mut Plan, known: Known) -> Result<Option<Peer>, Failure> {
    let (name, label, dialects, packages) = known;
    let folder = folder(set(name));
    let Some(npm) = peers::npm(&mut plan.steps, set(name), &format!("{folder}/package.json"))?
    else {
        return Ok(None);
    };
    // Node looks for packages beside the program, so the program goes to them.
    let program = root().join("target/peers").join(set(name)).join("faults.mjs");
    fs::copy(root().join(folder).join("faults.mjs"), &program)?;
    Ok(Some(Peer {
        name,
        label,
        version: versions(packages, |package| npm_version(&npm, package)),
        command: vec![npm.node(), program],
        env: BTreeMap::from([("FAULTS_CELLS", root().join("bench/faults/node/cells.mjs"))]),
        tuned: tuned(name),
        dialects,
    }))
}

/// The version that a list of exact requirements has of a package.
fn pypi_version(pinned: &str, package: &str) -> Option<String> {
    let of = |line: &str| Some(line.strip_prefix(package)?.strip_prefix("==")?.to_owned());
    pinned.lines().find_map(of)
}

/// The version of an installed package.
fn npm_version(npm: &peers::Npm, package: &str) -> Option<String> {
    let text = fs::read_to_string(npm.file(package).join("package.json")).ok()?;
    let manifest: Value = serde_json::from_str(&text).ok()?;
    manifest["version"].as_str().map(str::to_owned)
}

/// Built in the workspace of the Rust peers, with the versions of its lock; without optimisation,
/// since nothing is timed.
fn rig(plan: &mut Plan) -> Result<Peer, Failure> {
    let folder = root().join("bench/peers/rust");
    let target = root().join("target/bench-peers");
    let mut build = cargo(&["build", "--locked", "-p", "callgate-bench-rig-faults"]);
    build.arg("--manifest-path").arg(folder.join("Cargo.toml")).arg("--target-dir").arg(&target);
    plan.steps.run("rig", 60, build)?;
    let lock = fs::read_to_string(folder.join("Cargo.lock"))?;
    Ok(Peer {
        name: "rig",
        label: "rig",
        version: versions(&["rig"], |package| locked(&lock, package)),
        command: vec![target.join("debug").join(exe("callgate-bench-rig-faults"))],
        env: BTreeMap::new(),
        tuned: BTreeMap::new(),
        dialects: ALL,
    })
}
