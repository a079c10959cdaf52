//! The one thread that writes: it commits what has gathered, then tells everyone who waits.
//!
//! A commit with `synchronous=FULL` waits for the disk, so the more events go into one the better:
//! while it waits the next group gathers by itself. A command that is refused (a conflict, a lease
//! that is held) has changed nothing and leaves the others of its group alone; a failure of the
//! file undoes the group, and then each of its commands is tried alone, so that one that cannot be
//! written does not take others with it.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use rusqlite::Connection;

use super::{
    apply::{Applier, Failed},
    blobs::Blobs,
    queue::{Command, Queue},
    schema::Place,
};
use crate::journal::{JournalError, Sent, watch::Watchers};

/// What the writer's thread and its journal share.
#[derive(Debug)]
pub(super) struct Shared {
    pub path: PathBuf,
    pub owners: PathBuf,
    pub busy: std::time::Duration,
    pub blobs: Blobs,
    pub queue: Queue,
    pub watchers: Arc<Watchers>,
    pub counts: Counts,
}

/// How much was written since the journal was opened.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub appends: AtomicU64,
    pub commits: AtomicU64,
    pub largest: AtomicU64,
}

impl Shared {
    pub(super) fn place(&self) -> Place<'_> {
        Place { path: &self.path, busy: self.busy }
    }
}

/// What is told to whoever waits, after the commit.
enum Reply {
    Done,
    Sent(Sent),
    Imported(bool),
}

type Outcome = Result<Reply, JournalError>;

/// Whatever ends the thread, nobody is left waiting.
struct Abandon(Arc<Shared>);

impl Drop for Abandon {
    fn drop(&mut self) {
        self.0.queue.abandon();
    }
}

/// Runs until the queue is closed. `group` is how many commands may share a commit.
pub(super) fn run(shared: Arc<Shared>, connection: &Connection, owner: Arc<str>, group: usize) {
    let abandon = Abandon(shared);
    let shared = &abandon.0;
    let mut applier = match Applier::new(shared, connection, owner) {
        Ok(applier) => applier,
        Err(error) => {
            tracing::error!(%error, "the journal's writer cannot begin");
            return;
        }
    };
    let mut commands = Vec::new();
    let mut expected = 0;
    while shared.queue.next_group(&mut commands, group, expected) {
        let mut outcomes = Vec::with_capacity(commands.len());
        match commit(&mut applier, &commands, &mut outcomes) {
            Ok(()) => shared.counts.note(&commands),
            Err(error) if commands.len() == 1 || is_everyones(&error) => {
                outcomes.clear();
                outcomes.extend(commands.iter().map(|_| Err(error.clone())));
            }
            Err(_) => {
                outcomes.clear();
                for command in &commands {
                    let command = std::slice::from_ref(command);
                    match commit(&mut applier, command, &mut outcomes) {
                        Ok(()) => shared.counts.note(command),
                        Err(error) => outcomes.push(Err(error)),
                    }
                }
            }
        }
        let appends = commands.iter().filter(|c| matches!(c, Command::Append(_))).count();
        for (command, outcome) in commands.drain(..).zip(outcomes) {
            answer(shared, command, outcome);
        }
        shared.queue.room.add_permits(appends);
        expected = appends;
        applier.after_commit();
    }
}

/// Whether trying each command alone would only fail again, after as long a wait.
fn is_everyones(error: &JournalError) -> bool {
    matches!(error, JournalError::Busy { .. } | JournalError::ReadOnly { .. })
}

/// Does commands in one transaction. An error has undone them all and left `outcomes` as it was.
fn commit(
    applier: &mut Applier<'_>,
    commands: &[Command],
    outcomes: &mut Vec<Outcome>,
) -> Result<(), JournalError> {
    let before = outcomes.len();
    let done = applier.begin().and_then(|()| {
        for command in commands {
            match apply(applier, command) {
                Ok(reply) => outcomes.push(Ok(reply)),
                Err(Failed::Refused(error)) => outcomes.push(Err(error)),
                Err(Failed::File(error)) => return Err(error),
            }
        }
        applier.commit()
    });
    if done.is_err() {
        outcomes.truncate(before);
        applier.undo();
    }
    done
}

fn apply(applier: &mut Applier<'_>, command: &Command) -> Result<Reply, Failed> {
    match command {
        Command::Append(append) => {
            applier.append(&append.body)?;
            if !append.settles.is_empty() {
                applier.settle(&append.body.run, &append.settles)?;
            }
            Ok(Reply::Done)
        }
        Command::Claim { run, .. } => applier.claim(run).map(|()| Reply::Done),
        Command::Release { run } => applier.release(run).map(|()| Reply::Done),
        Command::Send { run, message, .. } => applier.send(run, message).map(Reply::Sent),
        Command::Settle { run, messages, .. } => {
            applier.settle(run, messages).map(|()| Reply::Done)
        }
        Command::Import { bodies, .. } => applier.import(bodies).map(Reply::Imported),
        Command::Remove { run, .. } => applier.remove(run).map(|()| Reply::Done),
        Command::Keep { hash, text, .. } => applier.keep(hash, text).map(|()| Reply::Done),
        Command::Collect { .. } => applier.collect().map(|()| Reply::Done),
    }
}

/// Tells who waits. That they no longer do is no fault.
fn answer(shared: &Shared, command: Command, outcome: Outcome) {
    let done = |outcome: Outcome| outcome.map(|_| ());
    match command {
        Command::Append(append) => drop(append.answer.send(done(outcome))),
        Command::Claim { answer, .. }
        | Command::Settle { answer, .. }
        | Command::Remove { answer, .. }
        | Command::Keep { answer, .. }
        | Command::Collect { answer } => drop(answer.send(done(outcome))),
        Command::Release { run } => {
            if let Err(error) = outcome {
                // The lease ends with the process all the same.
                tracing::warn!(%run, %error, "a lease could not be given back");
            }
        }
        Command::Send { run, answer, .. } => {
            if let Ok(Reply::Sent(Sent::Kept(_))) = &outcome {
                shared.watchers.wake(&run);
            }
            let sent = outcome.and_then(|reply| match reply {
                Reply::Sent(sent) => Ok(sent),
                _ => Err(JournalError::Closed),
            });
            drop(answer.send(sent));
        }
        Command::Import { answer, .. } => {
            drop(answer.send(outcome.map(|reply| matches!(reply, Reply::Imported(true)))));
        }
    }
}

impl Counts {
    fn note(&self, commands: &[Command]) {
        let appends = commands.iter().filter(|c| matches!(c, Command::Append(_))).count() as u64;
        self.appends.fetch_add(appends, Ordering::Relaxed);
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.largest.fetch_max(appends, Ordering::Relaxed);
    }
}
