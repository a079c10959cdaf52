//! What the suite wants of us, as it says it: arguments and environment.

use std::env;

use callgate_tool::mcp::Lifecycle;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::ClientError;

/// The first revision without a handshake.
const FIRST_MODERN: &str = "2026-07-28";

/// Scenarios of extensions to authorization, none of which a revision requires.
const NOT_SPOKEN: &[&str] = &[
    "auth/client-credentials-basic",
    "auth/client-credentials-jwt",
    "auth/dpop",
    "auth/dpop-nonce",
    "auth/enterprise-managed-authorization",
    "auth/wif-jwt-bearer",
];

/// One scenario.
#[derive(Debug)]
pub struct Assignment {
    /// Its name.
    pub scenario: String,
    /// The server.
    pub url: String,
    /// The protocol revision that it is played at.
    pub version: String,
    /// Its data.
    pub context: Context,
}

/// The data of a scenario.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Context {
    /// The calls to make; none: every tool once.
    #[serde(default)]
    pub tool_calls: Vec<PlannedCall>,
    /// A client that was registered by hand.
    #[serde(default, rename = "client_id")]
    pub client_id: Option<String>,
    /// Its secret.
    #[serde(default, rename = "client_secret")]
    pub client_secret: Option<String>,
}

/// A call to make.
#[derive(Debug, Clone, Deserialize)]
pub struct PlannedCall {
    /// The tool.
    pub name: String,
    /// An object.
    #[serde(default = "nothing")]
    pub arguments: Box<RawValue>,
}

fn nothing() -> Box<RawValue> {
    RawValue::from_string("{}".to_owned()).unwrap_or_default()
}

impl Assignment {
    /// Reads this process's arguments and environment.
    ///
    /// # Errors
    /// A part is missing, or the context is none.
    pub fn from_process() -> Result<Self, ClientError> {
        let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let missing = |what: &str| ClientError::Assignment(format!("{what} is missing"));
        let context = match variable("MCP_CONFORMANCE_CONTEXT") {
            None => Context::default(),
            Some(text) => serde_json::from_str(&text).map_err(|error| {
                ClientError::Assignment(format!("MCP_CONFORMANCE_CONTEXT cannot be read: {error}"))
            })?,
        };
        Ok(Self {
            scenario: variable("MCP_CONFORMANCE_SCENARIO")
                .ok_or_else(|| missing("MCP_CONFORMANCE_SCENARIO"))?,
            url: env::args()
                .next_back()
                .filter(|last| last.contains("://"))
                .ok_or_else(|| missing("the server's URL, as the last argument,"))?,
            version: variable("MCP_CONFORMANCE_PROTOCOL_VERSION")
                .unwrap_or_else(|| FIRST_MODERN.to_owned()),
            context,
        })
    }

    pub(super) fn is_spoken(&self) -> bool {
        !NOT_SPOKEN.contains(&self.scenario.as_str()) && !self.scenario.starts_with("sep-2640-")
    }

    /// Revisions are dates, and sort as such.
    pub(super) fn lifecycle(&self) -> Lifecycle {
        if self.version.as_str() < FIRST_MODERN { Lifecycle::Legacy } else { Lifecycle::Modern }
    }
}
