//! Requests that wait for their answers on one connection.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::value::RawValue;
use tokio::sync::oneshot;

use super::{
    error::McpError,
    message::Fault,
    wait::{Held, Signs},
};

/// An answer, or why there will be none.
pub(super) type Reply = Result<Box<RawValue>, McpError>;

/// Ids and the requests behind them. Ids rise, so the lowest is the oldest.
#[derive(Debug)]
pub(super) struct Pending {
    table: Mutex<Table>,
}

#[derive(Debug)]
struct Table {
    next: u64,
    waiting: BTreeMap<u64, Waiting>,
    dead: Option<McpError>,
}

#[derive(Debug)]
struct Waiting {
    /// Whether it waits for an answer to come soon: a subscription does not.
    expects: bool,
    reply: oneshot::Sender<Reply>,
    signs: Arc<Signs>,
}

/// One request's place in the table. It leaves it when dropped.
pub(super) struct Ticket {
    pub(super) id: u64,
    pub(super) signs: Arc<Signs>,
    pub(super) reply: oneshot::Receiver<Reply>,
    pending: Arc<Pending>,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.pending.lock().waiting.remove(&self.id);
    }
}

impl Pending {
    pub(super) fn new() -> Arc<Self> {
        let table = Table { next: 1, waiting: BTreeMap::new(), dead: None };
        Arc::new(Self { table: Mutex::new(table) })
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new id, and a place to wait at.
    ///
    /// # Errors
    /// Why the connection is no more.
    pub(super) fn enter(self: &Arc<Self>, expects: bool) -> Result<Ticket, McpError> {
        let (sender, reply) = oneshot::channel();
        let signs = Arc::new(Signs::default());
        let mut table = self.lock();
        if let Some(dead) = &table.dead {
            return Err(dead.clone().unsent());
        }
        let id = table.next;
        table.next += 1;
        table.waiting.insert(id, Waiting { expects, reply: sender, signs: signs.clone() });
        drop(table);
        Ok(Ticket { id, signs, reply, pending: self.clone() })
    }

    /// Delivers an answer.
    ///
    /// # Errors
    /// Nobody waits for it: it is late, or it was never asked for.
    pub(super) fn answer(&self, id: u64, reply: Reply) -> Result<(), Stray> {
        let mut table = self.lock();
        let Some(waiting) = table.waiting.remove(&id) else {
            return Err(if id > 0 && id < table.next { Stray::Late } else { Stray::NeverAsked });
        };
        drop(table);
        // Whoever waited may have gone this moment.
        let _ = waiting.reply.send(reply);
        Ok(())
    }

    /// A request shows life.
    pub(super) fn sign(&self, id: u64) {
        if let Some(waiting) = self.lock().waiting.get(&id) {
            waiting.signs.note();
        }
    }

    /// A person is asked something on behalf of some request that waits now; nobody can tell which.
    pub(super) fn hold_all(&self) -> Vec<Held> {
        self.lock().waiting.values().map(|waiting| waiting.signs.hold()).collect()
    }

    /// An answer was lost in a broken message: the oldest request has waited for it the longest.
    pub(super) fn fail_oldest(&self, fault: Fault) {
        let mut table = self.lock();
        let oldest = table.waiting.iter().find(|(_, waiting)| waiting.expects).map(|(id, _)| *id);
        let oldest = oldest.and_then(|id| table.waiting.remove(&id));
        drop(table);
        if let Some(waiting) = oldest {
            let _ = waiting.reply.send(Err(McpError::Protocol(fault)));
        }
    }

    /// The connection is no more: for all that wait, and for all that come.
    pub(super) fn end(&self, why: McpError) {
        let mut table = self.lock();
        let why = table.dead.get_or_insert(why).clone();
        let waiting = std::mem::take(&mut table.waiting);
        drop(table);
        for (_, waiting) in waiting {
            let _ = waiting.reply.send(Err(why.clone()));
        }
    }

    /// Why the connection is no more, if it is.
    pub(super) fn ended(&self) -> Option<McpError> {
        self.lock().dead.clone()
    }
}

/// An answer that nobody waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stray {
    /// To a request that was given up.
    Late,
    /// To none of ours.
    NeverAsked,
}
