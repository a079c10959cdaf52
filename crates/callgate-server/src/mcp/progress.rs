//! Progress for a client that gave a token: what a call is at, and that it still is.
//!
//! SDKs give a token with every call, whether anybody looks or not. A call that is over in a moment
//! tells nothing: its news would be two messages more than its result, for nobody.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use callgate_engine::{Notice, Observer};
use callgate_machine::Event;
use rmcp::{
    Peer, RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
    service::RequestContext,
};
use tokio::{
    sync::mpsc,
    time::{Instant, Interval, MissedTickBehavior, interval_at},
};

/// How long the last news may take on its way before the result goes out.
const LAST: Duration = Duration::from_secs(1);

/// How long a call may take before anything is told of it, where the heartbeat is not faster.
const MOMENT: Duration = Duration::from_millis(100);

/// Tells one client about one call. Does nothing without a token.
pub(super) struct Progress {
    to: Option<(Peer<RoleServer>, ProgressToken)>,
    /// MUST increase with each notification (2025-06-18, progress).
    told: f64,
    latest: Option<String>,
    /// The first moment is over.
    lasts: bool,
    sending: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    news: mpsc::UnboundedReceiver<String>,
    beat: Interval,
}

impl Progress {
    /// Progress of a call, and the observer that it hears of it by.
    pub(super) fn of(
        context: &RequestContext<RoleServer>,
        heartbeat: Duration,
    ) -> (Self, Option<Observer>) {
        let (sender, news) = mpsc::unbounded_channel();
        let to = context.meta.get_progress_token().map(|token| (context.peer.clone(), token));
        let observer = to.is_some().then(|| -> Observer {
            Arc::new(move |notice| {
                if let Some(words) = words_of(notice) {
                    // A call that ended has nobody to tell.
                    let _ = sender.send(words);
                }
            })
        });
        let heartbeat = heartbeat.max(Duration::from_millis(1));
        let mut beat = interval_at(Instant::now() + heartbeat.min(MOMENT), heartbeat);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let latest = to.is_some().then(|| "started".to_owned());
        (Self { to, told: 0.0, latest, lasts: false, sending: None, news, beat }, observer)
    }

    /// Goes on telling; never ends. Dropping it between two waits loses nothing.
    pub(super) async fn go_on(&mut self) -> std::convert::Infallible {
        loop {
            self.begin();
            tokio::select! {
                () = sent(&mut self.sending) => self.sending = None,
                Some(words) = self.news.recv() => self.latest = Some(words),
                _ = self.beat.tick(), if self.to.is_some() && self.sending.is_none() => {
                    self.lasts = true;
                    self.latest.get_or_insert_with(|| "still at work".to_owned());
                }
            }
        }
    }

    /// Sends the latest words, unless others are on their way: a client that reads slowly hears
    /// less, and the call does not wait for it.
    fn begin(&mut self) {
        if self.sending.is_some() || !self.lasts {
            return;
        }
        let (Some((peer, token)), Some(words)) = (&self.to, self.latest.take()) else { return };
        self.told += 1.0;
        let param = ProgressNotificationParam::new(token.clone(), self.told).with_message(words);
        let peer = peer.clone();
        self.sending = Some(Box::pin(async move {
            if let Err(error) = peer.notify_progress(param).await {
                tracing::debug!(%error, "a client could not be told of progress");
            }
        }));
    }

    /// Lets what is on its way arrive before the result does.
    pub(super) async fn end(mut self) {
        self.begin();
        if let Some(sending) = self.sending.take() {
            // The result is worth more than the news.
            let _ = tokio::time::timeout(LAST, sending).await;
        }
    }
}

async fn sent(sending: &mut Option<Pin<Box<dyn Future<Output = ()> + Send>>>) {
    match sending {
        Some(sending) => sending.await,
        None => std::future::pending().await,
    }
}

fn words_of(notice: &Notice) -> Option<String> {
    let Notice::Record(record) = notice else { return None };
    match &record.event {
        Event::ApprovalRequested { .. } => Some("waiting for approval".to_owned()),
        Event::CallStarted { lookup: Some(lookup), .. } => {
            Some(format!("checking with {}", lookup.tool))
        }
        Event::CallStarted { .. } => Some("admitted, running".to_owned()),
        _ => None,
    }
}
