//! The gate proxy: endpoints of providers, with gates between the model and the client.
//!
//! An application points its library's base URL here and keeps its own loop. The tools in its
//! request are judged as contracts; a call that its schema refuses goes back to the model with the
//! instructive envelope, within bounds, and the client only ever receives calls that its schemas
//! admit, or one clear error. Words stream on at once. `docs/proxy.md` tells it from the outside.
//!
//! - [`Proxy`]: what is served; [`Proxy::router`] is mounted behind the [`http`](crate::http) room.
//! - [`ProxyOptions`], [`Allow`], [`Catalog`]: how it is set, which models, the server's own tools.
//! - [`Opener`]: where models come from.
//! - [`Served`], [`Told`], [`Traced`]: what was done for each request.
//!
//! Rooms: `routes` (bodies in, answers out), `allow` (names of models), `contracts` and `shelf` (tools
//! of a request), `turn` (one answer: what is admitted, what goes back; pure), `drive` (asking), `live`
//! (streams), `catalog` (runs of the server's own tools), `told`, `trail`
//! (traces).
//!
//! Not here: what the APIs' bytes mean (`callgate_wire::inbound`), and judging arguments
//! (`callgate_contract`).

mod allow;
mod catalog;
mod contracts;
mod drive;
mod live;
mod opened;
mod options;
mod routes;
mod shelf;
mod told;
mod trail;
mod turn;

use std::sync::Arc;

use callgate_wire::inbound::{Dialect, Refusal};
use tokio::sync::Semaphore;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub use allow::Allow;
pub use opened::{Opened, Opener};
pub use options::{Catalog, ProxyOptions};
pub use told::{AdjustedCall, RefusedCall, Remark, Served, Told, Watch};
pub use trail::{Hop, Traced};

use self::{opened::Models, shelf::Shelf};

/// The proxy. Cheap to clone; clones are the same proxy.
#[derive(Clone)]
pub struct Proxy(Arc<Shared>);

struct Shared {
    options: ProxyOptions,
    models: Models,
    shelf: Shelf,
    room: Arc<Semaphore>,
    /// Answers on their way, and runs.
    tracker: TaskTracker,
    /// Fires when they may go on no longer.
    stop: CancellationToken,
}

impl Proxy {
    /// A proxy for the models of an opener.
    pub fn new(opener: impl Opener, options: ProxyOptions) -> Self {
        let room = options.max_requests.clamp(1, Semaphore::MAX_PERMITS);
        Self(Arc::new(Shared {
            models: Models::new(Arc::new(opener)),
            shelf: Shelf::default(),
            room: Arc::new(Semaphore::new(room)),
            tracker: TaskTracker::new(),
            stop: CancellationToken::new(),
            options,
        }))
    }

    /// How it is set.
    pub fn options(&self) -> &ProxyOptions {
        &self.0.options
    }

    /// Takes no more requests, lets answers on their way end in their time, then ends each with an
    /// error of its own: for [`HttpServer::run`](crate::http::HttpServer::run).
    pub async fn drain(&self) {
        self.0.tracker.close();
        let all = self.0.tracker.wait();
        if tokio::time::timeout(self.0.options.drain, all).await.is_err() {
            self.0.stop.cancel();
            if tokio::time::timeout(GRACE, self.0.tracker.wait()).await.is_err() {
                tracing::warn!("some answers did not end when they were told to");
            }
        }
    }
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Proxy").field("options", &self.0.options).finish_non_exhaustive()
    }
}

/// How long answers may take to end once they were told to; runs give their tools two seconds.
const GRACE: std::time::Duration = std::time::Duration::from_secs(5);

/// The status of a failure in an API's own words.
fn status_of(dialect: Dialect, refusal: &Refusal) -> u16 {
    dialect.inbound().refuse(refusal).0
}
