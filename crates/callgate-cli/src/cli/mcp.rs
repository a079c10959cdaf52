//! What can be typed about MCP: servers of the project, and their pins.

use clap::{Args, Subcommand};

use super::{CallOptions, InDir, Opened};

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

pub(super) const LOCK_EXAMPLES: &str = "\
Servers that were never pinned are pinned; for the others it is told what changed, and nothing is
accepted without --accept.

Examples:
  callgate lock                                  # exits with 7 when something drifted
  callgate lock --accept                         # everything as it is now
  callgate lock --accept time git/git_commit     # a server, and one tool of another
  callgate lock --check --json                   # for CI: writes nothing
";
