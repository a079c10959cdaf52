//! All runs that are heard of.

use std::{collections::HashMap, sync::Arc};

use callgate_machine::{Event, Record};

use super::{
    fact::Fact,
    ids,
    span::Place,
    story::{Story, Told},
};
use crate::http::TraceContext;

/// Runs that are remembered; beyond it those that were heard of longest ago are forgotten, and
/// read again from the journal when they go on.
const MOST: usize = 20_000;

/// Runs by their ids.
#[derive(Debug)]
pub(super) struct Stories {
    runs: HashMap<Arc<str>, Story>,
    most: usize,
    with_content: bool,
}

impl Stories {
    pub(super) fn new(with_content: bool) -> Self {
        Self { runs: HashMap::new(), most: MOST, with_content }
    }

    pub(super) fn knows(&self, run: &str) -> bool {
        self.runs.contains_key(run)
    }

    /// The past of a run that goes on here: it is told already, so nothing comes of it but that
    /// the run is known.
    pub(super) fn recall(&mut self, past: &[Record], out: &mut Vec<Told>) {
        let Some(first) = past.first() else { return };
        let mut story = self.story(first, None);
        let mut told = Vec::new();
        for record in past {
            story.take(record, &mut told);
        }
        if story.is_open() {
            out.push(Told::Fact(Fact::Opened));
        }
        self.keep(first.run.clone(), story, out);
    }

    /// The next record of a run, and what came of it.
    pub(super) fn take(&mut self, record: &Record, under: Option<TraceContext>) -> Vec<Told> {
        let mut out = Vec::new();
        let mut story = match self.runs.remove(&record.run) {
            Some(story) => story,
            None => self.story(record, under),
        };
        story.take(record, &mut out);
        if !story.is_sampled() {
            out.retain(|told| matches!(told, Told::Fact(_)));
        }
        // A chat may go on after its end; a run of one call does not.
        let is_over = matches!(record.event, Event::RunFinished(_)) && story.is_single();
        if !is_over {
            self.keep(record.run.clone(), story, &mut out);
        }
        out
    }

    fn story(&self, first: &Record, under: Option<TraceContext>) -> Story {
        let derived = || Place { trace: ids::trace(&first.run), parent: None, sampled: true };
        let place = match &first.event {
            Event::RunStarted(start) => match (&start.parent, under) {
                (Some(parent), _) => match self.runs.get(&parent.run) {
                    Some(story) => story.place_of_child(&parent.call),
                    None => {
                        let span = ids::call(&parent.run, &parent.call, 1);
                        let trace = ids::trace(&parent.run);
                        Place { trace, parent: Some((span, false)), sampled: true }
                    }
                },
                (None, Some(context)) => Place {
                    trace: context.trace,
                    parent: Some((context.span, true)),
                    sampled: context.sampled,
                },
                (None, None) => derived(),
            },
            _ => derived(),
        };
        Story::new(first.run.clone(), place, self.with_content)
    }

    fn keep(&mut self, run: Arc<str>, story: Story, out: &mut Vec<Told>) {
        if self.runs.len() >= self.most {
            self.forget(out);
        }
        self.runs.insert(run, story);
    }

    /// Forgets an eighth: runs that are over first, then those heard of longest ago.
    fn forget(&mut self, out: &mut Vec<Told>) {
        let mut order: Vec<(bool, u64, Arc<str>)> = self
            .runs
            .iter()
            .map(|(run, story)| (story.is_open(), story.seen, run.clone()))
            .collect();
        order.sort_unstable();
        for (is_open, _, run) in order.into_iter().take(self.most.div_ceil(8)) {
            self.runs.remove(&run);
            if is_open {
                out.push(Told::Fact(Fact::Forgotten));
            }
        }
    }
}
