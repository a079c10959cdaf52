//! What the writer is to do next.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::{Semaphore, oneshot};

use super::body::Body;
use crate::journal::{Inbox, JournalError, Sent};

/// Appends that may wait to be written; more wait where they are, without their bytes copied.
const APPENDS: usize = 1024;

/// Commands that go into one transaction at most.
const GROUP: usize = 512;

/// How long nothing may come before a group is closed that could be larger.
const PAUSE: Duration = Duration::from_micros(100);

/// How long a group may be waited for in all: less than a disk takes to sync.
const PATIENCE: Duration = Duration::from_millis(1);

/// Tells who waits what came of it.
pub(super) type Answer<T> = oneshot::Sender<Result<T, JournalError>>;

/// Something to write.
#[derive(Debug)]
pub(super) enum Command {
    /// The events of one run, and the messages that they settle.
    Append(Append),
    /// Takes the right to drive a run.
    Claim { run: Arc<str>, answer: Answer<()> },
    /// Gives it back.
    Release { run: Arc<str> },
    /// A message to a run.
    Send { run: Arc<str>, message: Inbox, answer: Answer<Sent> },
    /// Messages need not be handed out again.
    Settle { run: Arc<str>, messages: Vec<u64>, answer: Answer<()> },
    /// A run from elsewhere.
    Import { bodies: Vec<Body>, answer: Answer<bool> },
    /// Forgets a run.
    Remove { run: Arc<str>, answer: Answer<()> },
    /// A text by its hash.
    Keep { hash: Arc<str>, text: String, answer: Answer<()> },
    /// Removes files that nothing refers to.
    Collect { answer: Answer<()> },
}

/// An append in the queue.
#[derive(Debug)]
pub(super) struct Append {
    pub body: Body,
    pub settles: Vec<u64>,
    pub answer: Answer<()>,
}

/// Commands in the order they came.
#[derive(Debug)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    came: Condvar,
    /// How many more appends may be put in.
    pub room: Semaphore,
}

#[derive(Debug, Default)]
struct Waiting {
    commands: VecDeque<Command>,
    is_closed: bool,
    /// How many commands the writer sleeps for; it is awake where 0.
    wanted: usize,
}

impl Queue {
    pub(super) fn new() -> Self {
        Self { waiting: Mutex::default(), came: Condvar::new(), room: Semaphore::new(APPENDS) }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a command in. `false` where nobody will do it any more.
    pub(super) fn push(&self, command: Command) -> bool {
        let mut waiting = self.lock();
        if waiting.is_closed {
            return false;
        }
        waiting.commands.push_back(command);
        let wakes = waiting.wanted > 0 && waiting.commands.len() >= waiting.wanted;
        if wakes {
            waiting.wanted = 0;
        }
        drop(waiting);
        if wakes {
            self.came.notify_one();
        }
        true
    }

    /// Waits for commands and moves a group of them out. `false` once the queue is closed and empty.
    ///
    /// Those that were answered last are likely to come back at once, one after the other: it
    /// waits for `expected` of them while they keep coming, so that they share a commit instead
    /// of the first one having its own.
    pub(super) fn next_group(&self, into: &mut Vec<Command>, most: usize, expected: usize) -> bool {
        let mut waiting = self.lock();
        while waiting.commands.is_empty() {
            if waiting.is_closed {
                return false;
            }
            waiting.wanted = 1;
            waiting = self.came.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        let expected = expected.min(most);
        let since = Instant::now();
        while waiting.commands.len() < expected && !waiting.is_closed && since.elapsed() < PATIENCE
        {
            let before = waiting.commands.len();
            waiting.wanted = expected;
            let waited = self.came.wait_timeout(waiting, PAUSE);
            waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
            if waiting.commands.len() == before {
                break;
            }
        }
        waiting.wanted = 0;
        let count = waiting.commands.len().min(most.min(GROUP));
        into.extend(waiting.commands.drain(..count));
        true
    }

    /// No more commands; those that wait are still done.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.room.close();
        self.came.notify_all();
    }

    /// Nobody does what waits any more: the writer is gone.
    pub(super) fn abandon(&self) {
        self.close();
        self.lock().commands.clear();
    }
}
