//! The settings of the server: a file, and what is said on the command line before it.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use callgate::contract::{Mistake, Mode, catalog::Source, schema::Schema};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::cli::{Engine, LogFormat, LogLevel, Serve};
use crate::failure::Failure;

/// The file's name in a project.
const FILE: &str = "serve.json";

/// How the server is set (`serve.json`).
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "Callgate server")]
pub(crate) struct Config {
    /// Where the schema of this file is, for editors.
    #[serde(rename = "$schema")]
    pub(crate) schema: Option<String>,
    /// Where to listen, as address:port; port 0 is any free one. Default: 127.0.0.1:7600.
    pub(crate) listen: Option<String>,
    /// The variable with the token that callers present.
    pub(crate) token_env: Option<String>,
    /// The file with named tokens and their scopes, beside this file.
    pub(crate) tokens_file: Option<PathBuf>,
    /// How often a token may be used, where its own entry does not say.
    pub(crate) rate: Option<Rate>,
    /// TLS on every connection.
    pub(crate) tls: Option<Tls>,
    /// Names that requests may come under (`Host`), beside the loopback ones.
    pub(crate) allow_hosts: Vec<String>,
    /// Web pages that may send requests (`Origin`), beside those of this machine.
    pub(crate) allow_origins: Vec<String>,
    /// How much the gates mend by themselves; else as agent.json says.
    pub(crate) mode: Option<Mode>,
    /// Who calls, for rules and tiers, where a token does not say.
    pub(crate) caller: Option<Map<String, Value>>,
    /// How long calls at work have to end once the server is told to stop, in seconds. Default: 10.
    pub(crate) drain_seconds: Option<u64>,
    /// The tools for MCP clients, at /mcp.
    pub(crate) mcp: Mcp,
    /// Runs over HTTP, at /api.
    pub(crate) runs: Runs,
    /// The agent for other agents, at /a2a.
    pub(crate) a2a: A2a,
    /// The inspector, at /.
    pub(crate) ui: Ui,
    /// The gate proxy, at /v1: endpoints of OpenAI and Anthropic with gates behind them.
    pub(crate) proxy: Proxy,
    /// Metrics, at /metrics, and traces.
    pub(crate) telemetry: Telemetry,
    /// What is logged on standard error.
    pub(crate) log: Log,
}

/// Metrics and traces.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Telemetry {
    /// Whether metrics are served. Default: yes.
    pub(crate) metrics: bool,
    /// The collector that traces go to, by OTLP over HTTP, such as http://localhost:4318; else the
    /// variable OTEL_EXPORTER_OTLP_ENDPOINT counts, and without it none are sent.
    pub(crate) otlp: Option<String>,
    /// Whether traces have what people, models and tools said. Default: no.
    pub(crate) content: bool,
    /// The service's name. Default: callgate.
    pub(crate) service: Option<String>,
}

impl Default for Telemetry {
    fn default() -> Self {
        Self { metrics: true, otlp: None, content: false, service: None }
    }
}

/// What is logged.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Log {
    /// From which level. Default: warn.
    pub(crate) level: Option<LogLevel>,
    /// As what. Default: text.
    pub(crate) format: Option<LogFormat>,
}

/// How often a token may be used.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Rate {
    /// Requests a second, over time.
    #[schemars(range(min = 0))]
    pub(crate) per_second: f64,
    /// Requests at once, after a silence.
    #[schemars(range(min = 1))]
    pub(crate) burst: u32,
}

/// TLS.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Tls {
    /// The certificate and those above it, as PEM, beside this file.
    pub(crate) cert: PathBuf,
    /// Its private key, as PEM, beside this file.
    pub(crate) key: PathBuf,
}

/// The tools for MCP clients.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Mcp {
    /// Whether they are served. Default: yes.
    pub(crate) enabled: bool,
    /// Who answers calls of tier approve. Default: the client's user.
    pub(crate) approvals: Approvals,
}

impl Default for Mcp {
    fn default() -> Self {
        Self { enabled: true, approvals: Approvals::default() }
    }
}

/// The agent for other agents.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct A2a {
    /// Whether it is served. Default: no; the card, which names the tools, needs no token.
    pub(crate) enabled: bool,
    /// Where others reach it, as https://host; else the host of the request that asks for the card.
    pub(crate) public_url: Option<String>,
    /// Whether peers of version 0.3 are served too. Default: no.
    pub(crate) v03: bool,
    /// Whether tools can be called directly, without a model. Default: yes.
    pub(crate) skills: bool,
    /// The agent's own version. Default: 1.0.0.
    pub(crate) version: Option<String>,
}

impl Default for A2a {
    fn default() -> Self {
        Self { enabled: false, public_url: None, v03: false, skills: true, version: None }
    }
}

/// The inspector.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Ui {
    /// Whether it is served. Default: yes, where runs are.
    pub(crate) enabled: bool,
}

impl Default for Ui {
    fn default() -> Self {
        Self { enabled: true }
    }
}

/// Who answers calls of tier approve.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Approvals {
    /// The client's user, where the client can ask.
    #[default]
    Client,
    /// Nobody: every such call runs.
    Yes,
    /// Nobody: none of them does.
    Deny,
}

/// Runs.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Runs {
    /// Whether runs are begun here. Default: where the agent has a model, or Restate drives them.
    pub(crate) enabled: Option<bool>,
    /// The model, provider:model; else the one in agent.json.
    pub(crate) model: Option<String>,
    /// Folders of further agents, beside this file; each is a project with an agent.json.
    pub(crate) agents: Vec<PathBuf>,
    /// Who drives them. Default: this process.
    pub(crate) engine: Option<Engine>,
    /// With the engine restate: where it is, and the workers' services.
    pub(crate) restate: Restate,
    /// The folder that they are kept in, beside this file; else .callgate in the project's folder.
    pub(crate) journal: Option<PathBuf>,
    /// Runs that are driven at the same time; further ones wait for their turn. Default: 256.
    #[schemars(range(min = 1))]
    pub(crate) max: Option<usize>,
    /// Runs that may wait for their turn; further ones are refused. Default: 10000.
    pub(crate) max_waiting: Option<usize>,
    /// Whether the bytes that go to the model's provider and come back are kept with the run,
    /// without headers. Default: yes.
    pub(crate) keep_wire: Option<bool>,
}

/// Where Restate is.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Restate {
    /// Where it takes requests. Default: http://127.0.0.1:8080.
    pub(crate) ingress: Option<String>,
    /// Its admin API, which has the tables that runs are read from. Default: http://127.0.0.1:9070.
    pub(crate) admin: Option<String>,
    /// The workers' service of the project's agent. Default: CallgateRun.
    pub(crate) service: Option<String>,
    /// Those of further agents, by the agent's name: each agent's workers have one of their own.
    pub(crate) services: BTreeMap<String, String>,
}

/// The gate proxy.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Proxy {
    /// Whether it is served. Default: yes.
    pub(crate) enabled: bool,
    /// The model of requests that name none, provider:model; else the one of runs.
    pub(crate) model: Option<String>,
    /// Other names for models, to provider:model, for applications that name another one; `*` is
    /// every name that is neither here nor provider:model.
    pub(crate) aliases: BTreeMap<String, String>,
    /// The models that may be asked for beside these, provider:model or a beginning of it and `*`.
    /// Default: any but scripts.
    pub(crate) models: Option<Vec<String>>,
    /// How often the model is asked for one answer, the first time included. Default: 4.
    #[schemars(range(min = 1))]
    pub(crate) attempts: Option<u32>,
    /// No further attempt once an answer has cost so many tokens.
    pub(crate) tokens: Option<u64>,
    /// How long an answer may take, with all its attempts. Default: 600.
    #[schemars(range(min = 1))]
    pub(crate) seconds: Option<u64>,
    /// The longest request, in bytes. Default: 33554432.
    pub(crate) max_body_bytes: Option<usize>,
    /// Requests at the same time; further ones are refused. Default: 1024.
    #[schemars(range(min = 1))]
    pub(crate) max_requests: Option<usize>,
}

impl Default for Proxy {
    fn default() -> Self {
        Self {
            enabled: true,
            model: None,
            aliases: BTreeMap::new(),
            models: None,
            attempts: None,
            tokens: None,
            seconds: None,
            max_body_bytes: None,
            max_requests: None,
        }
    }
}

impl Config {
    /// The settings of the file that is named, or of the project's, where there is one; and the
    /// folder that its paths are beside.
    pub(super) fn of(serve: &Serve) -> Result<(Self, PathBuf), Failure> {
        let own = serve.project.project.dir.join(FILE);
        let path = match &serve.config {
            Some(path) => path.clone(),
            None if !serve.mcp_stdio && own.is_file() => own,
            None => return Ok((Self::default(), serve.project.project.dir.clone())),
        };
        let text = std::fs::read_to_string(&path)
            .map_err(|error| Failure::io(&format!("cannot read {}", path.display()), &error))?;
        let shown = path.display().to_string();
        let config = Self::read(&shown, &text).map_err(|found| Failure::mistakes(&found))?;
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        Ok((config, folder))
    }

    /// Reads the file: every mistake has its place.
    fn read(file: &str, text: &str) -> Result<Self, Vec<Mistake>> {
        let source = Source::parse(file, text).map_err(|mistake| vec![mistake])?;
        let schema = Schema::compile(schema()).map_err(|faults| {
            faults.into_iter().map(|f| source.mistake("", f.message, None)).collect::<Vec<_>>()
        })?;
        let mistakes = source.judge(&schema);
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        serde_json::from_value(source.doc.root().to_value())
            .map_err(|error| vec![source.mistake("", error.to_string(), None)])
    }
}

/// The schema of the file.
pub(crate) fn schema() -> Value {
    schemars::generate::SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<Config>()
        .to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_have_their_place() {
        let text = "{\n  \"listen\": \"127.0.0.1:0\",\n  \"runs\": { \"maximum\": 3 }\n}";
        let mistakes = Config::read("serve.json", text).unwrap_err();
        assert_eq!(mistakes.len(), 1, "{mistakes:?}");
        assert_eq!((mistakes[0].line, mistakes[0].pointer.as_str()), (3, "/runs/maximum"));
        let example = include_str!("../../../../../packaging/serve.json");
        assert_eq!(Config::read("serve.json", example).unwrap().drain_seconds, Some(10));
        let empty = Config::read("serve.json", "{}").unwrap();
        assert!(empty.mcp.enabled && empty.runs.enabled.is_none());
    }
}
