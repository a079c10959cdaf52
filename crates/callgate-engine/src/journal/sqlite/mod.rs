//! The journal in a folder: an SQLite file, and large texts beside it.
//!
//! `journal.db` holds events, summaries, messages and documents; `blobs/` holds large texts by
//! their hash; `owners/` holds a locked file for each process that has the journal open. Several
//! processes may: one drives a run, others list, show, approve. The folder has to be on a local
//! disk: network file systems do not keep the locks that this rests on.

mod apply;
mod blobs;
mod body;
mod owners;
mod pages;
mod poll;
mod queue;
mod read;
mod runs;
mod salvage;
mod schema;
mod writer;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock, atomic::Ordering},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use callgate_machine::Record;
use rusqlite::Connection;
use tokio::sync::oneshot;

pub use salvage::{Examination, Finding, Salvage, Salvaged};

use self::{
    blobs::Blobs,
    body::Body,
    owners::Owner,
    poll::Poller,
    queue::{Append, Command, Queue},
    read::Reader,
    writer::{Counts, Shared},
};
use super::{
    AppendFuture, Filter, Inbox, Journal, JournalError, JournalFuture, Lease, Line, Message,
    RunSummary, Sent, Watch, lease::Claims, line, watch::Watchers,
};

/// When a commit is safe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Synchronous {
    /// When the disk has it: no event that was acknowledged is lost, whatever happens.
    #[default]
    Full,
    /// When the operating system has it. A process that dies loses nothing. A machine that loses
    /// its power may lose the last commits, up to the last checkpoint: runs are then resumed from
    /// an earlier event, and **side effects that had been performed are performed again**, without
    /// the *in doubt* question that a known intent brings. Never a torn or mixed state.
    Normal,
}

/// How a journal is opened.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Options {
    /// When a commit is safe.
    pub synchronous: Synchronous,
    /// How long to wait for another program's lock. Default: 10 s.
    pub busy: Duration,
    /// How often to look for messages from other processes. Default: 200 ms.
    pub poll: Duration,
    /// Bytes that `journal.db` may grow to; appends fail with [`JournalError::Full`] beyond.
    /// Default: no limit of ours.
    pub max_bytes: Option<u64>,
    /// Bytes of a JSON string from which on it is kept in a file of its own. Default: 256 KiB.
    pub blob_bytes: usize,
    /// Pages of 4 KiB that the log may hold before they are moved into the file. Default: 4000.
    pub checkpoint_pages: u32,
    /// Commands that may share a commit. Default: 512; 1 makes each its own, for measurements.
    pub group: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            synchronous: Synchronous::Full,
            busy: Duration::from_secs(10),
            poll: Duration::from_millis(200),
            max_bytes: None,
            blob_bytes: Blobs::LIMIT,
            checkpoint_pages: 4000,
            group: 512,
        }
    }
}

/// How much was written since the journal was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stats {
    /// Appends.
    pub appends: u64,
    /// Transactions.
    pub commits: u64,
    /// Appends in the largest of them.
    pub largest: u64,
}

/// Runs in a folder.
///
/// Dropping it writes what waits and closes the file.
#[derive(Debug)]
pub struct SqliteJournal {
    shared: Arc<Shared>,
    reader: Reader,
    claims: Arc<Claims>,
    poll: Duration,
    poller: OnceLock<Option<Poller>>,
    writer: Option<JoinHandle<()>>,
    /// Last, so that it is given up after the last write.
    owner: Owner,
}

impl SqliteJournal {
    /// The journal in a folder, which is made where there is none.
    ///
    /// # Errors
    /// The folder cannot be written; the file is damaged, locked, another program's or a later
    /// version's.
    pub fn open(folder: impl AsRef<Path>, options: Options) -> Result<Self, JournalError> {
        let folder = folder.as_ref();
        make_folder(folder)?;
        let watchers = Arc::new(Watchers::default());
        let shared = Arc::new(Shared {
            path: file_of(folder),
            owners: folder.join("owners"),
            busy: options.busy,
            blobs: Blobs::new(folder.join("blobs"), options.blob_bytes),
            queue: Queue::new(),
            watchers,
            counts: Counts::default(),
        });
        let connection = open_writer(&shared, &options)?;
        let owner = Owner::new(&shared.owners)?;
        let (of_thread, token) = (shared.clone(), owner.token().clone());
        let thread = std::thread::Builder::new()
            .name("callgate-journal".to_owned())
            .spawn(move || writer::run(of_thread, &connection, token, options.group.max(1)))
            .map_err(JournalError::io("starting the writer of", &shared.path))?;
        Ok(Self {
            reader: Reader::new(shared.clone()),
            shared,
            claims: Arc::default(),
            poll: options.poll,
            poller: OnceLock::new(),
            writer: Some(thread),
            owner,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    /// How much was written since the journal was opened.
    pub fn stats(&self) -> Stats {
        let counts = &self.shared.counts;
        Stats {
            appends: counts.appends.load(Ordering::Relaxed),
            commits: counts.commits.load(Ordering::Relaxed),
            largest: counts.largest.load(Ordering::Relaxed),
        }
    }

    /// Removes the files of large texts that no run refers to: what a crash left between a file
    /// and the commit that was to refer to it. Removing a run needs no such sweep.
    ///
    /// # Errors
    /// The folder cannot be read, or the journal not be locked.
    pub async fn collect(&self) -> Result<(), JournalError> {
        self.ask(|answer| Command::Collect { answer }).await
    }

    /// Puts a command in the queue; its answer comes after the commit.
    fn ask<'a, T: Send + 'a>(
        &'a self,
        command: impl FnOnce(queue::Answer<T>) -> Command,
    ) -> JournalFuture<'a, T> {
        let (answer, answered) = oneshot::channel();
        let is_open = self.shared.queue.push(command(answer));
        Box::pin(async move {
            if !is_open {
                return Err(JournalError::Closed);
            }
            answered.await.unwrap_or(Err(JournalError::Closed))
        })
    }

    fn put<'a>(&'a self, records: &[Record], messages: &[u64]) -> AppendFuture<'a> {
        let body = match Body::of(records, &self.shared.blobs) {
            Ok(Some(body)) => body,
            Ok(None) => return Box::pin(std::future::ready(Ok(()))),
            Err(error) => return Box::pin(std::future::ready(Err(error))),
        };
        // Outside of the transaction, which others wait for.
        for cut in body.cut.iter().flat_map(|(_, cuts)| cuts) {
            if let Err(error) = self.shared.blobs.write(cut) {
                return Box::pin(std::future::ready(Err(error)));
            }
        }
        let settles = messages.to_vec();
        Box::pin(async move {
            let queue = &self.shared.queue;
            // Given back by the writer once the append is done.
            queue.room.acquire().await.map_err(|_| JournalError::Closed)?.forget();
            let (answer, answered) = oneshot::channel();
            if !queue.push(Command::Append(Append { body, settles, answer })) {
                return Err(JournalError::Closed);
            }
            answered.await.unwrap_or(Err(JournalError::Closed))
        })
    }

    fn lease(&self, run: Arc<str>) -> Lease {
        let (shared, claims, id) = (self.shared.clone(), self.claims.clone(), run.clone());
        Lease::new(run, move || {
            claims.give_back(&id);
            // A closed journal has given up all its leases.
            shared.queue.push(Command::Release { run: id });
        })
    }

    fn held_here(run: &Arc<str>) -> JournalError {
        JournalError::Held { run: run.clone(), pid: std::process::id(), since: 0 }
    }
}

impl Journal for SqliteJournal {
    fn append<'a>(&'a self, records: &'a [Record]) -> AppendFuture<'a> {
        self.put(records, &[])
    }

    fn append_settling<'a>(
        &'a self,
        records: &'a [Record],
        messages: &'a [u64],
    ) -> AppendFuture<'a> {
        self.put(records, messages)
    }

    fn load(&self, run: &str) -> Result<Vec<Record>, JournalError> {
        self.reader.each(run, |run, seq, element, records| {
            records.push(line::record_of(run, seq, element)?);
            Ok(())
        })
    }

    fn load_from(&self, run: &str, from: u64, most: usize) -> Result<Vec<Record>, JournalError> {
        self.reader.some(run, from, most)
    }

    fn lines(&self, run: &str) -> Result<Vec<Line>, JournalError> {
        self.reader.lines(run)
    }

    fn claim<'a>(&'a self, run: &'a str) -> JournalFuture<'a, Lease> {
        let run: Arc<str> = run.into();
        if !self.claims.take(&run) {
            return Box::pin(std::future::ready(Err(Self::held_here(&run))));
        }
        // From here on dropped on every way out that is not a success.
        let lease = self.lease(run.clone());
        let claimed = self.ask(|answer| Command::Claim { run, answer });
        Box::pin(async move { claimed.await.map(|()| lease) })
    }

    fn claim_new(&self, run: &Arc<str>) -> Lease {
        self.claims.take(run);
        self.lease(run.clone())
    }

    fn driver(&self, run: &str) -> Result<Option<u32>, JournalError> {
        let Some(token) = self.reader.owner(run)? else { return Ok(None) };
        if token == *self.owner.token() {
            return Ok(self.claims.holds(run).then(std::process::id));
        }
        let holder = owners::holder(&self.shared.owners, &token)?;
        Ok(holder.map(|holder| holder.pid))
    }

    fn send<'a>(&'a self, run: &'a str, message: Inbox) -> JournalFuture<'a, Sent> {
        self.ask(|answer| Command::Send { run: run.into(), message, answer })
    }

    fn inbox(&self, run: &str) -> Result<Vec<Message>, JournalError> {
        self.reader.inbox(run)
    }

    fn mailed(&self) -> Result<Vec<Arc<str>>, JournalError> {
        self.reader.mailed()
    }

    fn settle<'a>(&'a self, run: &'a str, messages: &'a [u64]) -> JournalFuture<'a, ()> {
        let messages = messages.to_vec();
        self.ask(|answer| Command::Settle { run: run.into(), messages, answer })
    }

    fn watch(&self, run: &str) -> Option<Watch> {
        let watch = self.shared.watchers.watch(run);
        let poller = self.poller.get_or_init(|| {
            let started = Poller::start(self.shared.clone(), self.poll);
            if let Err(error) = &started {
                tracing::error!(%error, "messages from other processes will not be noticed");
            }
            started.ok()
        });
        if let Some(poller) = poller {
            poller.look();
        }
        Some(watch)
    }

    fn list(&self, filter: &Filter) -> Result<Vec<RunSummary>, JournalError> {
        self.reader.list(filter)
    }

    fn summary(&self, run: &str) -> Result<RunSummary, JournalError> {
        self.reader.summary(run)
    }

    fn find(&self, prefix: &str) -> Result<Arc<str>, JournalError> {
        self.reader.find(prefix)
    }

    fn remove<'a>(&'a self, run: &'a str) -> JournalFuture<'a, ()> {
        let run: Arc<str> = run.into();
        if self.claims.holds(&run) {
            return Box::pin(std::future::ready(Err(Self::held_here(&run))));
        }
        self.ask(|answer| Command::Remove { run, answer })
    }

    fn import<'a>(&'a self, lines: &'a [Line]) -> JournalFuture<'a, bool> {
        let checked = super::memory::check_lines(lines);
        if let Err(error) = checked {
            return Box::pin(std::future::ready(Err(error)));
        }
        let bodies = Body::of_lines(lines, &self.shared.blobs);
        self.ask(|answer| Command::Import { bodies, answer })
    }

    fn keep<'a>(&'a self, text: &'a str) -> JournalFuture<'a, Arc<str>> {
        let hash: Arc<str> = crate::hash::sha256(text.as_bytes()).into();
        match self.reader.kept(&hash) {
            Ok(Some(_)) => return Box::pin(std::future::ready(Ok(hash))),
            Ok(None) => {}
            Err(error) => return Box::pin(std::future::ready(Err(error))),
        }
        let (text, of_command) = (text.to_owned(), hash.clone());
        let kept = self.ask(|answer| Command::Keep { hash: of_command, text, answer });
        Box::pin(async move { kept.await.map(|()| hash) })
    }

    fn kept(&self, hash: &str) -> Result<Option<Arc<str>>, JournalError> {
        self.reader.kept(hash)
    }
}

impl Drop for SqliteJournal {
    fn drop(&mut self) {
        self.shared.queue.close();
        self.poller.take();
        if let Some(writer) = self.writer.take() {
            // A panic of the thread was printed when it happened, and told to all that waited.
            let _ = writer.join();
        }
    }
}

/// The file in a journal's folder.
fn file_of(folder: &Path) -> PathBuf {
    folder.join("journal.db")
}

/// Opens the file to write. While another process makes it, SQLite refuses at once instead of
/// waiting: then it is tried again for as long as any lock is waited for.
fn open_writer(shared: &Shared, options: &Options) -> Result<Connection, JournalError> {
    let since = Instant::now();
    loop {
        let (synchronous, pages) = (options.synchronous, options.checkpoint_pages);
        match shared.place().writer(synchronous, pages, options.max_bytes) {
            Err(JournalError::Busy { .. }) if since.elapsed() < options.busy => {
                std::thread::sleep(Duration::from_millis(10));
            }
            other => return other,
        }
    }
}

/// What runs did is for their owner's eyes.
fn make_folder(folder: &Path) -> Result<(), JournalError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(JournalError::io("making", folder))
}
