//! What a server is reached by, as people write it.
//!
//! Texts may hold `${VAR}` and `${VAR:-default}`; they are looked up at the moment of use, inside
//! the client, and never show (law 9).

mod oauth;
mod read;

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

pub use oauth::OAuthSettings;
pub use read::{Declared, ServersFile};

/// One MCP server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// Its name in the project: the namespace of its tools.
    pub name: Arc<str>,
    /// How it is reached.
    pub transport: Transport,
    /// How long it may take.
    pub timeouts: Timeouts,
    /// Which of the two protocols to speak.
    pub lifecycle: Lifecycle,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// A program that reads and writes one JSON message a line.
    Stdio {
        /// The program, looked up in `PATH`.
        command: String,
        /// Its words. No shell is involved.
        args: Vec<String>,
        /// Environment variables for it, beside the few that every tool gets.
        env: BTreeMap<String, String>,
        /// The folder it runs in; this process's own when absent.
        cwd: Option<PathBuf>,
    },
    /// Streamable HTTP.
    Http {
        /// The one endpoint.
        url: String,
        /// Sent with every request.
        headers: BTreeMap<String, String>,
    },
}

/// How long a server may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// From the start of the process to its first answer; a cold `npx` or `uvx` downloads first.
    pub start: Duration,
    /// Without an answer or a sign of progress.
    pub idle: Duration,
    /// For one request, whatever progress is told.
    pub max: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(30),
            idle: Duration::from_secs(60),
            max: Duration::from_secs(600),
        }
    }
}

/// Which protocol to speak with a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Lifecycle {
    /// The server is asked.
    #[default]
    Auto,
    /// `initialize`, up to revision 2025-11-25.
    Legacy,
    /// Stateless, from revision 2026-07-28 on.
    Modern,
}
