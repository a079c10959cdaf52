//! The connection of a client: made when needed, made again when it ended, by one task for all.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use tokio::time::Instant;

use super::listing::Cached;
use crate::{
    Env,
    mcp::{
        ask::{Ask, Told},
        config::ServerConfig,
        connection::{Connection, Plan, Unconnected},
        era::{UNSUPPORTED_VERSION, supported},
        error::McpError,
        flight::Flight,
        health::{Era, Health, State},
        hub::Hub,
        list::Listing,
        options::ClientOptions,
        speech::MODERN,
    },
};

pub(super) struct Core {
    pub(super) plan: Plan,
    slot: Mutex<Slot>,
    connecting: Flight<Result<Arc<Connection>, McpError>>,
    pub(super) listing: Flight<Result<Arc<Listing>, McpError>>,
    pub(super) cached: Mutex<Option<Cached>>,
    pub(super) list_error: Mutex<Option<String>>,
    pub(super) revisions: AtomicU64,
    /// Ends in a row, without an answer in between.
    strikes: AtomicU32,
}

#[derive(Default)]
struct Slot {
    connection: Option<Arc<Connection>>,
    /// Why there is none, if there was an attempt.
    failed: Option<Unconnected>,
    failed_at: Option<Instant>,
    /// What it spoke last.
    era: Option<Era>,
    connections: u64,
    is_closed: bool,
}

/// Before the second attempt after the first end; doubled with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// Longer waits are not waited for: whoever asks is told why the last attempt failed.
const PATIENCE: Duration = Duration::from_secs(1);

impl Core {
    pub(super) fn new(config: ServerConfig, env: Env, options: ClientOptions) -> Self {
        let hub = Arc::new(Hub::new(config.name.clone(), options.elicitor.clone()));
        Self {
            plan: Plan { config, env, options, hub },
            slot: Mutex::default(),
            connecting: Flight::new(),
            listing: Flight::new(),
            cached: Mutex::default(),
            list_error: Mutex::default(),
            revisions: AtomicU64::new(0),
            strikes: AtomicU32::new(0),
        }
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection, made now where there is none.
    pub(super) async fn connection(self: &Arc<Self>) -> Result<Arc<Connection>, McpError> {
        if let Some(connection) = self.alive()? {
            return Ok(connection);
        }
        let connecting = self.connecting.join(|| {
            let core = self.clone();
            async move { core.connect().await }
        });
        connecting.await.unwrap_or(Err(McpError::Closed))
    }

    /// The connection, if it is still one.
    fn alive(&self) -> Result<Option<Arc<Connection>>, McpError> {
        let mut slot = self.slot();
        if slot.is_closed {
            return Err(McpError::Closed);
        }
        let Some(connection) = &slot.connection else { return Ok(None) };
        let Some(why) = connection.link.ended() else { return Ok(Some(connection.clone())) };
        let failed = Unconnected { why, stderr: connection.link.stderr() };
        slot.connection = None;
        self.note_failure(&mut slot, failed);
        Ok(None)
    }

    fn note_failure(&self, slot: &mut Slot, failed: Unconnected) {
        tracing::warn!(server = %self.plan.config.name, why = %failed.why, "an MCP server is gone");
        slot.failed = Some(failed);
        slot.failed_at = Some(Instant::now());
        self.strikes.fetch_add(1, Ordering::Relaxed);
    }

    async fn connect(&self) -> Result<Arc<Connection>, McpError> {
        // Another flight may have landed between the look and the start of this one.
        if let Some(connection) = self.alive()? {
            return Ok(connection);
        }
        let wait = self.wait_left();
        if wait > PATIENCE
            && let Some(failed) = &self.slot().failed
        {
            return Err(failed.why.clone().unsent());
        }
        tokio::time::sleep(wait).await;
        let (number, era) = {
            let mut slot = self.slot();
            slot.connections += 1;
            (slot.connections, slot.era)
        };
        let outcome = self.plan.connect(number, era).await;
        let mut slot = self.slot();
        if slot.is_closed {
            return Err(McpError::Closed);
        }
        match outcome {
            Ok(connection) => {
                let connection = Arc::new(connection);
                slot.era = Some(connection.speech.era);
                slot.failed = None;
                slot.connection = Some(connection.clone());
                Ok(connection)
            }
            Err(failed) => {
                let why = failed.why.clone().unsent();
                // Perhaps it speaks something else now.
                slot.era = None;
                self.note_failure(&mut slot, failed);
                Err(why)
            }
        }
    }

    fn wait_left(&self) -> Duration {
        let strikes = self.strikes.load(Ordering::Relaxed);
        let Some(since) = self.slot().failed_at.map(|at| at.elapsed()) else {
            return Duration::ZERO;
        };
        back_off(strikes).saturating_sub(since)
    }

    /// Asks on a connection. A server that refuses a version which it supports is asked once more:
    /// it has not acted on the request.
    pub(super) async fn ask(&self, connection: &Connection, ask: &Ask<'_>) -> Told {
        let mut told = connection.link.ask(ask).await;
        if let Err(McpError::Rpc(error)) = &told.reply
            && error.code == UNSUPPORTED_VERSION
            && connection.speech.is_modern()
            && supported(error).is_some_and(|versions| versions.iter().any(|v| v == MODERN))
        {
            told = connection.link.ask(ask).await;
        }
        if matches!(told.reply, Ok(_) | Err(McpError::Rpc(_))) {
            self.strikes.store(0, Ordering::Relaxed);
        }
        told
    }

    pub(super) fn health(&self) -> Health {
        let ago = |list: Arc<Listing>| SystemTime::now().checked_sub(list.read.elapsed());
        let listed_at = self.last_list().and_then(ago);
        // Notices an end that nobody has met yet.
        let _ = self.alive();
        let is_connecting = self.connecting.is_under_way();
        let slot = self.slot();
        let state = match (&slot.connection, &slot.failed) {
            (Some(connection), _) => State::Ready(connection.known.server.clone()),
            _ if slot.is_closed => State::NotStarted,
            (None, _) if is_connecting => State::Connecting,
            (None, Some(failed)) => {
                State::Failed { why: failed.why.to_string(), stderr: failed.stderr.clone() }
            }
            (None, None) => State::NotStarted,
        };
        Health {
            state,
            restarts: slot.connections.saturating_sub(1),
            faults: self.plan.hub.faults(),
            last_fault: self.plan.hub.last_fault(),
            listed_at,
            list_error: self.list_error.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }

    pub(super) async fn close(&self) {
        let connection = self.take();
        if let Some(connection) = connection {
            connection.link.close(&connection.speech).await;
        }
    }

    /// At once, without waiting.
    pub(super) fn stop(&self) {
        drop(self.take());
    }

    fn take(&self) -> Option<Arc<Connection>> {
        self.connecting.stop();
        self.listing.stop();
        let mut slot = self.slot();
        slot.is_closed = true;
        slot.connection.take()
    }
}

/// How long after an end the next attempt is made.
fn back_off(strikes: u32) -> Duration {
    match strikes {
        0 => Duration::ZERO,
        n => FIRST_WAIT.saturating_mul(1 << (n - 1).min(16)).min(LONGEST_WAIT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_grow_apart() {
        let rows =
            [(0, 0), (1, 100), (2, 200), (5, 1600), (9, 25_600), (10, 30_000), (u32::MAX, 30_000)];
        for (strikes, ms) in rows {
            assert_eq!(back_off(strikes), Duration::from_millis(ms), "{strikes}");
        }
    }
}
