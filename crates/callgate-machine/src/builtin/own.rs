//! Calls of tools whose work needs nothing from outside.

use std::sync::Arc;

use callgate_contract::{Admitted, Catalog, Failure, Output};

use super::{read, search};
use crate::event::{CallFinished, Event};

/// A call that the machine works out by itself, from its arguments and what the run has.
///
/// It is an effect all the same, with its intent before it and its outcome as an input in the
/// journal: what a search found is recorded, so a later version that would find other tools replays
/// an old run as it was.
#[derive(Debug, Clone)]
pub struct OwnCall {
    pub(crate) call: Arc<str>,
    pub(crate) attempt: u32,
    pub(crate) arguments: Admitted,
    pub(crate) work: Work,
}

/// What is worked out.
#[derive(Debug, Clone)]
pub(crate) enum Work {
    /// A search in the tools of a catalog.
    Search(Arc<Catalog>),
    /// A page of a result, or of none that is there.
    Read(Box<read::Source>),
}

impl Work {
    /// A page of a result.
    pub(crate) fn read(result: Option<(Arc<str>, usize)>, calls: Vec<Arc<str>>) -> Self {
        Self::Read(Box::new(read::Source { result, calls }))
    }
}

impl OwnCall {
    /// The call's id.
    pub fn call(&self) -> &Arc<str> {
        &self.call
    }

    /// From 1.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The admitted arguments.
    pub fn arguments(&self) -> &Admitted {
        &self.arguments
    }

    /// Does the work: the event to feed back. Pure, and takes milliseconds; the first search in a
    /// large catalog makes its index.
    pub fn finished(&self) -> Event {
        let outcome: Result<Output, Failure> = match &self.work {
            Work::Search(catalog) => Ok(search::search(catalog, &self.arguments)),
            Work::Read(source) => read::read(source, &self.arguments),
        };
        let (output, failure) = match outcome {
            Ok(output) => (Some(output), None),
            Err(failure) => (None, Some(failure)),
        };
        Event::CallFinished(Box::new(CallFinished {
            call: self.call.clone(),
            attempt: self.attempt,
            output,
            failure,
            ..CallFinished::default()
        }))
    }
}
