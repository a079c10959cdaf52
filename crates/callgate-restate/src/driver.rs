//! The machine of one run, fed one input at a time. Pure: no Restate in here.

use std::{collections::VecDeque, sync::Arc};

use callgate_machine::{Effect, Event, Record, Run, step};

/// A run and its place in the journal.
pub(crate) struct Driver {
    pub run: Run,
    /// The next event's position.
    pub seq: u64,
    /// When the last event was. Never goes back.
    pub at: u64,
}

impl Driver {
    pub(crate) fn new(run: Run) -> Self {
        Self { run, seq: 0, at: 0 }
    }

    /// Steps the machine with an input and all that follows from it: the events, in order, and the
    /// effects to perform once they are written down.
    pub(crate) fn record(&mut self, input: Event, at: u64) -> (Vec<Record>, Vec<Effect>) {
        self.at = self.at.max(at);
        let mut queue = VecDeque::from([input]);
        let mut batch = Vec::with_capacity(4);
        let mut effects = Vec::new();
        while let Some(event) = queue.pop_front() {
            let run: Arc<str> = self.run.id().clone();
            let record = Record { run, seq: self.seq, at: self.at, event };
            self.seq += 1;
            for effect in step(&mut self.run, &record) {
                match effect {
                    Effect::Append(event) => queue.push_back(event),
                    other => effects.push(other),
                }
            }
            batch.push(record);
        }
        (batch, effects)
    }
}
