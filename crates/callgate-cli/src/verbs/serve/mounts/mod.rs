//! What is mounted: one file a part.
//!
//! To add a part is to add its file with a `mount`, its line in [`all`], and its section in
//! [`Config`].

mod a2a;
mod api;
mod mcp;
mod metrics;
mod proxy;
mod ui;

use std::{future::Future, net::SocketAddr, path::Path, pin::Pin, sync::Arc, time::Duration};

use callgate::{
    Project, Toolset,
    server::{Router, http::HttpOptions, runs::RunHost, telemetry::Telemetry},
};
use serde_json::Value;

pub(super) use self::mcp::{watched, who};
use super::config::Config;
use crate::{failure::Failure, show::screen::Screen};

/// What parts are made of.
pub(super) struct World<'w> {
    pub(super) project: &'w Project,
    pub(super) config: &'w Config,
    /// The folder that the paths of the settings are beside.
    #[expect(dead_code, reason = "for parts with files of their own")]
    pub(super) folder: &'w Path,
    /// How the door is set, and where it is.
    pub(super) http: &'w HttpOptions,
    #[expect(dead_code, reason = "for parts that tell others where they are")]
    pub(super) address: SocketAddr,
    /// The project's tools, gates set as the settings want them.
    pub(super) tools: &'w Toolset,
    /// Who calls where a token does not say.
    pub(super) caller: &'w Value,
    /// The model that was typed or set for runs, and where its API was said to be.
    pub(super) model: Option<&'w str>,
    pub(super) base_url: Option<&'w str>,
    /// Runs, where they are driven here.
    pub(super) host: Option<&'w Arc<RunHost>>,
    /// Counts, and sends traces.
    pub(super) telemetry: &'w Telemetry,
    /// How long calls at work have to end.
    pub(super) drain: Duration,
    pub(super) screen: &'w Arc<Screen>,
    pub(super) is_quiet: bool,
}

/// A part that is mounted.
pub(super) struct Mount {
    /// Its name, as the line that tells of it has it.
    pub(super) name: &'static str,
    /// Where it is, for people.
    pub(super) path: &'static str,
    pub(super) router: Router,
    /// Ends it: calls at work have their time.
    pub(super) drain: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// Makes a part; nothing where it is not wanted.
type Make = fn(&World<'_>) -> Result<Option<Mount>, Failure>;

const PARTS: &[Make] =
    &[mcp::mount, api::mount, a2a::mount, proxy::mount, metrics::mount, ui::mount];

/// Every part that is wanted.
pub(super) fn all(world: &World<'_>) -> Result<Vec<Mount>, Failure> {
    PARTS.iter().filter_map(|make| make(world).transpose()).collect()
}
