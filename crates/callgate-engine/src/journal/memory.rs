//! The journal that forgets with the process, and keeps all else that a journal promises.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use callgate_contract::tool::hash;
use callgate_machine::Record;
use foldhash::HashMap;

use super::{
    AppendFuture, Filter, Inbox, Journal, JournalError, JournalFuture, Lease, Line, Message,
    RunSummary, Sent, Watch, lease::Claims, now, watch::Watchers,
};

/// Runs in memory, gone with the process.
#[derive(Debug, Default)]
pub struct MemoryJournal {
    runs: Mutex<HashMap<Arc<str>, Kept>>,
    messages: Mutex<Messages>,
    documents: Mutex<HashMap<Arc<str>, Arc<str>>>,
    claims: Arc<Claims>,
    watchers: Arc<Watchers>,
}

/// The events of a run, as they were appended: none is copied to make room for more.
#[derive(Debug, Default)]
struct Kept {
    batches: Vec<Vec<Record>>,
    len: usize,
}

impl Kept {
    fn records(&self) -> impl Iterator<Item = &Record> {
        self.batches.iter().flatten()
    }
}

#[derive(Debug, Default)]
struct Messages {
    last: u64,
    /// A message and whether it is settled, by run.
    by_run: HashMap<Arc<str>, Vec<(Message, bool)>>,
}

impl MemoryJournal {
    /// An empty journal.
    pub fn new() -> Self {
        Self::default()
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<Arc<str>, Kept>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn messages(&self) -> MutexGuard<'_, Messages> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep_records(&self, records: Cow<'_, [Record]>) -> Result<(), JournalError> {
        let Some(first) = records.first() else { return Ok(()) };
        let mut runs = self.runs();
        let kept = match runs.get_mut(&first.run) {
            Some(kept) => kept,
            None => runs.entry(first.run.clone()).or_default(),
        };
        check(&records, kept.len as u64)?;
        kept.len += records.len();
        kept.batches.push(records.into_owned());
        Ok(())
    }

    fn keep_settling(
        &self,
        records: Cow<'_, [Record]>,
        messages: &[u64],
    ) -> Result<(), JournalError> {
        let run = records.first().map(|first| first.run.clone());
        self.keep_records(records)?;
        if let Some(run) = run.filter(|_| !messages.is_empty()) {
            self.settled(&run, messages);
        }
        Ok(())
    }

    /// Folded when it is asked for: runs in memory are many more than lists of them.
    fn summarised(run: &Arc<str>, kept: &Kept) -> Result<RunSummary, JournalError> {
        let mut summary = RunSummary::new(run.clone());
        for record in kept.records() {
            summary.take(record)?;
        }
        Ok(summary)
    }

    fn say(&self, run: &str, body: Inbox) -> Result<Sent, JournalError> {
        let state = self.summary(run)?.state;
        let mut messages = self.messages();
        let unique = body.unique();
        let sent = messages.by_run.get(run).into_iter().flatten();
        let before = sent
            .map(|(message, _)| message)
            .find(|m| unique.is_some() && m.body.unique() == unique);
        if let Some(message) = before {
            return Ok(Sent::Already(message.clone()));
        }
        if state.is_over() {
            return Err(JournalError::Over { run: run.into(), state });
        }
        messages.last += 1;
        let message = Message { id: messages.last, at: now(), body };
        let id = message.id;
        messages.by_run.entry(run.into()).or_default().push((message, false));
        drop(messages);
        self.watchers.wake(run);
        Ok(Sent::Kept(id))
    }

    fn settled(&self, run: &str, ids: &[u64]) {
        for (message, settled) in self.messages().by_run.get_mut(run).into_iter().flatten() {
            *settled |= ids.contains(&message.id);
        }
    }

    fn claim_here(&self, run: &Arc<str>) -> Result<Lease, JournalError> {
        if !self.claims.take(run) {
            return Err(JournalError::Held { run: run.clone(), pid: std::process::id(), since: 0 });
        }
        let claims = self.claims.clone();
        let id = run.clone();
        Ok(Lease::new(run.clone(), move || claims.give_back(&id)))
    }

    fn forget(&self, run: &str) -> Result<(), JournalError> {
        if self.claims.holds(run) {
            return Err(JournalError::Held { run: run.into(), pid: std::process::id(), since: 0 });
        }
        self.messages().by_run.remove(run);
        let removed = self.runs().remove(run);
        removed.map(drop).ok_or_else(|| JournalError::UnknownRun { run: run.into() })
    }

    fn take_in(&self, lines: &[Line]) -> Result<bool, JournalError> {
        check_lines(lines)?;
        let Some(first) = lines.first() else { return Ok(false) };
        let records: Vec<Record> = lines.iter().map(Line::record).collect::<Result<_, _>>()?;
        if let Some(kept) = self.runs().get(first.run()) {
            let differs = (0..).zip(kept.records()).zip(&records).find(|((_, a), b)| a != b);
            let longer = kept.len != records.len();
            return match differs {
                None if !longer => Ok(false),
                None => {
                    let seq = kept.len.min(records.len()) as u64;
                    Err(JournalError::Exists { run: first.run().clone(), seq })
                }
                Some(((seq, _), _)) => Err(JournalError::Exists { run: first.run().clone(), seq }),
            };
        }
        self.keep_records(records.into()).map(|()| true)
    }
}

/// Whether records are of one run and the next ones.
pub(crate) fn check(records: &[Record], next: u64) -> Result<(), JournalError> {
    let Some(first) = records.first() else { return Ok(()) };
    for (seq, record) in (next..).zip(records) {
        if record.run != first.run {
            return Err(JournalError::Mixed { run: first.run.clone(), other: record.run.clone() });
        }
        if record.seq != seq {
            return Err(JournalError::Conflict { run: first.run.clone(), seq: record.seq });
        }
    }
    Ok(())
}

/// Whether lines are one run from its first event on.
pub(crate) fn check_lines(lines: &[Line]) -> Result<(), JournalError> {
    let Some(first) = lines.first() else { return Ok(()) };
    for (seq, line) in (0..).zip(lines) {
        if line.run() != first.run() {
            let (run, other) = (first.run().clone(), line.run().clone());
            return Err(JournalError::Mixed { run, other });
        }
        if line.seq() != seq {
            return Err(JournalError::Conflict { run: first.run().clone(), seq: line.seq() });
        }
    }
    Ok(())
}

fn ready<'a, T: Send + 'a>(result: Result<T, JournalError>) -> JournalFuture<'a, T> {
    Box::pin(std::future::ready(result))
}

impl Journal for MemoryJournal {
    fn append<'a>(&'a self, records: &'a [Record]) -> AppendFuture<'a> {
        ready(self.keep_records(records.into()))
    }

    fn load(&self, run: &str) -> Result<Vec<Record>, JournalError> {
        Ok(self.runs().get(run).into_iter().flat_map(Kept::records).cloned().collect())
    }

    fn load_from(&self, run: &str, from: u64, most: usize) -> Result<Vec<Record>, JournalError> {
        let runs = self.runs();
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let all = runs.get(run).into_iter().flat_map(Kept::records);
        Ok(all.skip(from).take(most).cloned().collect())
    }

    fn append_settling<'a>(
        &'a self,
        records: &'a [Record],
        messages: &'a [u64],
    ) -> AppendFuture<'a> {
        ready(self.keep_settling(records.into(), messages))
    }

    fn append_taking<'a>(&'a self, records: Vec<Record>, messages: &'a [u64]) -> AppendFuture<'a> {
        ready(self.keep_settling(records.into(), messages))
    }

    fn claim<'a>(&'a self, run: &'a str) -> JournalFuture<'a, Lease> {
        ready(self.claim_here(&run.into()))
    }

    fn claim_new(&self, run: &Arc<str>) -> Lease {
        self.claim_here(run).unwrap_or_else(|_| Lease::alone(run.clone()))
    }

    fn send<'a>(&'a self, run: &'a str, message: Inbox) -> JournalFuture<'a, Sent> {
        ready(self.say(run, message))
    }

    fn inbox(&self, run: &str) -> Result<Vec<Message>, JournalError> {
        let messages = self.messages();
        let all = messages.by_run.get(run).into_iter().flatten();
        Ok(all.filter(|(_, settled)| !settled).map(|(message, _)| message.clone()).collect())
    }

    fn settle<'a>(&'a self, run: &'a str, messages: &'a [u64]) -> JournalFuture<'a, ()> {
        self.settled(run, messages);
        ready(Ok(()))
    }

    fn mailed(&self) -> Result<Vec<Arc<str>>, JournalError> {
        let messages = self.messages();
        let waits = |all: &[(Message, bool)]| all.iter().any(|(_, settled)| !settled);
        Ok(messages
            .by_run
            .iter()
            .filter(|(_, all)| waits(all))
            .map(|(run, _)| run.clone())
            .collect())
    }

    fn watch(&self, run: &str) -> Option<Watch> {
        Some(self.watchers.watch(run))
    }

    fn list(&self, filter: &Filter) -> Result<Vec<RunSummary>, JournalError> {
        let runs = self.runs();
        let all = runs.iter().map(|(run, records)| Self::summarised(run, records));
        let mut found = all
            .filter(|run| run.as_ref().map_or(true, |run| filter.admits(run)))
            .collect::<Result<Vec<_>, _>>()?;
        found.sort_by(|a, b| (b.started_at, &b.run).cmp(&(a.started_at, &a.run)));
        found.truncate(filter.limit.unwrap_or(usize::MAX));
        Ok(found)
    }

    fn summary(&self, run: &str) -> Result<RunSummary, JournalError> {
        match self.runs().get_key_value(run) {
            Some((id, records)) => Self::summarised(id, records),
            None => Err(JournalError::UnknownRun { run: run.into() }),
        }
    }

    fn find(&self, prefix: &str) -> Result<Arc<str>, JournalError> {
        let runs = self.runs();
        let mut found: Vec<_> =
            runs.keys().filter(|run| run.starts_with(prefix)).cloned().collect();
        found.sort_by(|a, b| b.cmp(a));
        one_of(prefix, found)
    }

    fn remove<'a>(&'a self, run: &'a str) -> JournalFuture<'a, ()> {
        ready(self.forget(run))
    }

    fn import<'a>(&'a self, lines: &'a [Line]) -> JournalFuture<'a, bool> {
        ready(self.take_in(lines))
    }

    fn keep<'a>(&'a self, text: &'a str) -> JournalFuture<'a, Arc<str>> {
        let hash: Arc<str> = hash(text).into();
        let mut documents = self.documents.lock().unwrap_or_else(PoisonError::into_inner);
        documents.entry(hash.clone()).or_insert_with(|| text.into());
        ready(Ok(hash))
    }

    fn keep_hashed<'a>(&'a self, text: &'a Arc<str>, hash: &'a Arc<str>) -> JournalFuture<'a, ()> {
        let mut documents = self.documents.lock().unwrap_or_else(PoisonError::into_inner);
        documents.entry(hash.clone()).or_insert_with(|| text.clone());
        ready(Ok(()))
    }

    fn kept(&self, hash: &str) -> Result<Option<Arc<str>>, JournalError> {
        let documents = self.documents.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(documents.get(hash).cloned())
    }
}

/// The one candidate; the exact one where the prefix is a whole id.
pub(crate) fn one_of(prefix: &str, mut found: Vec<Arc<str>>) -> Result<Arc<str>, JournalError> {
    if let Some(exact) = found.iter().find(|run| &***run == prefix) {
        return Ok(exact.clone());
    }
    match found.len() {
        0 => Err(JournalError::UnknownRun { run: prefix.into() }),
        1 => Ok(found.remove(0)),
        _ => Err(JournalError::Ambiguous {
            prefix: prefix.to_owned(),
            candidates: found.iter().take(10).map(ToString::to_string).collect(),
        }),
    }
}
