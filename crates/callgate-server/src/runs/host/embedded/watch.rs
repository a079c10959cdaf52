//! Watching a run: what the journal has, then what happens, without a gap or a repeat.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use callgate_machine::{Event, Record};
use futures_util::stream;
use tokio::sync::broadcast::error::RecvError;

use super::{Embedded, channel::Ear};
use crate::runs::{HostError, Seen, SeenStream};

/// How often a run is looked at that is not driven here: the first pause, and the longest.
const LOOK: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(2);
/// How often one that is.
const RARELY: Duration = Duration::from_secs(5);

/// Events that are read from the journal at once.
const PAGE: usize = 500;

struct Watching {
    host: Arc<Embedded>,
    run: Arc<str>,
    /// The position of the next event.
    next: u64,
    ready: VecDeque<Arc<Record>>,
    ear: Ear,
    /// The last hop whose reply was seen whole.
    replied: u32,
    /// Whether the journal may have more than was read.
    look: bool,
    pause: Duration,
    is_done: bool,
}

impl Embedded {
    /// Sees a run: its events after a position (`None`: from the first one on), then what happens
    /// as it happens, with the pieces of replies between where the run is driven here.
    ///
    /// The stream stays open while the run may go on: also while it waits for people, or nobody
    /// drives it. It ends after the run's last event, and when the host ends.
    ///
    /// # Errors
    /// There is no such run. Later errors of the journal end the stream.
    pub(super) fn watch(
        self: &Arc<Self>,
        run: &str,
        after: Option<u64>,
    ) -> Result<SeenStream, HostError> {
        let run = self.book.summary(run)?.run;
        let watching = Watching {
            // From before the first look, so that nothing is missed between.
            ear: self.channels.hear(&run),
            host: self.clone(),
            run,
            next: after.map_or(0, |after| after.saturating_add(1)),
            ready: VecDeque::new(),
            replied: 0,
            look: true,
            pause: LOOK,
            is_done: false,
        };
        Ok(Box::pin(stream::unfold(watching, |mut watching| async move {
            let seen = watching.next().await?;
            watching.is_done |= seen.is_err();
            Some((seen, watching))
        })))
    }
}

impl Watching {
    async fn next(&mut self) -> Option<Result<Seen, HostError>> {
        if self.is_done {
            return None;
        }
        loop {
            if let Some(record) = self.ready.pop_front() {
                return Some(Ok(self.seen(record)));
            }
            if self.look {
                match self.read() {
                    Ok(Read::More) => continue,
                    Ok(Read::Over) => return None,
                    Ok(Read::Nothing) => self.look = false,
                    Err(error) => return Some(Err(error)),
                }
            }
            let closed = self.host.closed.clone();
            // Whoever drives it here is heard.
            let pause = if self.host.drives(&self.run) { RARELY } else { self.pause };
            tokio::select! {
                biased;
                heard = self.ear.heard.recv() => match heard {
                    Ok(Seen::Record(record)) if record.seq == self.next => {
                        self.pause = LOOK;
                        return Some(Ok(self.seen(record)));
                    }
                    // It was read from the journal already.
                    Ok(Seen::Record(record)) if record.seq < self.next => {}
                    Ok(Seen::Record(_)) | Err(RecvError::Lagged(_)) => self.look = true,
                    // Of a reply that was read from the journal already.
                    Ok(Seen::Delta { hop, .. }) if hop <= self.replied => {}
                    Ok(delta @ Seen::Delta { .. }) => return Some(Ok(delta)),
                    Err(RecvError::Closed) => return None,
                },
                () = closed.cancelled() => return None,
                () = tokio::time::sleep(pause) => {
                    self.look = true;
                    self.pause = (self.pause * 2).min(LONGEST);
                }
            }
        }
    }

    fn seen(&mut self, record: Arc<Record>) -> Seen {
        self.next = record.seq + 1;
        match record.event {
            Event::ModelReplied { hop, .. } => self.replied = hop,
            // It may be the last one.
            Event::RunFinished(_) => self.look = true,
            _ => {}
        }
        Seen::Record(record)
    }

    fn read(&mut self) -> Result<Read, HostError> {
        let summary = self.host.book.summary(&self.run)?;
        if summary.events <= self.next {
            return Ok(if summary.state.is_over() { Read::Over } else { Read::Nothing });
        }
        let records = self.host.journal().load_from(&self.run, self.next, PAGE)?;
        self.ready.extend(records.into_iter().map(Arc::new));
        self.pause = LOOK;
        Ok(if self.ready.is_empty() { Read::Nothing } else { Read::More })
    }
}

enum Read {
    More,
    Nothing,
    Over,
}
