//! How a server is doing, for people and for `callgate mcp`.

use std::time::SystemTime;

use serde::Serialize;

/// A server's state at one moment. Secrets are masked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// Where the connection stands.
    pub state: State,
    /// How often a connection was made anew after the first.
    pub restarts: u64,
    /// Messages that broke the protocol, since the client was made.
    pub faults: u64,
    /// The last of them, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_fault: Option<String>,
    /// When the tool list was read last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listed_at: Option<SystemTime>,
    /// Why the last attempt to read it failed, if it did: the list in use is an older one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_error: Option<String>,
}

/// Where a connection stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "camelCase")]
pub enum State {
    /// Nobody has asked anything yet, or the client was closed.
    NotStarted,
    /// The process starts, or the server is being asked what it speaks.
    Connecting,
    /// It answers.
    Ready(Server),
    /// It could not be reached, or ended.
    #[serde(rename_all = "camelCase")]
    Failed {
        /// In words.
        why: String,
        /// The end of what the program wrote to stderr.
        #[serde(skip_serializing_if = "Option::is_none")]
        stderr: Option<String>,
    },
}

/// What a server says of itself. For people only: nothing is decided by it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Server {
    /// Which of the two protocols.
    pub era: Era,
    /// The protocol revision.
    pub protocol_version: String,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What it tells every client about itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
}

/// The two protocols behind one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Era {
    /// `initialize`, sessions, server requests: up to revision 2025-11-25.
    Legacy,
    /// Stateless, `_meta` on every request: from 2026-07-28 on.
    Modern,
}
