//! News for clients: lists that changed, resources that were updated.
//!
//! A legacy client is told on its session; a modern one on the stream that it opened with
//! `subscriptions/listen`, and of what it listens for only (2026-07-28, subscriptions).

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::{
    Peer, RoleServer,
    model::SubscriptionFilter,
    service::{SubscriptionContext, SubscriptionSendError},
};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

/// How many pieces of news a listener may be behind; one that is further behind is told that
/// every list changed.
const BEHIND: usize = 64;

/// What changed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Change {
    Tools,
    Prompts,
    Resources,
    Resource(Arc<str>),
}

/// Tells clients what changed. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Changes {
    news: broadcast::Sender<Change>,
    /// Legacy sessions that are past their handshake.
    sessions: Arc<Mutex<Vec<Peer<RoleServer>>>>,
}

impl Changes {
    pub(super) fn new() -> Self {
        Self { news: broadcast::channel(BEHIND).0, sessions: Arc::default() }
    }

    /// The list of tools is another one.
    pub fn tools(&self) {
        self.tell(&Change::Tools);
    }

    /// The list of prompts is another one.
    pub fn prompts(&self) {
        self.tell(&Change::Prompts);
    }

    /// The list of resources is another one.
    pub fn resources(&self) {
        self.tell(&Change::Resources);
    }

    /// A resource has other contents. Told to modern listeners that subscribed to it; a legacy
    /// client's `resources/subscribe` is its handler's own to keep.
    pub fn resource(&self, uri: &str) {
        self.tell(&Change::Resource(uri.into()));
    }

    /// How many clients would hear of a change now.
    pub fn listeners(&self) -> usize {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|peer| !peer.is_transport_closed());
        sessions.len() + self.news.receiver_count()
    }

    /// A legacy session that wants to hear.
    pub(super) fn join(&self, peer: Peer<RoleServer>) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|peer| !peer.is_transport_closed());
        sessions.push(peer);
    }

    fn tell(&self, change: &Change) {
        // Nobody listens: nobody is to be told.
        let _ = self.news.send(change.clone());
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|peer| !peer.is_transport_closed());
        for peer in &*sessions {
            let (peer, change) = (peer.clone(), change.clone());
            // A session that takes its time keeps nobody else waiting.
            tokio::spawn(async move {
                let told = match change {
                    Change::Tools => peer.notify_tool_list_changed().await,
                    Change::Prompts => peer.notify_prompt_list_changed().await,
                    Change::Resources => peer.notify_resource_list_changed().await,
                    Change::Resource(_) => Ok(()),
                };
                if let Err(error) = told {
                    tracing::debug!(%error, "a session could not be told of a change");
                }
            });
        }
    }

    /// Runs one modern subscription until it is cancelled or the server closes.
    pub(super) async fn listen(
        &self,
        subscription: SubscriptionContext,
        closed: &CancellationToken,
    ) {
        let mut news = self.news.subscribe();
        loop {
            let change = tokio::select! {
                () = subscription.cancelled() => return,
                () = closed.cancelled() => return,
                change = news.recv() => change,
            };
            let all = [Change::Tools, Change::Prompts, Change::Resources];
            let told = match change {
                Ok(change) => pass_on(&subscription, std::slice::from_ref(&change)).await,
                Err(broadcast::error::RecvError::Lagged(_)) => pass_on(&subscription, &all).await,
                Err(broadcast::error::RecvError::Closed) => return,
            };
            if let Err(error) = told {
                tracing::debug!(%error, "a listener could not be told of a change");
                return;
            }
        }
    }
}

async fn pass_on(
    subscription: &SubscriptionContext,
    changes: &[Change],
) -> Result<(), SubscriptionSendError> {
    let (wanted, sink) = (subscription.accepted(), subscription.sink());
    for change in changes.iter().filter(|change| is_wanted(wanted, change)) {
        match change {
            Change::Tools => sink.notify_tool_list_changed().await?,
            Change::Prompts => sink.notify_prompt_list_changed().await?,
            Change::Resources => sink.notify_resource_list_changed().await?,
            Change::Resource(uri) => sink.notify_resource_updated(&**uri).await?,
        }
    }
    Ok(())
}

fn is_wanted(filter: &SubscriptionFilter, change: &Change) -> bool {
    let yes = Some(true);
    match change {
        Change::Tools => filter.tools_list_changed == yes,
        Change::Prompts => filter.prompts_list_changed == yes,
        Change::Resources => filter.resources_list_changed == yes,
        Change::Resource(uri) => {
            let uris = filter.resource_subscriptions.as_deref().unwrap_or_default();
            uris.iter().any(|wanted| **wanted == **uri)
        }
    }
}
