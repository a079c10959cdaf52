//! What a server tells now, next to what was accepted.

use std::sync::Arc;

use callgate_contract::definition::{Definition, Difference, Flag, Unusable, difference};
use serde::Serialize;

use super::{AgentReport, Lock};
use crate::mcp::{ListFaultKind, Listing};

/// The servers of a project, each compared with its pins.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LockReport {
    /// Whether any server or agent differs from its pins.
    pub drifted: bool,
    /// The servers, by name.
    pub servers: Vec<ServerReport>,
    /// Agents elsewhere, by the URL that contracts name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentReport>,
    /// Servers and agents that are pinned and in no file any more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forgotten: Vec<Arc<str>>,
}

/// One server, compared with its pins.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerReport {
    /// Its name in the project.
    pub server: Arc<str>,
    /// Whether it was pinned at all.
    pub pinned: bool,
    /// Whether it differs from its pins.
    pub drifted: bool,
    /// How many definitions are the accepted ones.
    pub unchanged: usize,
    /// Tools without a pin; they are not offered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<Added>,
    /// Pinned tools that the server no longer has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<Arc<str>>,
    /// Pinned tools whose definition is another one; calls of them are refused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<Changed>,
    /// Definitions that cannot be contracts; they are not offered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unusable: Vec<NotUsable>,
    /// Why the server could not be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A tool without a pin.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Added {
    /// Its name on the server.
    pub tool: Arc<str>,
    /// The hash that it would be pinned by.
    pub sha256: String,
    /// What the model would read.
    pub description: String,
    /// What to look at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<Flag>,
}

/// A tool whose definition is another one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Changed {
    /// Its name on the server.
    pub tool: Arc<str>,
    /// The accepted hash.
    pub before: String,
    /// The hash now.
    pub after: String,
    /// What differs, and what that does.
    #[serde(flatten)]
    pub difference: Difference,
}

/// A definition that cannot be a contract.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NotUsable {
    /// The tool, where it has a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<Arc<str>>,
    /// Where: a JSON Pointer into the definition.
    pub pointer: String,
    /// Why.
    pub reason: String,
    /// Whether an earlier definition of it is pinned.
    pub pinned: bool,
}

/// Compares a server's list with its pins.
pub fn compare(lock: &Lock, server: &str, listing: &Listing) -> ServerReport {
    let pins = lock.server(server);
    let pinned = |tool: &str| pins.and_then(|pins| pins.get(tool));
    let mut report = ServerReport::new(server, pins.is_some());
    for raw in &listing.tools {
        let now = match Definition::read(&raw.definition) {
            Ok(now) => now,
            Err(unusable) => {
                let Unusable { pointer, reason, .. } = unusable;
                let pinned = pinned(&raw.name).is_some();
                report.unusable.push(NotUsable {
                    tool: Some(raw.name.clone()),
                    pointer,
                    reason,
                    pinned,
                });
                continue;
            }
        };
        match pinned(now.name()) {
            None => report.added.push(Added {
                tool: now.name().clone(),
                sha256: now.fingerprint().to_owned(),
                description: now.description().to_owned(),
                flags: now.flags(),
            }),
            Some(pin) => match difference(pin.definition(), &now) {
                None => report.unchanged += 1,
                Some(difference) => report.changed.push(Changed {
                    tool: now.name().clone(),
                    before: pin.definition().fingerprint().to_owned(),
                    after: now.fingerprint().to_owned(),
                    difference,
                }),
            },
        }
    }
    for fault in listing.faults.iter().filter(|fault| of_a_tool(fault.kind)) {
        report.unusable.push(NotUsable {
            tool: fault.tool.as_deref().map(Into::into),
            pointer: fault.path.clone(),
            reason: fault.reason.clone(),
            pinned: fault.tool.as_deref().is_some_and(|tool| pinned(tool).is_some()),
        });
    }
    // A tool that is there but unusable is told as that.
    let is_told = |name: &Arc<str>| {
        listing.get(name).is_some() || report.unusable.iter().any(|u| u.tool.as_ref() == Some(name))
    };
    report.removed = pins
        .into_iter()
        .flat_map(|pins| pins.iter())
        .map(|(name, _)| name.clone())
        .filter(|name| !is_told(name))
        .collect();
    report.added.sort_by(|a, b| a.tool.cmp(&b.tool));
    report.changed.sort_by(|a, b| a.tool.cmp(&b.tool));
    report.drifted = !report.added.is_empty()
        || !report.removed.is_empty()
        || !report.changed.is_empty()
        || report.unusable.iter().any(|unusable| unusable.pinned)
        || !report.pinned;
    report
}

/// Whether a fault of a list is about one tool's definition.
fn of_a_tool(kind: ListFaultKind) -> bool {
    !matches!(kind, ListFaultKind::CursorRepeated | ListFaultKind::TooMany)
}

impl ServerReport {
    fn new(server: &str, pinned: bool) -> Self {
        Self {
            server: server.into(),
            pinned,
            drifted: false,
            unchanged: 0,
            added: Vec::new(),
            removed: Vec::new(),
            changed: Vec::new(),
            unusable: Vec::new(),
            error: None,
        }
    }

    /// A server that could not be asked. Its pins hold; nothing is known of a drift.
    pub fn unreachable(lock: &Lock, server: &str, error: String) -> Self {
        let pinned = lock.server(server).is_some();
        Self { error: Some(error), ..Self::new(server, pinned) }
    }
}
