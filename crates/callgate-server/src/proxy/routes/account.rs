//! What a request takes up while it is served, and what is told of it when it is over.

use std::time::{Duration, Instant};

use callgate_wire::{
    Usage,
    inbound::{Dialect, Refusal},
};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::proxy::{
    Proxy, status_of,
    told::{Served, Told},
    trail::Trail,
};

/// What a request takes up while it is served; tells what became of it when it is gone.
pub(super) struct Account {
    pub(super) served: Served,
    pub(super) trail: Trail,
    proxy: Proxy,
    began: Instant,
    _permit: OwnedSemaphorePermit,
    _token: TaskTrackerToken,
}

/// The client went away before there was an answer.
const GONE: u16 = 499;

impl Account {
    pub(super) fn open(
        proxy: &Proxy,
        dialect: Dialect,
        permit: OwnedSemaphorePermit,
        token: TaskTrackerToken,
        trail: Trail,
    ) -> Self {
        let served = Served {
            dialect,
            model: "".into(),
            streamed: false,
            status: GONE,
            told: Told::default(),
            usage: Usage::default(),
            time: Duration::ZERO,
            traced: None,
        };
        let (proxy, began) = (proxy.clone(), Instant::now());
        Self { served, trail, proxy, began, _permit: permit, _token: token }
    }

    pub(super) fn answered(&mut self) {
        self.served.status = 200;
    }

    pub(super) fn refused(&mut self, refusal: &Refusal) {
        self.served.status = status_of(self.served.dialect, refusal);
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.served.time = self.began.elapsed();
        self.served.traced = self.trail.ended();
        let Served { dialect, model, streamed, status, told, usage, time, .. } = &self.served;
        tracing::info!(
            ?dialect, %model, streamed, status, attempts = told.attempts,
            refused = told.refused.len(), repaired = told.adjusted.len(),
            input_tokens = usage.input_tokens, output_tokens = usage.output_tokens,
            ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX), "served by the proxy",
        );
        if let Some(watch) = &self.proxy.options().watch {
            watch(&self.served);
        }
    }
}
