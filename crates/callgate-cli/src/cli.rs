//! What can be typed.

use std::{net::SocketAddr, path::PathBuf};

use callgate::contract::Mode;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

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
    /// Serve the project's tools to MCP clients, each call through every gate
    #[command(after_long_help = SERVE_EXAMPLES)]
    Serve(Serve),
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
    /// Print a tool's definition as a provider takes it, and what is lost on the way
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
            #[cfg(feature = "restate")]
            Self::Worker(worker) => worker.json,
            Self::Check(check) => check.json || check.format == ReportFormat::Json,
            Self::Test(test) => test.format == TestFormat::Json,
            Self::Compat(compat) => compat.json,
            Self::Model(models) => matches!(models.what, ModelVerb::List { json: true }),
            Self::Init(_) | Self::Schema(_) | Self::Export(_) | Self::Completion(_) => false,
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

/// `callgate mcp`.
#[derive(Debug, Args)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    pub(crate) what: McpVerb,
}

/// What to do with MCP servers.
#[derive(Debug, Subcommand)]
pub(crate) enum McpVerb {
    /// List the servers: transport, state, protocol, version, tools, and whether they drifted
    List {
        #[command(flatten)]
        project: Opened,
        /// As a JSON array
        #[arg(long)]
        json: bool,
    },
    /// List a server's tools, and which of them are accepted
    Tools {
        /// The server, by its name under mcpServers
        server: String,
        #[command(flatten)]
        project: Opened,
        /// As a JSON array
        #[arg(long)]
        json: bool,
    },
    /// Make one call of a server's tool through every gate, and print the envelope
    #[command(after_long_help = MCP_CALL_EXAMPLES)]
    Call(McpCall),
    /// Log in at an HTTP server, in a browser; the login is kept for later runs
    #[command(after_long_help = MCP_LOGIN_EXAMPLES)]
    Login(McpLogin),
    /// Forget the login at an HTTP server
    Logout {
        /// The server, by its name under mcpServers
        server: String,
        #[command(flatten)]
        project: InDir,
        /// As one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Ask a server whether it answers, and how fast
    Ping {
        /// The server, by its name under mcpServers
        server: String,
        #[command(flatten)]
        project: InDir,
        /// As one JSON object
        #[arg(long)]
        json: bool,
    },
}

/// `callgate mcp login`.
#[derive(Debug, Args)]
pub(crate) struct McpLogin {
    /// The server, by its name under mcpServers
    pub(crate) server: String,
    /// Ask for these as well as for what was granted before: "read write"
    #[arg(long, value_name = "SCOPES")]
    pub(crate) scope: Option<String>,
    #[command(flatten)]
    pub(crate) project: InDir,
    /// Seconds to wait for the browser
    #[arg(long, value_name = "SECONDS", default_value_t = 300,
          value_parser = clap::value_parser!(u64).range(1..=86400))]
    pub(crate) wait: u64,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `callgate mcp call`.
#[derive(Debug, Args)]
pub(crate) struct McpCall {
    /// The server, by its name under mcpServers
    pub(crate) server: String,
    /// The tool, by its name on the server
    pub(crate) tool: String,
    /// Its arguments as a model would write them: JSON, - for standard input, or @FILE
    #[arg(default_value = "{}", value_name = "JSON")]
    pub(crate) arguments: String,
    #[command(flatten)]
    pub(crate) options: CallOptions,
}

/// `callgate lock`.
#[derive(Debug, Args)]
pub(crate) struct Lock {
    /// Accept what the servers tell now: everything, or these
    #[arg(long, num_args = 0.., value_name = "SERVER[/TOOL]")]
    pub(crate) accept: Option<Vec<String>>,
    /// Write nothing: a server that was never pinned counts as drifted
    #[arg(long, alias = "frozen", conflicts_with = "accept")]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) project: InDir,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `callgate serve`.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) project: Opened,
    /// Speak MCP on standard input and output, with the program that starts this one
    #[arg(long, conflicts_with_all = ["listen", "token_env", "allow_host", "allow_origin"])]
    pub(crate) mcp_stdio: bool,
    /// Where to listen for HTTP; port 0 is any free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7600")]
    pub(crate) listen: SocketAddr,
    /// The variable with the token that callers present; any address but a loopback one needs it
    #[arg(long, value_name = "VAR")]
    pub(crate) token_env: Option<String>,
    /// A name that requests may come under (Host), beside the loopback ones
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_host: Vec<String>,
    /// A web page that may send requests (Origin), beside those of this machine
    #[arg(long, value_name = "URL")]
    pub(crate) allow_origin: Vec<String>,
    /// How much the gates mend by themselves; else as agent.json says
    #[arg(long, value_enum)]
    pub(crate) mode: Option<GateMode>,
    /// Who calls, for rules and tiers: a JSON object, or @FILE
    #[arg(long, value_name = "JSON")]
    pub(crate) caller: Option<String>,
    /// Approve every call that asks for it, instead of asking the client's user
    #[arg(long, conflicts_with = "deny")]
    pub(crate) yes: bool,
    /// Deny every call that asks for approval, instead of asking the client's user
    #[arg(long)]
    pub(crate) deny: bool,
    /// Over HTTP, one line of JSON on standard output once it listens
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no calls
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// `callgate check`.
#[derive(Debug, Args)]
#[command(after_long_help = CHECK_EXAMPLES)]
pub(crate) struct Check {
    /// Contract files, agent.json files, MCP tools/list results, arrays of OpenAI or Anthropic
    /// tools, or folders of them; else the project
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) project: InDir,
    /// How the report is written
    #[arg(long, value_enum, default_value_t = ReportFormat::Text, value_name = "FORMAT")]
    pub(crate) format: ReportFormat,
    /// As one JSON object: --format json
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Mend what can be mended without a change of meaning, and write the files
    #[arg(long)]
    pub(crate) fix: bool,
    /// Exit with 2 for warnings too, or for notes too
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub(crate) deny: Option<Deny>,
    /// Ask only this rule; may be given several times
    #[arg(long = "rule", value_name = "RULE", value_delimiter = ',')]
    pub(crate) rules: Vec<String>,
    /// Do not ask this rule; may be given several times
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(crate) allow: Vec<String>,
    /// The least level that is shown; exit codes do not depend on it
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub(crate) level: Option<LeastLevel>,
    /// The settings file; else callgate.check.json in the project's folder, where there is one
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Say what a rule finds, why, and what to write instead; without RULE list them all
    #[arg(long, value_name = "RULE", num_args = 0..=1, default_missing_value = "")]
    pub(crate) explain: Option<String>,
}

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For a person, by tool
    Text,
    /// One JSON object
    Json,
    /// SARIF 2.1.0, for code hosts
    Sarif,
}

/// What counts beside mistakes and errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Deny {
    /// Warnings
    Warnings,
    /// Warnings and notes
    Notes,
}

/// What is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LeastLevel {
    /// All
    Note,
    /// Warnings and errors
    Warning,
    /// Errors
    Error,
}

/// `callgate test`.
#[derive(Debug, Args)]
pub(crate) struct Test {
    /// The tools, by name; else all
    pub(crate) tools: Vec<String>,
    #[command(flatten)]
    pub(crate) project: InDir,
    /// Tools from elsewhere: a contract, an MCP tools/list result, an array of a provider's tools,
    /// or a folder of them
    #[arg(long, value_name = "PATH")]
    pub(crate) from: Option<PathBuf>,
    /// Where fixtures are kept; else the folder fixtures of the project
    #[arg(long, value_name = "DIR")]
    pub(crate) fixtures: Option<PathBuf>,
    /// Write the made fixtures anew; those that people wrote stay as they are
    #[arg(long)]
    pub(crate) update: bool,
    /// Call the real tools with the valid fixtures as well, and judge what they bring
    #[arg(long, conflicts_with = "from")]
    pub(crate) live: bool,
    /// With --live: call those that ask for approval or may destroy something as well
    #[arg(long, requires = "live")]
    pub(crate) yes: bool,
    /// With --live: who calls, for rules and tiers: a JSON object, or @FILE
    #[arg(long, requires = "live", value_name = "JSON")]
    pub(crate) caller: Option<String>,
    /// Print an instance to try by hand: of a kind such as valid or wrong-enum, or by its id
    #[arg(long, num_args = 2, value_names = ["TOOL", "KIND"], conflicts_with_all = ["update", "live", "tools"])]
    pub(crate) show: Vec<String>,
    /// List every keyword, and whether a fixture covers it
    #[arg(long)]
    pub(crate) coverage: bool,
    /// How the report is written
    #[arg(long, value_enum, default_value_t = TestFormat::Text, value_name = "FORMAT")]
    pub(crate) format: TestFormat,
}

/// How a test's report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestFormat {
    /// For a person, by tool
    Text,
    /// One JSON object
    Json,
    /// JUnit XML, for CI servers
    Junit,
}

/// `callgate compat`.
#[derive(Debug, Args)]
pub(crate) struct Compat {
    /// The old catalog: a project's folder, a folder of contracts, a contract, an MCP tools/list
    /// result, an array of a provider's tools, a callgate.lock, or mcp:NAME, a server of the
    /// project as it is now
    pub(crate) old: PathBuf,
    /// The new one
    pub(crate) new: PathBuf,
    #[command(flatten)]
    pub(crate) project: InDir,
    /// The largest step that passes
    #[arg(long, value_enum, default_value_t = LargestStep::Minor, value_name = "STEP")]
    pub(crate) max: LargestStep,
    /// Let a larger step pass where the contract's own version says it
    #[arg(long)]
    pub(crate) versions: bool,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// How much may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LargestStep {
    /// Nothing
    None,
    /// Words
    Patch,
    /// What only adds
    Minor,
    /// Anything: report only
    Major,
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
}

/// `callgate export`.
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The tool, by its name in the catalog
    pub(crate) name: String,
    /// Whose definition
    #[arg(long, value_enum, value_name = "PROVIDER")]
    pub(crate) to: ExportTo,
    /// For the provider to hold the schema while it decodes, where it can
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) dir: InDir,
}

/// Whose definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportTo {
    /// Chat Completions
    Openai,
    /// Responses
    OpenaiResponses,
    /// Messages
    Anthropic,
    /// generateContent
    Gemini,
    /// Native chat
    Ollama,
    /// tools/list
    Mcp,
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

const CHECK_EXAMPLES: &str = "\
Examples:
  callgate check
  callgate check --deny warnings --format sarif > check.sarif
  callgate check tools-list.json --level warning
  callgate check --explain object-open
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

const TEST_EXAMPLES: &str = "\
Examples:
  callgate test
  callgate test --update && git diff fixtures/
  callgate test get_ticket --live
  callgate test --from tools-list.json --format junit > test.xml
  callgate tools call get_ticket \"$(callgate test --show get_ticket valid)\"

Exits with 0 when all held, and 7 when one did not.
";

const COMPAT_EXAMPLES: &str = "\
Examples:
  callgate compat v1/tools v2/tools
  callgate compat tools-list.old.json tools-list.json --json
  callgate compat --versions --max patch main/ .
  callgate compat callgate.lock mcp:time         # what was accepted, and what the server tells now

Exits with 0 when every change is within the step allowed, and 7 when one is not. What could not be
decided is never compatible.
";

const MCP_CALL_EXAMPLES: &str = "\
Examples:
  callgate mcp call time get_current_time '{\"timezone\": \"Europe/Warsaw\"}'
  callgate mcp call files write_file @note.json --yes

Exits with 0 when the call did what it was to do, and 6 when it was refused or failed.
";

const MCP_LOGIN_EXAMPLES: &str = "\
A link is printed; the login page comes back to a port of this machine. The login is kept in the
user's configuration, readable by nobody else, and renewed by itself where the server allows it.

Examples:
  callgate mcp login shop
  callgate mcp login shop --scope \"orders:write\"   # beside what was granted before

Where the browser is on another machine, set \"oauth\": {\"callbackPort\": 8765} for the server and
forward that port: ssh -L 8765:127.0.0.1:8765 HOST
";

const LOCK_EXAMPLES: &str = "\
Servers that were never pinned are pinned; for the others it is told what changed, and nothing is
accepted without --accept.

Examples:
  callgate lock                                  # exits with 7 when something drifted
  callgate lock --accept                         # everything as it is now
  callgate lock --accept time git/git_commit     # a server, and one tool of another
  callgate lock --check --json                   # for CI: writes nothing
";

const SERVE_EXAMPLES: &str = "\
Examples:
  callgate serve                                          # http://127.0.0.1:7600/mcp
  callgate serve --listen 127.0.0.1:0 --json | head -1    # the address that was chosen
  callgate serve --mcp-stdio                              # for a client that starts its servers
  callgate serve --listen 0.0.0.0:7600 --token-env CALLGATE_TOKEN

Ctrl-C and SIGTERM let calls at work end; it exits with 0 then.
";

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_well_formed() {
        super::Cli::command().debug_assert();
    }
}
