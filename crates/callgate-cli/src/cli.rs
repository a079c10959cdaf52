//! What can be typed.

mod exchange;
mod mcp;
mod workshop;

use std::path::PathBuf;

use callgate::contract::Mode;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub(crate) use self::{
    exchange::{
        DenyExport, Export, ExportTo, Import, ImportMcp, ImportOpenapi, ImportTools, ImportVerb,
        Provider, Writing,
    },
    mcp::{Lock, Mcp, McpCall, McpLogin, McpVerb},
    workshop::{Check, Compat, Deny, LargestStep, LeastLevel, ReportFormat, Test, TestFormat},
};
use self::{
    mcp::LOCK_EXAMPLES,
    workshop::{COMPAT_EXAMPLES, TEST_EXAMPLES},
};
use crate::exit::Exit;

/// Runs agents whose tool calls are right: no call reaches a tool, and no result reaches the
/// model, that its contract does not admit.
#[derive(Debug, Parser)]
#[command(name = "callgate", version = VERSION, after_long_help = overview(), max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    /// Colours on standard error and in help; NO_COLOR, CLICOLOR and CLICOLOR_FORCE count too
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal
    Auto,
    /// Everywhere
    Always,
    /// Nowhere
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Make a project to edit: an agent, a tool, and how to go on
    Init(Init),
    /// Run the project's agent towards a goal
    #[command(after_long_help = run_help())]
    Run(Run),
    /// Talk with the project's agent, turn by turn
    Chat(Chat),
    /// List, show, resume, approve, move, replay and examine runs
    #[command(after_long_help = crate::verbs::runs::cli::EXAMPLES)]
    Runs(crate::verbs::runs::cli::Runs),
    /// List, show and call the project's tools, without a model
    Tools(Tools),
    /// List, ask and call the project's MCP servers
    Mcp(Mcp),
    /// Show what MCP servers tell that was not accepted, and accept it
    #[command(after_long_help = LOCK_EXAMPLES)]
    Lock(Lock),
    /// Serve the project: runs over HTTP, its tools to MCP clients, each call through every gate
    #[command(after_long_help = crate::verbs::serve::cli::EXAMPLES)]
    Serve(Box<crate::verbs::serve::cli::Serve>),
    /// Make, list and revoke the tokens that callers of a server present
    #[command(after_long_help = crate::verbs::token::cli::EXAMPLES)]
    Token(crate::verbs::token::cli::Tokens),
    /// Drive runs of the project's agent for Restate
    #[cfg(feature = "restate")]
    #[command(after_long_help = crate::verbs::restate::cli::WORKER_EXAMPLES)]
    Worker(crate::verbs::restate::cli::Worker),
    /// Find every mistake in a project or in contract files, and what models stumble over
    Check(Check),
    /// Put what the contracts imply before their gates, and on demand before the real tools
    #[command(after_long_help = TEST_EXAMPLES)]
    Test(Test),
    /// Compare two catalogs, and say which step of the version their difference calls for
    #[command(after_long_help = COMPAT_EXAMPLES)]
    Compat(Compat),
    /// Print the JSON Schema of a file or of what is written to the journal
    Schema(Schema),
    /// Make contracts from OpenAPI documents, MCP servers and providers' tool arrays
    Import(Import),
    /// Write tools as providers take them, or as types, OpenAPI and more, and say what is lost
    Export(Export),
    /// Bring, list and remove models that run in this process
    Model(Models),
    /// Print a completion script for a shell
    Completion(Completion),
}

impl Verb {
    /// Whether whoever typed it wants JSON, errors included.
    pub(crate) fn is_json(&self) -> bool {
        match self {
            Self::Run(run) => run.options.json,
            Self::Chat(chat) => chat.options.json,
            Self::Runs(runs) => runs.what.is_json(),
            Self::Tools(tools) => match &tools.what {
                ToolsVerb::List { json, .. } | ToolsVerb::Show { json, .. } => *json,
                ToolsVerb::Call(call) => call.options.json,
            },
            Self::Mcp(mcp) => match &mcp.what {
                McpVerb::List { json, .. }
                | McpVerb::Tools { json, .. }
                | McpVerb::Logout { json, .. }
                | McpVerb::Ping { json, .. } => *json,
                McpVerb::Call(call) => call.options.json,
                McpVerb::Login(login) => login.json,
            },
            Self::Lock(lock) => lock.json,
            Self::Serve(serve) => serve.json,
            Self::Token(tokens) => tokens.what.is_json(),
            #[cfg(feature = "restate")]
            Self::Worker(worker) => worker.json,
            Self::Check(check) => check.json || check.format == ReportFormat::Json,
            Self::Test(test) => test.format == TestFormat::Json,
            Self::Compat(compat) => compat.json,
            Self::Model(models) => matches!(models.what, ModelVerb::List { json: true }),
            Self::Import(import) => import.what.writing().json,
            Self::Export(export) => export.json,
            Self::Init(_) | Self::Schema(_) | Self::Completion(_) => false,
        }
    }
}

/// Which project.
#[derive(Debug, Args)]
pub(crate) struct InDir {
    /// The project's folder, the one with agent.json
    #[arg(short = 'C', long, default_value = ".", value_name = "DIR")]
    pub(crate) dir: PathBuf,
}

/// Which project, and what of its MCP servers.
#[derive(Debug, Args)]
pub(crate) struct Opened {
    #[command(flatten)]
    pub(crate) project: InDir,
    /// Pin no MCP server at its first use: what callgate.lock does not have is an error
    #[arg(long)]
    pub(crate) frozen: bool,
}

/// Who says yes.
#[derive(Debug, Args)]
pub(crate) struct Approvals {
    /// Approve every call that asks for it
    #[arg(long, conflicts_with = "deny")]
    pub(crate) yes: bool,
    /// Deny every call that asks for approval; the default where no terminal is
    #[arg(long)]
    pub(crate) deny: bool,
}

/// How much is shown.
#[derive(Debug, Args)]
pub(crate) struct Loudness {
    /// Show no hops, only how it ended
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Show arguments, results and reasoning whole, and where the model's settings come from
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// How much the gates mend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GateMode {
    /// Nothing: every fault goes back to the model
    Strict,
    /// What cannot change the meaning, each mend shown by name
    Lenient,
}

impl From<GateMode> for Mode {
    fn from(mode: GateMode) -> Self {
        match mode {
            GateMode::Strict => Self::Strict,
            GateMode::Lenient => Self::Lenient,
        }
    }
}

/// What `run` and `chat` have in common.
#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    #[command(flatten)]
    pub(crate) project: Opened,
    /// The model, provider:model or provider/model; else the one in agent.json
    #[arg(short, long, env = "CALLGATE_MODEL", value_name = "PROVIDER:MODEL")]
    pub(crate) model: Option<String>,
    /// Where the provider's API is; before what variables such as OPENAI_BASE_URL say
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Who starts it, for rules and tiers: a JSON object, or @FILE
    #[arg(long, value_name = "JSON")]
    pub(crate) caller: Option<String>,
    /// The most model replies that may call tools
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_steps: Option<u32>,
    /// How much the gates mend by themselves; else as agent.json says
    #[arg(long, value_enum)]
    pub(crate) mode: Option<GateMode>,
    /// Ask for whole replies instead of streamed ones
    #[arg(long)]
    pub(crate) no_stream: bool,
    #[command(flatten)]
    pub(crate) approvals: Approvals,
    /// Decide nothing here: the run waits for `callgate runs approve` and the like, and exits with 8
    #[arg(long, conflicts_with_all = ["yes", "deny", "no_journal"])]
    pub(crate) wait: bool,
    #[command(flatten)]
    pub(crate) keeping: crate::journal::Keeping,
    /// Print every event as a line of JSON, and a last line {"type":"result",…}
    #[arg(long, conflicts_with = "answer_only")]
    pub(crate) json: bool,
    /// Print the answer and nothing else
    #[arg(long)]
    pub(crate) answer_only: bool,
    #[command(flatten)]
    pub(crate) loudness: Loudness,
}

/// `callgate run`.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// What is wanted: a text, - for standard input, or @FILE
    pub(crate) goal: String,
    #[command(flatten)]
    pub(crate) options: RunOptions,
    #[cfg(feature = "restate")]
    #[command(flatten)]
    pub(crate) engine: crate::verbs::restate::cli::EngineOptions,
}

/// `callgate chat`.
#[derive(Debug, Args)]
pub(crate) struct Chat {
    /// The first thing to say: a text, or @FILE
    pub(crate) goal: Option<String>,
    /// Go on with a run of the journal, by its id or how that begins
    #[arg(long, value_name = "ID", conflicts_with = "no_journal")]
    pub(crate) resume: Option<String>,
    #[command(flatten)]
    pub(crate) options: RunOptions,
}

/// `callgate init`.
#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Where; made if it is not there
    #[arg(default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Write over the project's files that are there already
    #[arg(long)]
    pub(crate) force: bool,
}

/// `callgate tools`.
#[derive(Debug, Args)]
pub(crate) struct Tools {
    #[command(subcommand)]
    pub(crate) what: ToolsVerb,
}

/// What to do with tools.
#[derive(Debug, Subcommand)]
pub(crate) enum ToolsVerb {
    /// List the project's tools
    List {
        #[command(flatten)]
        project: Opened,
        /// As a JSON array
        #[arg(long)]
        json: bool,
    },
    /// Show one tool's contract, and what a model is given of it
    Show {
        /// The tool
        name: String,
        #[command(flatten)]
        project: Opened,
        /// The contract as JSON
        #[arg(long)]
        json: bool,
    },
    /// Make one call through every gate and print the envelope that a model would read
    #[command(after_long_help = CALL_EXAMPLES)]
    Call(ToolsCall),
}

/// `callgate tools call`.
#[derive(Debug, Args)]
pub(crate) struct ToolsCall {
    /// The tool
    pub(crate) name: String,
    /// Its arguments as a model would write them: JSON, - for standard input, or @FILE
    #[arg(default_value = "{}", value_name = "JSON")]
    pub(crate) arguments: String,
    #[command(flatten)]
    pub(crate) options: CallOptions,
}

/// How a call is made.
#[derive(Debug, Args)]
pub(crate) struct CallOptions {
    #[command(flatten)]
    pub(crate) project: Opened,
    /// How much the gates mend by themselves; else as agent.json says
    #[arg(long, value_enum)]
    pub(crate) mode: Option<GateMode>,
    /// Who calls, for rules and tiers: a JSON object, or @FILE
    #[arg(long, value_name = "JSON")]
    pub(crate) caller: Option<String>,
    #[command(flatten)]
    pub(crate) approvals: Approvals,
    /// The envelope on one line, and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) loudness: Loudness,
}

/// `callgate schema`.
#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// Of what
    #[arg(value_enum)]
    pub(crate) of: SchemaOf,
}

/// What there is a schema of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaOf {
    /// A contract file, tools/NAME.json
    Tool,
    /// agent.json
    Agent,
    /// A line of the journal, and of run --json
    Event,
    /// What answers a call
    Envelope,
    /// callgate.check.json, the settings of check
    Check,
    /// A file of fixtures, fixtures/NAME/mine.json
    Fixtures,
    /// serve.json, the settings of serve
    Serve,
}

/// `callgate model`.
#[derive(Debug, Args)]
pub(crate) struct Models {
    #[command(subcommand)]
    pub(crate) what: ModelVerb,
}

/// What to do with models.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelVerb {
    /// Bring a model and print its name for --model
    Pull {
        /// Which; else the best one that can be had
        name: Option<String>,
    },
    /// List the models that are here or can be brought
    List {
        /// As a JSON array
        #[arg(long)]
        json: bool,
    },
    /// Delete a model that was brought, or forget one that was added
    Rm {
        /// Which
        name: String,
    },
    /// Use a GGUF file where it is
    Add {
        /// The file
        file: PathBuf,
    },
}

/// `callgate completion`.
#[derive(Debug, Args)]
pub(crate) struct Completion {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

#[cfg(all(feature = "local", not(feature = "restate")))]
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (features: local)");
#[cfg(all(feature = "restate", not(feature = "local")))]
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (features: restate)");
#[cfg(all(feature = "local", feature = "restate"))]
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (features: local, restate)");
#[cfg(not(any(feature = "local", feature = "restate")))]
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (features: none)");

fn overview() -> String {
    format!("{OVERVIEW}\n{}", Exit::table())
}

fn run_help() -> String {
    format!("{RUN_EXAMPLES}\n{}", Exit::table())
}

const OVERVIEW: &str = "\
Examples:
  callgate init weather && cd weather
  callgate run \"What time is it in Tokyo?\"
  callgate tools call get_time '{\"zone\": \"Asia/Tokyo\"}'
  callgate check
";

const RUN_EXAMPLES: &str = "\
The answer goes to standard output; what happens on the way to standard error.

Examples:
  callgate run \"Who has ticket T-1042?\"
  callgate run -C examples/support -m ollama:qwen3:8b @goal.txt
  callgate run -m compat:my-model --base-url http://127.0.0.1:8000/v1 - < goal.txt
  callgate run --json \"...\" | jq 'select(.type == \"callGated\")'
  callgate run --answer-only \"...\" > answer.txt

Ctrl-C cancels cleanly: tools are stopped and the transcript stays valid. A second one ends at once.
";

const CALL_EXAMPLES: &str = "\
Examples:
  callgate tools call get_ticket '{\"ticketId\": \"T-1042\"}'
  callgate tools call add_note @note.json --yes
  echo '{\"city\": \"Oslo\",}' | callgate tools call get_weather - --mode strict

Exits with 0 when the call did what it was to do, and 6 when it was refused or failed.
";

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_well_formed() {
        super::Cli::command().debug_assert();
    }
}
