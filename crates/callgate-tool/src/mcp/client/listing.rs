//! The tool list of a client: read once for all who ask, kept as long as it may be.
//!
//! A server of the new protocol says how long (`ttlMs`); one of the old says when it changes, or
//! nothing. Calls need a list as well (to compare definitions, to make headers); they take an older
//! one, but never one that the server has called changed, and never one older than `max_stale`.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, atomic::Ordering},
    time::{Duration, Instant},
};

use tokio_util::sync::CancellationToken;

use super::core::Core;
use crate::mcp::{
    ask::Ask,
    connection::Connection,
    error::McpError,
    headers::Param,
    list::{
        Listing,
        walk::{Bounds, Walk},
    },
    message::Members,
    wait::Limits,
};

/// A list, and what it was true of.
#[derive(Clone)]
pub(super) struct Cached {
    pub(super) listing: Arc<Listing>,
    pub(super) params: Arc<HashMap<Arc<str>, Vec<Param>>>,
    connection: u64,
    /// The count of changes when the reading began.
    changes: u64,
}

const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

impl Core {
    fn cached(&self) -> Option<Cached> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn last_list(&self) -> Option<Arc<Listing>> {
        self.cached().map(|cached| cached.listing)
    }

    /// Of this connection, and nothing was said since.
    fn current(&self, connection: &Connection) -> Option<Cached> {
        let count = self.plan.hub.change_count();
        self.cached().filter(|c| c.connection == connection.number && c.changes == count)
    }

    pub(super) async fn list(self: &Arc<Self>) -> Result<Arc<Listing>, McpError> {
        let connection = self.connection().await?;
        let tells = connection.known.tells_changes && !connection.speech.is_modern();
        let fresh = self.current(&connection).filter(|cached| {
            let age = cached.listing.read.elapsed();
            match cached.listing.ttl {
                Some(ttl) => age < ttl,
                None => tells && age < self.plan.options.max_stale,
            }
        });
        match fresh {
            Some(cached) => Ok(cached.listing),
            None => self.refresh().await,
        }
    }

    /// The list as a call needs it.
    pub(super) async fn list_for_call(
        self: &Arc<Self>,
        connection: &Connection,
    ) -> Result<Cached, McpError> {
        let max_stale = self.plan.options.max_stale;
        let usable = |cached: &Cached, until: Duration| cached.listing.read.elapsed() < until;
        if let Some(cached) = self.current(connection)
            && usable(&cached, cached.listing.ttl.unwrap_or(max_stale))
        {
            return Ok(cached);
        }
        let mut error = None;
        // A change may come while the list is read; one that never ends must not hold the call.
        for _ in 0..3 {
            error = self.refresh().await.err();
            if let Some(cached) = self.current(connection).filter(|_| error.is_none()) {
                return Ok(cached);
            }
            if error.is_some() || connection.link.ended().is_some() {
                break;
            }
        }
        match (error, self.current(connection)) {
            // Old, but nobody said that it changed: the failed reading is in the health.
            (Some(_), Some(cached)) if usable(&cached, max_stale) => Ok(cached),
            (Some(error @ McpError::Lost { .. }), _) => Err(error.unsent()),
            (Some(error), _) => Err(McpError::Stale(Arc::new(error))),
            (None, _) => self
                .cached()
                .filter(|cached| cached.connection == connection.number)
                .ok_or_else(|| {
                    let why = "it ended while its tools were read".to_owned();
                    McpError::Lost { why, sent: false }
                }),
        }
    }

    /// The next call reads the list anew.
    pub(super) fn forget_list(&self) {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Reads the list now, or joins a reading under way.
    async fn refresh(self: &Arc<Self>) -> Result<Arc<Listing>, McpError> {
        let reading = self.listing.join(|| {
            let core = self.clone();
            async move {
                let mut outcome = core.read_list().await;
                // Reading may be repeated: once, on a new connection.
                if matches!(outcome, Err(McpError::Lost { .. } | McpError::SessionLost)) {
                    outcome = core.read_list().await;
                }
                let error = outcome.as_ref().err().map(ToString::to_string);
                if let Some(error) = &error {
                    tracing::warn!(server = %core.plan.config.name, error, "a tool list could not be read");
                }
                *core.list_error.lock().unwrap_or_else(PoisonError::into_inner) = error;
                outcome
            }
        });
        reading.await.unwrap_or(Err(McpError::Closed))
    }

    async fn read_list(self: &Arc<Self>) -> Result<Arc<Listing>, McpError> {
        let connection = self.connection().await?;
        let changes = self.plan.hub.change_count();
        let walk = match self.walk(&connection).await {
            // A cursor that has become invalid: from the start, once (2026-07-28, caching).
            Err(Walked::Midway(McpError::Rpc(error))) if error.code == INVALID_PARAMS => {
                self.walk(&connection).await
            }
            walked => walked,
        };
        let walk = walk.map_err(|(Walked::First(error) | Walked::Midway(error))| error)?;
        let listing = Arc::new(Listing {
            tools: walk.tools,
            faults: walk.faults,
            revision: self.revisions.fetch_add(1, Ordering::Relaxed) + 1,
            ttl: walk.ttl.filter(|ttl| !ttl.is_zero()),
            read: Instant::now(),
        });
        let cached = Cached {
            listing: listing.clone(),
            params: Arc::new(walk.params),
            connection: connection.number,
            changes,
        };
        *self.cached.lock().unwrap_or_else(PoisonError::into_inner) = Some(cached);
        Ok(listing)
    }

    async fn walk(&self, connection: &Connection) -> Result<Walk, Walked> {
        let options = &self.plan.options;
        let timeouts = self.plan.config.timeouts;
        let limits = Limits::new(timeouts.idle, timeouts.max, CancellationToken::new());
        let mut walk = Walk::new(Bounds {
            pages: options.max_pages,
            tools: options.max_tools,
            headers: connection.link.is_http() && connection.speech.is_modern(),
        });
        let mut params = Members::new();
        let mut is_first = true;
        loop {
            let told = self
                .ask(
                    connection,
                    &Ask {
                        method: "tools/list",
                        name: None,
                        params: &params,
                        meta: &Members::new(),
                        headers: &[],
                        speech: &connection.speech,
                        progress: false,
                        limits: &limits,
                    },
                )
                .await;
            let result = match told.reply {
                Ok(result) => result,
                // It never said that it has tools.
                Err(McpError::Rpc(error))
                    if error.code == METHOD_NOT_FOUND && !connection.known.tools =>
                {
                    return Ok(walk);
                }
                Err(error) if is_first => return Err(Walked::First(error)),
                Err(error) => return Err(Walked::Midway(error)),
            };
            match walk.page(&result) {
                Ok(None) => return Ok(walk),
                Ok(Some(cursor)) => params = Members::new().string("cursor", &cursor),
                Err(fault) => {
                    self.plan.hub.fault(&fault);
                    return Err(Walked::First(McpError::Protocol(fault)));
                }
            }
            is_first = false;
        }
    }
}

/// Where a walk ended.
enum Walked {
    First(McpError),
    Midway(McpError),
}
