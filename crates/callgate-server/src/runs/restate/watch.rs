//! Watching runs: one look for all that are watched, then the events of those that went on.
//!
//! Restate tells nobody of what happens, so it is looked for: four times a second while anybody
//! watches, in one query for all watched runs, and less often where that query takes long. A
//! Restate that is away for a while ends no stream; it goes on where it was.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::{Duration, Instant},
};

use callgate_machine::Record;
use callgate_restate::{Client, ClientError};
use futures_util::stream;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::error::failed;
use crate::runs::{HostError, Seen, SeenStream};

/// How often watched runs are looked at.
const LOOK: Duration = Duration::from_millis(250);
/// The most of the time that looking may take: a fifth.
const SHARE: u32 = 4;
/// How often it is looked whether a handler failed for good.
const RARELY: Duration = Duration::from_secs(5);
/// How long after an error it is looked again.
const AGAIN: Duration = Duration::from_secs(1);
/// Events that are read at once.
const PAGE: usize = 500;

/// How far a run is: its events, and whether none follow.
type Far = (u64, bool);

/// Looks for what happens in runs that somebody watches.
pub(super) struct Lookout {
    all: Mutex<Watched>,
    closing: CancellationToken,
}

/// By service and run. The client of a service is the same for all of its runs.
#[derive(Default)]
struct Watched {
    runs: HashMap<Arc<str>, (Client, watch::Sender<Far>)>,
    is_looking: bool,
}

impl Lookout {
    pub(super) fn new(closing: CancellationToken) -> Arc<Self> {
        Arc::new(Self { all: Mutex::default(), closing })
    }

    fn lock(&self) -> MutexGuard<'_, Watched> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hears how far a run is from now on.
    fn hear(self: &Arc<Self>, client: &Client, run: &Arc<str>) -> watch::Receiver<Far> {
        let mut all = self.lock();
        let (_, sender) = all
            .runs
            .entry(run.clone())
            .or_insert_with(|| (client.clone(), watch::Sender::new((0, false))));
        let receiver = sender.subscribe();
        if !all.is_looking {
            all.is_looking = true;
            tokio::spawn(look(Arc::downgrade(self), self.closing.clone()));
        }
        receiver
    }

    /// The runs that are still watched, by their service; none ends the looking.
    fn watched(&self) -> Vec<(Client, Vec<Arc<str>>)> {
        let mut all = self.lock();
        all.runs.retain(|_, (_, sender)| sender.receiver_count() > 0);
        all.is_looking = !all.runs.is_empty();
        let mut by_service: HashMap<String, (Client, Vec<Arc<str>>)> = HashMap::new();
        for (run, (client, sender)) in &all.runs {
            // Of one that is over nothing follows.
            if !sender.borrow().1 {
                let of = by_service.entry(client.service_name().to_owned());
                of.or_insert_with(|| (client.clone(), Vec::new())).1.push(run.clone());
            }
        }
        by_service.into_values().collect()
    }

    fn tell(&self, run: &str, far: Far) {
        if let Some((_, sender)) = self.lock().runs.get(run) {
            sender.send_if_modified(|was| {
                let is_news = *was != far;
                *was = far;
                is_news
            });
        }
    }
}

async fn look(lookout: Weak<Lookout>, closing: CancellationToken) {
    let mut rarely = Instant::now();
    loop {
        let Some(own) = lookout.upgrade() else { return };
        let watched = own.watched();
        if watched.is_empty() && !own.lock().is_looking {
            return;
        }
        let begun = Instant::now();
        let for_good = rarely.elapsed() >= RARELY;
        let mut pause = LOOK;
        for (client, runs) in watched {
            match looked(&own, &client, &runs, for_good).await {
                Ok(()) => {}
                Err(error) => {
                    // Whoever asks for a run is told; whoever watches waits.
                    tracing::debug!(%error, "watched runs cannot be looked at");
                    pause = AGAIN;
                }
            }
        }
        if for_good {
            rarely = Instant::now();
        }
        drop(own);
        let pause = pause.max(begun.elapsed() * SHARE);
        tokio::select! {
            () = closing.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}

async fn looked(
    own: &Lookout,
    client: &Client,
    runs: &[Arc<str>],
    for_good: bool,
) -> Result<(), ClientError> {
    // Before the statuses: what such a run wrote down last is read after it.
    let fallen = if for_good { client.fallen(runs).await? } else { Vec::new() };
    let far = client.how_far(runs).await?;
    // One that was withdrawn before it began has no status.
    for run in fallen.iter().filter(|run| !far.contains_key(*run)) {
        own.tell(run, (0, true));
    }
    for (run, (events, is_over)) in far {
        own.tell(&run, (events, is_over || fallen.contains(&run)));
    }
    Ok(())
}

struct Watching {
    client: Client,
    run: Arc<str>,
    /// The position of the next event.
    next: u64,
    ready: VecDeque<Arc<Record>>,
    far: watch::Receiver<Far>,
    closing: CancellationToken,
    is_done: bool,
}

/// A run's events after a position, then what happens.
pub(super) fn stream(
    lookout: &Arc<Lookout>,
    client: &Client,
    run: &Arc<str>,
    after: Option<u64>,
) -> SeenStream {
    let watching = Watching {
        far: lookout.hear(client, run),
        client: client.clone(),
        run: run.clone(),
        next: after.map_or(0, |after| after.saturating_add(1)),
        ready: VecDeque::new(),
        closing: lookout.closing.clone(),
        is_done: false,
    };
    Box::pin(stream::unfold(watching, |mut watching| async move {
        let seen = watching.next().await?;
        watching.is_done |= seen.is_err();
        Some((seen, watching))
    }))
}

impl Watching {
    async fn next(&mut self) -> Option<Result<Seen, HostError>> {
        if self.is_done {
            return None;
        }
        loop {
            if let Some(record) = self.ready.pop_front() {
                self.next = record.seq + 1;
                return Some(Ok(Seen::Record(record)));
            }
            let (events, is_over) = *self.far.borrow_and_update();
            if self.next < events {
                match self.client.kept(&self.run, self.next, PAGE).await {
                    Ok(records) if !records.is_empty() => {
                        self.ready.extend(records.into_iter().map(Arc::new));
                        continue;
                    }
                    // Its state is written before its status; it is there in a moment.
                    Ok(_) => {}
                    Err(error) if error.is_passing() => {}
                    Err(error) => return Some(Err(failed(error))),
                }
                tokio::select! {
                    () = self.closing.cancelled() => return None,
                    () = tokio::time::sleep(AGAIN) => continue,
                }
            }
            if is_over {
                return None;
            }
            tokio::select! {
                biased;
                () = self.closing.cancelled() => return None,
                changed = self.far.changed() => if changed.is_err() { return None },
            }
        }
    }
}
