//! Words that other processes left, and runs whose driver met an error: looked for now and then.

use std::sync::{Arc, Weak};

use tokio_util::sync::CancellationToken;

use super::Embedded;
use crate::runs::HostError;

/// Looks until the host ends or is gone.
pub(super) async fn sweep(host: Weak<Embedded>, closing: CancellationToken) {
    let Some(look) = host.upgrade().map(|host| host.options.look) else { return };
    let mut tried = tokio::time::Instant::now();
    loop {
        tokio::select! {
            () = closing.cancelled() => return,
            () = tokio::time::sleep(look) => {}
        }
        let Some(host) = host.upgrade() else { return };
        if let Err(error) = host.deliver() {
            tracing::error!(%error, "words to runs cannot be looked for");
        }
        host.lapse().await;
        if tried.elapsed() >= host.options.retry {
            tried = tokio::time::Instant::now();
            host.retry();
        }
    }
}

impl Embedded {
    fn deliver(self: &Arc<Self>) -> Result<(), HostError> {
        for run in self.journal().mailed()? {
            // One run that cannot be read is in the way of no other.
            if let Err(error) = self.nudge(&run) {
                tracing::error!(%run, %error, "a word cannot be delivered");
            }
        }
        Ok(())
    }

    /// Tries again with runs whose driver met an error: the disk may have room again.
    fn retry(self: &Arc<Self>) {
        let runs: Vec<Arc<str>> = self.troubles().keys().cloned().collect();
        for run in runs {
            let goes_on = match self.journal().summary(&run) {
                Ok(summary) => !summary.state.is_over() && !summary.paused,
                Err(_) => false,
            };
            if goes_on && !self.drives(&run) {
                match self.take_up(&run, None) {
                    Ok(_) => {}
                    Err(error) => tracing::error!(%run, %error, "a run cannot be tried again"),
                }
            } else if !goes_on {
                self.troubles().remove(&run);
            }
        }
    }
}
