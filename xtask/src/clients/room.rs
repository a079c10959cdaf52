//! Where the clients are tried: the installed libraries, the provider, the proxy.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use super::{Language, client, row::Row};
use crate::{
    failure::Failure,
    peers::{self, Npm},
    root,
    service::Service,
    steps::Steps,
};

const FOLDER: &str = "crates/callgate-cli/tests/clients";
const CASES: &str = "tests/cases/cases.jsonl";

/// What stands between a client and the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Through {
    Nothing,
    /// The proxy, and the provider that it asks, as `name:`.
    Proxy(&'static str),
    /// The proxy, and a model that is real.
    Real,
}

/// Everything that runs ends with it.
pub(super) struct Room {
    npm: Npm,
    python: PathBuf,
    provider: Service,
    proxy: Service,
    /// What the clients saw.
    out: PathBuf,
}

impl Room {
    /// Installs the clients and starts the provider and the proxy. Nothing where the clients cannot
    /// be had.
    pub(super) fn open(steps: &mut Steps, callgate: PathBuf) -> Result<Option<Self>, Failure> {
        let npm = peers::npm(steps, "clients", &format!("{FOLDER}/package.json"))?;
        let requirements = format!("{FOLDER}/requirements.txt");
        let python = peers::pypi(steps, "clients-python", &requirements)?;
        let (Some(npm), Some(python)) = (npm, python) else { return Ok(None) };
        let out = root().join("target/clients");
        fs::create_dir_all(out.join("project"))?;
        fs::write(out.join("project/agent.json"), r#"{"name":"clients"}"#)?;
        let python = python.join("python");

        let mut command = Command::new(&python);
        command.arg(root().join(FOLDER).join("provider.py")).arg(root().join(CASES));
        let provider =
            Service::of(command, |line| line.starts_with("http://").then(|| line.to_owned()))?;

        let mut command = Command::new(callgate);
        command.args(["serve", "--listen", "127.0.0.1:0", "--json", "--quiet"]);
        command.arg("-C").arg(out.join("project"));
        for name in ["OPENAI", "ANTHROPIC"] {
            command.env(format!("{name}_BASE_URL"), &provider.address);
            command.env(format!("{name}_API_KEY"), "no-key");
        }
        let proxy = Service::of(command, |line| {
            let told: Value = serde_json::from_str(line).ok()?;
            told["parts"]["proxy"].as_str().map(str::to_owned)
        })?;
        Ok(Some(Self { npm, python, provider, proxy, out }))
    }

    /// A loop over a library, for every case.
    pub(super) fn tried(
        &self,
        steps: &mut Steps,
        language: Language,
        dialect: &'static str,
        mode: &'static str,
        upstream: Option<&'static str>,
    ) -> Result<Row, Failure> {
        let (url, model, through) = match upstream {
            None => (&self.provider.address, "", Through::Nothing),
            Some(upstream) => (&self.proxy.address, upstream, Through::Proxy(upstream)),
        };
        let mut command = self.program(language, "agent");
        command.args([dialect, mode, url, model]);
        self.looped(steps, command, |saw| Row::read(language, dialect, mode, through, saw))
    }

    /// A loop over a library with a real model, for a few cases.
    pub(super) fn asked(
        &self,
        steps: &mut Steps,
        language: Language,
        dialect: &'static str,
        mode: &'static str,
        (model, cases): (&str, usize),
    ) -> Result<Row, Failure> {
        let mut command = self.program(language, "agent");
        command.args([dialect, mode, &self.proxy.address, model]);
        command.env("CLIENT_CASES", cases.to_string());
        self.looped(steps, command, |saw| Row::read(language, dialect, mode, Through::Real, saw))
    }

    fn looped(
        &self,
        steps: &mut Steps,
        mut command: Command,
        read: impl FnOnce(&[Value]) -> Result<Row, Failure>,
    ) -> Result<Row, Failure> {
        let out = self.out.join("saw.jsonl");
        command.arg(root().join(CASES)).arg(&out);
        client(steps, "agent", command)?;
        read(&lines(&out)?)
    }

    /// The agents of the frameworks of a language.
    pub(super) fn agents(
        &self,
        steps: &mut Steps,
        language: Language,
        model: &str,
    ) -> Result<Vec<Value>, Failure> {
        let out = self.out.join("agents.jsonl");
        let mut command = self.program(language, "frameworks");
        command.args([&self.proxy.address, model]).arg(&out);
        client(steps, "frameworks", command)?;
        let saw = lines(&out)?;
        if saw.is_empty() {
            return Err(Failure::Wrong("no agent of a framework ran".to_owned()));
        }
        Ok(saw)
    }

    /// A program of the folder, with none of the developer's own keys.
    fn program(&self, language: Language, name: &str) -> Command {
        let file = |ending| root().join(FOLDER).join(format!("{name}.{ending}"));
        let mut command = match language {
            Language::Python => {
                let mut command = Command::new(&self.python);
                command.args(["-W", "ignore"]).arg(file("py"));
                command
            }
            Language::Node => {
                let mut command = Command::new(self.npm.node());
                command.arg("--no-warnings").arg(file("mjs")).arg(self.npm.file(""));
                command
            }
        };
        for name in ["OPENAI", "ANTHROPIC"] {
            command.env_remove(format!("{name}_BASE_URL")).env_remove(format!("{name}_API_KEY"));
        }
        command.env_remove("ANTHROPIC_AUTH_TOKEN").env("LANGSMITH_TRACING", "false");
        command
    }
}

fn lines(path: &Path) -> Result<Vec<Value>, Failure> {
    let text = fs::read_to_string(path)?;
    text.lines()
        .filter(|line| !line.is_empty())
        .map(|line| {
            serde_json::from_str(line)
                .map_err(|error| Failure::Wrong(format!("{}: {error}: {line}", path.display())))
        })
        .collect()
}
