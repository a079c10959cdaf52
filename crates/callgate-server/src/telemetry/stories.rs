//! All runs that are heard of.

use std::{collections::HashMap, sync::Arc};

use callgate_engine::trace;
use callgate_machine::{Event, Record, event::RunStarted};

use super::{
    fact::Fact,
    span::Place,
    story::{Story, Told},
};

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
        let mut story = self.story(first);
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
    pub(super) fn take(&mut self, record: &Record) -> Vec<Told> {
        let mut out = Vec::new();
        let mut story = match self.runs.remove(&record.run) {
            Some(story) => story,
            None => self.story(record),
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

    fn story(&self, first: &Record) -> Story {
        match &first.event {
            Event::RunStarted(start) => {
                let place = self.place(&first.run, start);
                Story::new(first.run.clone(), place, self.with_content)
            }
            // Where it stands only its first event would say.
            _ => {
                let place = Place { trace: trace::of_run(&first.run), parent: None, sampled: true };
                Story::without_past(first, place, self.with_content)
            }
        }
    }

    /// Under whoever asked for it, or the call that it answers.
    fn place(&self, run: &str, start: &RunStarted) -> Place {
        let under = start.trace.as_ref();
        let own = || trace::of_run(start.parent.as_ref().map_or(run, |parent| &parent.run));
        let parent = match &start.parent {
            None => under.map(|under| (under.span, true)),
            Some(parent) => {
                let known = self.runs.get(&parent.run);
                let span = match (known, under) {
                    (Some(story), _) => story.span_of(&parent.call),
                    (None, Some(under)) => under.span,
                    (None, None) => trace::of_call(&parent.run, &parent.call, 1),
                };
                if let (Some(story), None) = (known, under) {
                    return Place { parent: Some((span, false)), ..story.place() };
                }
                Some((span, false))
            }
        };
        let sampled = under.is_none_or(|under| under.sampled);
        Place { trace: under.map_or_else(own, |under| under.trace), parent, sampled }
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
