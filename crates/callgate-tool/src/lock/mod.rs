//! `callgate.lock`: what a person accepted of the servers' definitions, and of other agents' cards.
//!
//! A server may tell a tool one way today and another way tomorrow, and a model follows what it
//! reads. So every definition that a project uses is pinned: with its hash, and whole, so that the
//! catalog can be built without a server being started. At a call the server's current definition
//! is compared with the pin ([`Pin::check`]); another one is `definition_changed`, nothing is sent,
//! and a person sees what changed ([`compare`]) before they accept it.
//!
//! ```json
//! {
//!   "version": 1,
//!   "servers": {
//!     "time": {
//!       "tools": {
//!         "get_current_time": {
//!           "sha256": "5e1f…",
//!           "definition": { "name": "get_current_time", "description": "…", "inputSchema": {} }
//!         }
//!       }
//!     }
//!   }
//! }
//! ```
//!
//! Agents elsewhere are in `agents`, by the URL that contracts name: `{"sha256", "card"}`. A card says
//! where requests go and what its skills take, so another one is `definition_changed` as well.
//!
//! Servers and tools are in the order of their names, definitions in the order of their server:
//! the same definitions make the same bytes. `sha256` is
//! [`Definition::fingerprint`](callgate_contract::definition::Definition::fingerprint); an entry
//! whose definition has another hash was edited by hand and is refused. The file belongs in version
//! control, beside `agent.json`.

mod card;
mod catalog;
mod compare;
mod file;
mod kind;
mod layout;
mod read;

use std::{collections::BTreeMap, sync::Arc};

use callgate_contract::{ErrorKind, Executed, Failure, definition::Definition};

use crate::mcp::{DefinitionCheck, Listing, RawTool};

pub(crate) use card::Wanted;
pub use card::{AgentReport, Cards, PinnedCard};
pub use compare::{Added, Changed, LockReport, NotUsable, ServerReport, compare};
pub use file::LockError;
pub(crate) use kind::KIND;
pub use kind::{McpSpec, McpToolSpec, Servers};

/// The file's name, beside `agent.json`.
pub const FILE: &str = "callgate.lock";

/// The version that is written, and the newest that is read.
pub const VERSION: u64 = 1;

/// Every pinned definition of a project.
#[derive(Debug, Clone, Default)]
pub struct Lock {
    servers: BTreeMap<Arc<str>, Pins>,
    agents: BTreeMap<Arc<str>, PinnedCard>,
}

/// The pinned definitions of one server, by the tool's name there.
#[derive(Debug, Clone, Default)]
pub struct Pins {
    tools: BTreeMap<Arc<str>, Pin>,
}

/// One pinned definition. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Pin(Arc<Definition>);

impl Lock {
    /// The pins of a server; nothing where it was never pinned.
    pub fn server(&self, name: &str) -> Option<&Pins> {
        self.servers.get(name)
    }

    /// All servers that were ever pinned, by name.
    pub fn servers(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Pins)> {
        self.servers.iter()
    }

    /// Pins a server as it is: what is gone or cannot be used any more loses its pin, what is
    /// unchanged keeps its entry byte for byte.
    pub fn accept(&mut self, server: &str, listing: &Listing) {
        let known = self.servers.remove(server).unwrap_or_default();
        let tools = listing.tools.iter().filter_map(|raw| {
            let definition = Definition::read(&raw.definition).ok()?;
            let pin = match known.tools.get(definition.name()) {
                Some(pin) if pin.0.fingerprint() == definition.fingerprint() => pin.clone(),
                _ => Pin(Arc::new(definition)),
            };
            Some((pin.0.name().clone(), pin))
        });
        let tools = tools.collect();
        self.servers.insert(server.into(), Pins { tools });
    }

    /// Pins one tool of a server as it is, or takes its pin away where it is gone or unusable.
    /// Whether anybody knows the tool.
    pub fn accept_tool(&mut self, server: &str, tool: &str, listing: &Listing) -> bool {
        let now = listing.get(tool).and_then(|raw| Definition::read(&raw.definition).ok());
        let pins = self.servers.entry(server.into()).or_default();
        match now {
            Some(definition) => {
                let same = |pin: &Pin| pin.0.fingerprint() == definition.fingerprint();
                if !pins.tools.get(tool).is_some_and(same) {
                    pins.tools.insert(tool.into(), Pin(Arc::new(definition)));
                }
                true
            }
            None => pins.tools.remove(tool).is_some() || listing.get(tool).is_some(),
        }
    }

    /// Forgets a server.
    pub fn forget(&mut self, server: &str) {
        self.servers.remove(server);
    }

    /// Takes over another lock's pins of a server.
    pub fn take(&mut self, server: &str, from: &Self) {
        if let Some(pins) = from.servers.get(server) {
            self.servers.insert(server.into(), pins.clone());
        }
    }
}

impl Pins {
    /// A tool's pin, by its name on the server.
    pub fn get(&self, tool: &str) -> Option<&Pin> {
        self.tools.get(tool)
    }

    /// All pins, by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Pin)> {
        self.tools.iter()
    }

    /// How many tools are pinned.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }
}

impl Pin {
    /// The definition that was accepted.
    pub fn definition(&self) -> &Definition {
        &self.0
    }

    /// Whether a server's current definition is the accepted one.
    ///
    /// # Errors
    /// `definition_changed`: it is another one, or cannot be read.
    pub fn check(&self, server: &str, now: &RawTool) -> Result<(), Failure> {
        let changed = match Definition::read(&now.definition) {
            Ok(now) if now.fingerprint() == self.0.fingerprint() => return Ok(()),
            Ok(now) => {
                let found = callgate_contract::definition::difference(&self.0, &now);
                let fields = found.map(|found| found.fields.join(", ")).unwrap_or_default();
                format!("changed since it was accepted ({fields})")
            }
            Err(unusable) => {
                format!("changed since it was accepted and cannot be used: {unusable}")
            }
        };
        let tool = self.0.name();
        let message = format!("the definition of \"{tool}\" on the server \"{server}\" {changed}");
        Err(Failure::new(ErrorKind::DefinitionChanged, message)
            .executed(Executed::No)
            .retryable(false)
            .hint(format!(
                "This tool cannot be used until a person has looked at the change (callgate lock) and accepts it: callgate lock --accept {server}/{tool}. Go on without it or tell the user."
            )))
    }

    /// The same as a closure, for [`McpTool`](crate::mcp::McpTool).
    pub fn checker(&self, server: impl Into<Arc<str>>) -> DefinitionCheck {
        let (pin, server) = (self.clone(), server.into());
        Arc::new(move |now| pin.check(&server, now))
    }
}
