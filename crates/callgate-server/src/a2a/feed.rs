//! Following a task: what happens, one item after the other, the same to everybody who listens.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use callgate_tool::a2a::wire::Update;
use futures_util::StreamExt as _;

use super::{question::Wait, view::View};
use crate::runs::{HostError, RunHost, Seen, SeenStream};

/// How often a task is looked at whose run rests: delegates that wait say nothing to it.
const LOOK: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(5);

/// How far a task is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// Until it is the client's turn.
    Turn,
    /// Until it is over.
    End,
}

/// A task being followed.
pub(super) struct Feed {
    host: Arc<RunHost>,
    view: View,
    seen: SeenStream,
    ready: VecDeque<Update>,
    until: Until,
    pause: Duration,
    is_done: bool,
}

impl Feed {
    /// Follows a task from where its view is.
    ///
    /// # Errors
    /// There is no such run.
    pub(super) async fn new(
        host: &Arc<RunHost>,
        view: View,
        until: Until,
    ) -> Result<Self, HostError> {
        let seen = host.watch(view.id(), Some(view.last())).await?;
        Ok(Self {
            host: host.clone(),
            view,
            seen,
            ready: VecDeque::new(),
            until,
            pause: LOOK,
            is_done: false,
        })
    }

    pub(super) fn view(&self) -> &View {
        &self.view
    }

    /// The next item; nothing at the end, or where the server ends first.
    ///
    /// May be dropped and called again: nothing is lost between.
    pub(super) async fn next(&mut self) -> Option<Update> {
        loop {
            if let Some(update) = self.ready.pop_front() {
                return Some(update);
            }
            let is_over = match self.until {
                Until::Turn => self.view.turn_is_over(),
                Until::End => self.view.state().is_terminal(),
            };
            if self.is_done || is_over {
                return None;
            }
            tokio::select! {
                biased;
                seen = self.seen.next() => match seen {
                    Some(Ok(Seen::Record(record))) => {
                        self.pause = LOOK;
                        self.ready.extend(self.view.take(&record));
                    }
                    Some(Ok(Seen::Delta { hop, delta, .. })) => {
                        self.ready.extend(self.view.piece(hop, &delta));
                    }
                    Some(Err(error)) => {
                        tracing::error!(run = %self.view.id(), %error, "a task cannot be followed");
                        self.is_done = true;
                    }
                    None => self.is_done = true,
                },
                () = tokio::time::sleep(self.pause) => {
                    self.pause = (self.pause * 2).min(LONGEST);
                    if delegates(&self.host, &mut self.view).await {
                        self.ready.push_back(self.view.status_update());
                    }
                }
            }
        }
    }

    /// Follows it to where it was to be followed to.
    pub(super) async fn follow(&mut self) {
        while self.next().await.is_some() {}
    }
}

/// Looks what delegates of a resting run wait for. Whether that is news.
pub(super) async fn delegates(host: &RunHost, view: &mut View) -> bool {
    if view.state().is_terminal() {
        return false;
    }
    if host.drives(view.id()) {
        return view.delegates_wait(Vec::new());
    }
    let below = match host.delegates(view.id()).await {
        Ok(below) => below,
        Err(error) => {
            tracing::error!(run = %view.id(), %error, "the delegates of a task cannot be looked at");
            return false;
        }
    };
    if below.iter().all(|run| run.open.is_empty()) {
        return view.delegates_wait(Vec::new());
    }
    match host.pending(view.id()).await {
        Ok(pending) => view.delegates_wait(pending.iter().map(Wait::of).collect()),
        Err(error) => {
            tracing::error!(run = %view.id(), %error, "what a task waits for cannot be read");
            false
        }
    }
}
