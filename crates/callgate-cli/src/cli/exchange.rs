//! What can be typed about contracts that come from elsewhere, and about catalogs that go there.

use std::path::PathBuf;

use callgate::contract::export::{EXPORTERS, Exporter};
use clap::{
    Args, Subcommand, ValueEnum,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};

use super::InDir;

/// `callgate import`.
#[derive(Debug, Args)]
pub(crate) struct Import {
    #[command(subcommand)]
    pub(crate) what: ImportVerb,
}

/// What to make contracts of.
#[derive(Debug, Subcommand)]
pub(crate) enum ImportVerb {
    /// From an OpenAPI document (3.0 to 3.2, JSON or YAML): a contract an operation, called over HTTP
    #[command(after_long_help = OPENAPI_EXAMPLES)]
    Openapi(ImportOpenapi),
    /// From an MCP server of the project, a tools/list result or a callgate.lock
    #[command(after_long_help = MCP_EXAMPLES)]
    Mcp(ImportMcp),
    /// From OpenAI tools (Chat Completions or Responses), or a request that has them
    #[command(after_long_help = TOOLS_EXAMPLES)]
    Openai(ImportTools),
    /// From Anthropic tools, or a request that has them
    #[command(after_long_help = TOOLS_EXAMPLES)]
    Anthropic(ImportTools),
    /// From Gemini function declarations, or a request that has them
    #[command(after_long_help = TOOLS_EXAMPLES)]
    Gemini(ImportTools),
}

impl ImportVerb {
    pub(crate) fn writing(&self) -> &Writing {
        match self {
            Self::Openapi(openapi) => &openapi.writing,
            Self::Mcp(mcp) => &mcp.writing,
            Self::Openai(tools) | Self::Anthropic(tools) | Self::Gemini(tools) => &tools.writing,
        }
    }
}

/// Which contracts are written, and where.
#[derive(Debug, Args)]
pub(crate) struct Writing {
    #[command(flatten)]
    pub(crate) project: InDir,
    /// The folder for the contract files; else the folder tools of the project
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Only what this names: a name or a pattern with * and ?; may be given several times
    #[arg(long, value_name = "GLOB")]
    pub(crate) only: Vec<String>,
    /// What every name is to begin with
    #[arg(long, value_name = "TEXT")]
    pub(crate) prefix: Option<String>,
    /// Write over files that are there and differ
    #[arg(long)]
    pub(crate) force: bool,
    /// Say what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The report as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `callgate import openapi`.
#[derive(Debug, Args)]
pub(crate) struct ImportOpenapi {
    /// The document, - for standard input
    pub(crate) file: PathBuf,
    /// Where the service is, in the stead of the document's servers; may hold ${NAME}
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// What the names of environment variables begin with
    #[arg(long, value_name = "NAME", default_value = "API")]
    pub(crate) env_prefix: String,
    /// Make no output schemas: for a service that does not keep to its own document
    #[arg(long)]
    pub(crate) no_output: bool,
    #[command(flatten)]
    pub(crate) writing: Writing,
}

/// `callgate import mcp`.
#[derive(Debug, Args)]
pub(crate) struct ImportMcp {
    /// A server of the project, asked now (SERVER or mcp:SERVER); else a file with a tools/list
    /// result or a callgate.lock, - for standard input
    pub(crate) from: String,
    /// With a tools/list result: the server of the project that calls go to
    #[arg(long, value_name = "SERVER")]
    pub(crate) server: Option<String>,
    /// Leave output schemas out: those of a server's tools then stay what callgate.lock says
    #[arg(long)]
    pub(crate) no_output: bool,
    #[command(flatten)]
    pub(crate) writing: Writing,
}

/// `callgate import openai`, `anthropic` and `gemini`.
#[derive(Debug, Args)]
pub(crate) struct ImportTools {
    /// An array of tools, or a request with one, - for standard input
    pub(crate) file: PathBuf,
    /// Who does the work: a backend as contracts have it, $TOOL in its texts for the tool's name,
    /// or @FILE
    #[arg(long, value_name = "JSON")]
    pub(crate) backend: Option<String>,
    #[command(flatten)]
    pub(crate) writing: Writing,
}

/// `callgate export`.
#[derive(Debug, Args)]
#[command(after_long_help = EXPORT_EXAMPLES)]
pub(crate) struct Export {
    /// The tools, by name; else all
    pub(crate) tools: Vec<String>,
    /// As what
    #[arg(long, value_parser = export_to(), value_name = "FORMAT")]
    pub(crate) to: ExportTo,
    #[command(flatten)]
    pub(crate) project: InDir,
    /// Tools from elsewhere: a contract, an MCP tools/list result, an array of a provider's tools,
    /// a callgate.lock, or a folder of them
    #[arg(long, value_name = "PATH")]
    pub(crate) from: Option<PathBuf>,
    /// The file, or a folder for it; else standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// For a provider to hold the schema while it decodes, where it can
    #[arg(long)]
    pub(crate) strict: bool,
    /// What the whole is called; else the agent's name
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// What the whole is, in a sentence
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// The version of the whole
    #[arg(long, value_name = "VERSION")]
    pub(crate) package_version: Option<String>,
    /// Where it is served
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Its name in the MCP registry, such as io.example/tickets
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The URI of the A2A extension that holds the schemas; else made from --url
    #[arg(long, value_name = "URI")]
    pub(crate) extension: Option<String>,
    /// Exit with 7 when something is lost
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) deny: Option<DenyExport>,
    /// The report as one JSON object, with the text in it where no --out is given
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is no good export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DenyExport {
    /// One that does not hold all of the contracts
    Losses,
}

/// As what a catalog is written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ExportTo {
    /// Definitions, as a provider takes them.
    Provider(Provider),
    /// The catalog in the words of another world.
    Catalog(&'static Exporter),
}

/// Whose definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Provider {
    Openai,
    OpenaiResponses,
    Anthropic,
    Gemini,
    Ollama,
    Mcp,
}

impl Provider {
    const ALL: [Self; 6] = [
        Self::Openai,
        Self::OpenaiResponses,
        Self::Anthropic,
        Self::Gemini,
        Self::Ollama,
        Self::Mcp,
    ];

    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::OpenaiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
            Self::Mcp => "mcp",
        }
    }

    fn about(self) -> &'static str {
        match self {
            Self::Openai => "tools of Chat Completions",
            Self::OpenaiResponses => "tools of Responses",
            Self::Anthropic => "tools of Messages",
            Self::Gemini => "function declarations of generateContent",
            Self::Ollama => "tools of its native chat",
            Self::Mcp => "a tools/list result",
        }
    }
}

impl ExportTo {
    fn named(name: &str) -> Option<Self> {
        let provider = Provider::ALL.into_iter().find(|provider| provider.name() == name);
        let exporter = || callgate::contract::export::by_name(name).map(Self::Catalog);
        provider.map(Self::Provider).or_else(exporter)
    }

    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Provider(provider) => provider.name(),
            Self::Catalog(exporter) => exporter.name,
        }
    }
}

/// The providers, and whatever exporters there are.
fn export_to() -> impl TypedValueParser<Value = ExportTo> {
    let providers = Provider::ALL.map(|p| PossibleValue::new(p.name()).help(p.about()));
    let exporters = EXPORTERS.iter().map(|e| PossibleValue::new(e.name).help(e.about));
    PossibleValuesParser::new(providers.into_iter().chain(exporters))
        .try_map(|name| ExportTo::named(&name).ok_or_else(|| format!("there is no export {name}")))
}

const OPENAPI_EXAMPLES: &str = "\
Examples:
  callgate import openapi openapi.yaml --dry-run
  callgate import openapi openapi.json --only 'GET *' --only createTicket
  callgate import openapi openapi.json --base-url 'https://api.example.com/v2' --env-prefix CRM --prefix crm_
  curl -s https://api.example.com/openapi.json | callgate import openapi - --out tools/crm

--only is held against a contract's name, the operationId, the path, and the method with the path.
";

const MCP_EXAMPLES: &str = "\
Examples:
  callgate import mcp time
  callgate import mcp github --only '*_issue*' --out tools/github
  callgate import mcp tools-list.json --server github
  callgate import mcp callgate.lock --dry-run

A contract for a server's tool takes its place in the catalog. It may narrow what the server takes,
say more, ask for approval, hold rules; that it never widens it is proved.
";

const TOOLS_EXAMPLES: &str = "\
Examples:
  callgate import openai tools.json --out tools
  callgate import anthropic request.json --backend '{\"command\": [\"python3\", \"run.py\", \"$TOOL\"]}'
  jq .tools request.json | callgate import openai - --dry-run

Such definitions do not say who does the work. Without --backend the files have no backend: test,
compat and export take them with --from; a project takes them once each has one.
";

const EXPORT_EXAMPLES: &str = "\
Examples:
  callgate export get_ticket --to openai --strict
  callgate export --to typescript -o src/tools.ts
  callgate export --to gpt-actions --url https://tools.example.com --deny losses > openapi.json
  callgate export --to mcp-server-json --name com.example/tickets --url https://tools.example.com/mcp \\
    --package-version 1.4.0 -o server.json
  callgate export --from tools-list.json --to rust

One tool for a provider is its definition; several, or none named, are the list that a request has.
What the text cannot hold goes to standard error; the gates hold it all the same.
";
