//! The `mcp` kind: a pinned tool of one of the project's servers.

use std::{collections::BTreeMap, sync::Arc};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::Pins;
use crate::{
    Backend,
    mcp::{Client, McpTool},
    registry::{BackendError, Build, Kind, nearest},
};

pub(crate) const KIND: Kind = Kind::new::<McpSpec>("mcp", build);

/// `{"mcp": {"server": "time", "tool": "get_current_time"}}`: a tool of an MCP server.
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct McpSpec {
    /// Which tool of which server.
    pub mcp: McpToolSpec,
}

/// Which tool of which server.
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct McpToolSpec {
    /// The server's name under `mcpServers`.
    pub server: String,
    /// The tool's name there.
    pub tool: String,
}

impl McpSpec {
    /// What a contract's `backend` object says, where it is of this kind and can be read.
    pub fn of(backend: &Map<String, Value>) -> Option<McpToolSpec> {
        serde_json::from_value(backend.get("mcp")?.clone()).ok()
    }
}

/// The servers that contracts may name, with what is pinned of them. Cheap to clone.
#[derive(Clone, Default)]
pub struct Servers(Arc<BTreeMap<Arc<str>, Pinned>>);

/// A server with what is pinned of it.
struct Pinned {
    client: Arc<Client>,
    pins: Pins,
}

impl Servers {
    /// Servers by name.
    pub fn new(servers: impl IntoIterator<Item = (Arc<str>, Arc<Client>, Pins)>) -> Self {
        let servers =
            servers.into_iter().map(|(name, client, pins)| (name, Pinned { client, pins }));
        Self(Arc::new(servers.collect()))
    }

    /// A pinned tool as a backend. `repeatable` is the contract's word: a call of it may be sent
    /// again when its connection is lost.
    ///
    /// # Errors
    /// There is no such server, or the tool is not pinned.
    pub fn tool(
        &self,
        server: &str,
        tool: &str,
        repeatable: bool,
    ) -> Result<Arc<dyn Backend>, BackendError> {
        let Some(Pinned { client, pins }) = self.0.get(server) else {
            return Err(BackendError::NoServer {
                server: server.to_owned(),
                suggestion: nearest(server, self.0.keys()),
            });
        };
        let Some(pin) = pins.get(tool) else {
            return Err(BackendError::NotPinned {
                server: server.to_owned(),
                tool: tool.to_owned(),
                suggestion: nearest(tool, pins.iter().map(|(name, _)| name)),
            });
        };
        let check = Some(pin.checker(server));
        Ok(Arc::new(McpTool::new(client.clone(), tool, repeatable, check)))
    }
}

fn build(spec: Map<String, Value>, build: &Build<'_>) -> Result<Arc<dyn Backend>, BackendError> {
    let McpSpec { mcp } = build.read(spec)?;
    build.servers.tool(&mcp.server, &mcp.tool, build.repeatable)
}
