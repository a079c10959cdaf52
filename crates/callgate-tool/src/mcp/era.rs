//! Which of the two protocols a server speaks: what follows from its answer to `server/discover`.
//!
//! Revision 2026-07-28 asks a client to try the new protocol first and to fall back on *any* answer
//! that is not of the new one (basic/lifecycle). What servers really answer is in the table of the
//! tests. One thing the texts do not say and servers have taught: a process that was asked late
//! answers late, and has then locked itself to the new protocol; so after silence the old one is
//! tried on a fresh process.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    error::McpError,
    health::{Era, Server},
    message::{Fault, RpcError},
    speech::{LEGACY, MODERN},
};

/// Error codes that only a server of the new protocol sends.
pub(super) const HEADER_MISMATCH: i64 = -32020;
pub(super) const MISSING_CAPABILITY: i64 = -32021;
pub(super) const UNSUPPORTED_VERSION: i64 = -32022;

/// What to do next.
#[derive(Debug, PartialEq)]
pub(super) enum Next {
    /// It speaks the new protocol.
    Modern(Box<Known>),
    /// It speaks the new protocol and refused the question: ask again.
    AskAgain,
    /// `initialize`, on the same connection.
    Initialize,
    /// `initialize`, on a connection of its own.
    InitializeAfresh,
    /// It cannot be asked anything.
    GiveUp(McpError),
}

/// What a server said about itself when it was connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) server: Server,
    /// Whether it has tools at all, as far as it says.
    pub(super) tools: bool,
    /// Whether it tells when they change.
    pub(super) tells_changes: bool,
}

/// What follows from the outcome of a probe. `asked` is how often it was asked before, from 0.
pub(super) fn after_discover(
    reply: &Result<Box<RawValue>, McpError>,
    is_http: bool,
    asked: u32,
) -> Next {
    match reply {
        Ok(result) => match discovered(result) {
            Ok(Discovered::Modern(known)) => Next::Modern(known),
            Ok(Discovered::OnlyLegacy) => Next::InitializeAfresh,
            Ok(Discovered::None(supported)) => Next::GiveUp(McpError::Version { supported }),
            // Some old servers answer any method with an empty result.
            Err(_) => Next::Initialize,
        },
        Err(McpError::Rpc(error)) => match error.code {
            UNSUPPORTED_VERSION => match supported(error) {
                Some(versions) if versions.iter().any(|v| v == MODERN) && asked < 2 => {
                    Next::AskAgain
                }
                Some(versions) if versions.iter().any(|v| is_legacy(v)) => Next::InitializeAfresh,
                versions => {
                    Next::GiveUp(McpError::Version { supported: versions.unwrap_or_default() })
                }
            },
            HEADER_MISMATCH | MISSING_CAPABILITY if asked < 1 => Next::AskAgain,
            HEADER_MISMATCH | MISSING_CAPABILITY => Next::Modern(Box::new(unknown())),
            _ => Next::Initialize,
        },
        Err(McpError::Status { status, .. }) if is_http && (400..500).contains(status) => {
            Next::Initialize
        }
        // It is alive and was only silent about this: HTTP has no process to lock.
        Err(McpError::Timeout { .. } | McpError::Protocol(_)) if is_http => Next::Initialize,
        Err(McpError::Timeout { .. } | McpError::Lost { .. } | McpError::Protocol(_))
            if !is_http =>
        {
            Next::InitializeAfresh
        }
        Err(other) => Next::GiveUp(other.clone()),
    }
}

fn is_legacy(version: &str) -> bool {
    LEGACY.contains(&version)
}

enum Discovered {
    Modern(Box<Known>),
    OnlyLegacy,
    None(Vec<String>),
}

/// Reads a DiscoverResult.
fn discovered(result: &RawValue) -> Result<Discovered, serde_json::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Wire<'a> {
        supported_versions: Vec<String>,
        #[serde(borrow, default)]
        capabilities: Option<&'a RawValue>,
        #[serde(default)]
        instructions: Option<String>,
        #[serde(borrow, default, rename = "_meta")]
        meta: Option<&'a RawValue>,
    }
    let wire: Wire<'_> = serde_json::from_str(result.get())?;
    if !wire.supported_versions.iter().any(|v| v == MODERN) {
        return Ok(if wire.supported_versions.iter().any(|v| is_legacy(v)) {
            Discovered::OnlyLegacy
        } else {
            Discovered::None(wire.supported_versions)
        });
    }
    #[derive(Deserialize, Default)]
    struct Meta {
        #[serde(default, rename = "io.modelcontextprotocol/serverInfo")]
        server: Option<Info>,
    }
    let meta: Meta = wire.meta.and_then(|m| serde_json::from_str(m.get()).ok()).unwrap_or_default();
    let info = meta.server.unwrap_or_default();
    let (tools, tells_changes) = tools_of(wire.capabilities);
    let server = Server {
        era: Era::Modern,
        protocol_version: MODERN.to_owned(),
        name: info.name,
        version: info.version,
        instructions: wire.instructions,
    };
    Ok(Discovered::Modern(Box::new(Known { server, tools, tells_changes })))
}

/// A server that speaks the new protocol and did not introduce itself.
pub(super) fn unknown() -> Known {
    let server = Server {
        era: Era::Modern,
        protocol_version: MODERN.to_owned(),
        name: None,
        version: None,
        instructions: None,
    };
    Known { server, tools: true, tells_changes: false }
}

/// The versions of an UnsupportedProtocolVersion error.
pub(super) fn supported(error: &RpcError) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct Data {
        supported: Vec<String>,
    }
    let data: Data = serde_json::from_str(error.data.as_deref()?).ok()?;
    Some(data.supported)
}

/// Reads the result of `initialize`.
///
/// # Errors
/// It is none, or of a revision that we do not know.
pub(super) fn initialized(result: &RawValue) -> Result<Known, McpError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Wire<'a> {
        protocol_version: String,
        #[serde(borrow, default)]
        capabilities: Option<&'a RawValue>,
        #[serde(borrow, default)]
        server_info: Option<&'a RawValue>,
        #[serde(default)]
        instructions: Option<String>,
    }
    let wire: Wire<'_> = serde_json::from_str(result.get())
        .map_err(|e| Fault::Result { method: "initialize", why: e.to_string() })?;
    if !is_legacy(&wire.protocol_version) {
        return Err(McpError::Version { supported: vec![wire.protocol_version] });
    }
    let info: Info =
        wire.server_info.and_then(|i| serde_json::from_str(i.get()).ok()).unwrap_or_default();
    let (tools, tells_changes) = tools_of(wire.capabilities);
    let server = Server {
        era: Era::Legacy,
        protocol_version: wire.protocol_version,
        name: info.name,
        version: info.version,
        instructions: wire.instructions,
    };
    Ok(Known { server, tools, tells_changes })
}

#[derive(Deserialize, Default)]
struct Info {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    version: Option<String>,
}

/// Whether there are tools, and whether their changes are told. Lenient: capabilities that cannot
/// be read say nothing against tools.
fn tools_of(capabilities: Option<&RawValue>) -> (bool, bool) {
    let read = capabilities.and_then(|c| serde_json::from_str::<serde_json::Value>(c.get()).ok());
    let Some(read) = read else { return (true, false) };
    let tools = read.get("tools");
    (tools.is_some(), tools.is_some_and(|t| t["listChanged"] == true))
}

#[cfg(test)]
mod tests;
