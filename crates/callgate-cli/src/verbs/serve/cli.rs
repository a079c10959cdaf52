//! What can be typed after `callgate serve`.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    cli::{GateMode, Opened},
    journal::Keeping,
};

/// `callgate serve`.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) project: Opened,
    /// Settings: a file as `callgate schema serve` says; else serve.json in the project's folder,
    /// where there is one. Options come before it
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Speak MCP on standard input and output, with the program that starts this one, and nothing
    /// else
    #[arg(long, conflicts_with_all = ["listen", "token_env", "tokens_file", "tls_cert", "allow_host", "allow_origin", "config"])]
    pub(crate) mcp_stdio: bool,
    /// Where to listen for HTTP; port 0 is any free one. Default: 127.0.0.1:7600
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// The variable with the token that callers present; any address but a loopback one needs it
    #[arg(long, value_name = "VAR")]
    pub(crate) token_env: Option<String>,
    /// The file with named tokens and their scopes
    #[arg(long, value_name = "FILE")]
    pub(crate) tokens_file: Option<PathBuf>,
    /// TLS on every connection: the certificate and those above it, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Its private key, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// A name that requests may come under (Host), beside the loopback ones
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_host: Vec<String>,
    /// A web page that may send requests (Origin), beside those of this machine
    #[arg(long, value_name = "URL")]
    pub(crate) allow_origin: Vec<String>,
    /// How much the gates mend by themselves; else as agent.json says
    #[arg(long, value_enum)]
    pub(crate) mode: Option<GateMode>,
    /// Who calls, for rules and tiers, where a token does not say: a JSON object, or @FILE
    #[arg(long, value_name = "JSON")]
    pub(crate) caller: Option<String>,
    /// MCP: approve every call that asks for it, instead of asking the client's user
    #[arg(long, conflicts_with = "deny")]
    pub(crate) yes: bool,
    /// MCP: deny every call that asks for approval, instead of asking the client's user
    #[arg(long)]
    pub(crate) deny: bool,
    /// The model of runs, provider:model or provider/model; else the one in agent.json
    #[arg(short, long, env = "CALLGATE_MODEL", value_name = "PROVIDER:MODEL")]
    pub(crate) model: Option<String>,
    /// Where the provider's API is; before what variables such as OPENAI_BASE_URL say
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Who drives runs
    #[arg(long, value_enum, value_name = "ENGINE")]
    pub(crate) engine: Option<Engine>,
    #[cfg(feature = "restate")]
    #[command(flatten)]
    pub(crate) restate: crate::verbs::restate::cli::ServedBy,
    /// Serve the agent and its tools to other agents, by A2A; the card can be read by everybody
    #[arg(long, conflicts_with_all = ["no_runs", "mcp_stdio"])]
    pub(crate) a2a: bool,
    /// Begin and drive no runs: serve tools only
    #[arg(long, conflicts_with_all = ["model", "engine"])]
    pub(crate) no_runs: bool,
    #[command(flatten)]
    pub(crate) keeping: Keeping,
    #[command(flatten)]
    pub(crate) watching: Watching,
    /// Over HTTP, one line of JSON on standard output once it listens
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no calls
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// What is told of the server's work.
#[derive(Debug, Args)]
pub(crate) struct Watching {
    /// The OpenTelemetry collector that traces go to, by OTLP over HTTP, such as
    /// http://localhost:4318; else OTEL_EXPORTER_OTLP_ENDPOINT counts, and without it none are sent
    #[arg(long, value_name = "URL")]
    pub(crate) otlp: Option<String>,
    /// Put what people, models and tools said into traces, too
    #[arg(long)]
    pub(crate) otlp_content: bool,
    /// What is logged on standard error. Default: warn
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub(crate) log_level: Option<LogLevel>,
    /// How. Default: text
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
}

/// What is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogLevel {
    /// Nothing
    Off,
    /// What keeps the server from its work
    Error,
    /// What somebody should look at
    Warn,
    /// Every request, too
    Info,
    /// Why connections broke, too
    Debug,
    /// Everything that there is
    Trace,
}

/// How it is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// A line for people
    Text,
    /// An object a line
    Json,
}

/// Who drives runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Engine {
    /// This process
    #[default]
    Embedded,
    /// Workers behind Restate (`callgate worker`), in builds with the feature restate
    Restate,
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  callgate serve                                  # runs, tools and more on http://127.0.0.1:7600
  callgate serve --mcp-stdio -C examples/support  # for a client that starts its servers itself
  CALLGATE_TOKEN=... callgate serve --listen 0.0.0.0:7600 --token-env CALLGATE_TOKEN
  callgate serve --config deploy/serve.json --json

A client's configuration:
  {\"mcpServers\": {\"support\": {\"command\": \"callgate\", \"args\": [\"serve\", \"--mcp-stdio\", \"-C\", \"/path\"]}}}

Calls of tier approve are put to the client's user, where the client can ask; --yes and --deny
answer instead. Runs wait for people: /api, `callgate runs approve`. Ctrl-C gives calls at work ten
seconds to end and leaves every run to be gone on with; a second one ends them at once.
";
