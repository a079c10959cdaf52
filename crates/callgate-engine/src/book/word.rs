//! A person's word on a call that waits: the first one counts.

use std::sync::Arc;

use callgate_contract::{Mode, Verdict};
use callgate_machine::{
    Run,
    event::{Decision, Resolution},
};

use super::{Book, BookError, Decided, On, Pending};
use crate::journal::{Inbox, Sent};

/// What a person says of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// Yes, to what is asked; to exactly what was seen, where the binding is given.
    Approve {
        /// What was seen.
        binding: Option<Arc<str>>,
    },
    /// Yes, with other arguments: they go through the gates, and are asked about again.
    Edit {
        /// Argument text.
        arguments: Arc<str>,
        /// What was seen.
        binding: Option<Arc<str>>,
    },
    /// No.
    Reject {
        /// Why, for the model.
        reason: Option<Arc<str>>,
    },
    /// An answer to the model's question.
    Answer {
        /// The answer.
        text: Arc<str>,
    },
    /// What became of a call in doubt.
    Became(Resolution),
}

impl Book {
    /// Leaves a word for a run, whoever drives it; gives what it was said of.
    ///
    /// # Errors
    /// Nothing of the kind is wanted, somebody else was first, or the contract does not admit an
    /// edit.
    pub async fn say(
        &self,
        run: &str,
        call: &str,
        said: Said,
        by: Option<Arc<str>>,
    ) -> Result<Pending, BookError> {
        let (wait, message) = self.word(run, call, said, by)?;
        match self.journal.send(run, message).await? {
            Sent::Kept(_) => Ok(wait),
            Sent::Already(first) => {
                Err(BookError::Decided(Box::new(Decided::of_message(&wait.call, &first))))
            }
        }
    }

    /// The message that a word is, and what it is said of: for whoever delivers it by other means
    /// than the journal's.
    ///
    /// # Errors
    /// Nothing of the kind is wanted, somebody was first, or the contract does not admit an edit.
    pub fn word(
        &self,
        id: &str,
        call: &str,
        said: Said,
        by: Option<Arc<str>>,
    ) -> Result<(Pending, Inbox), BookError> {
        let (records, run) = self.folded(id)?;
        let mut waits = Pending::of(&records, &run);
        let Some(at) = waits.iter().position(|wait| *wait.call == *call) else {
            let decided = records.iter().rev().find_map(|r| Decided::of_record(r, call));
            if let Some(decided) = decided {
                return Err(BookError::Decided(Box::new(decided)));
            }
            let summary = self.summary(id)?;
            if summary.state.is_over() {
                return Err(BookError::Over { run: summary.run, state: summary.state });
            }
            let delegates = self.delegates(id)?.into_iter();
            let delegates = delegates.filter(|child| !child.open.is_empty());
            return Err(BookError::NotWaiting {
                run: summary.run,
                call: call.into(),
                waits,
                delegates: delegates.map(|child| child.run).collect(),
            });
        };
        let wait = waits.swap_remove(at);
        let call = wait.call.clone();
        let message = match (said, &wait.on) {
            (Said::Approve { binding: seen }, On::Approval { binding, .. }) => {
                same(&call, seen.as_ref(), binding)?;
                Inbox::Decision { call, binding: binding.clone(), decision: Decision::Approve, by }
            }
            (Said::Edit { arguments, binding: seen }, On::Approval { binding, .. }) => {
                same(&call, seen.as_ref(), binding)?;
                admissible(&run, &wait, &arguments)?;
                let decision = Decision::Edit { arguments };
                Inbox::Decision { call, binding: binding.clone(), decision, by }
            }
            (Said::Reject { reason }, On::Approval { binding, .. }) => {
                let decision = Decision::Reject { reason };
                Inbox::Decision { call, binding: binding.clone(), decision, by }
            }
            (Said::Answer { text }, On::Answer { .. }) => Inbox::Answer { call, text, by },
            (Said::Became(resolution), On::Doubt { attempt, .. }) => {
                if let Resolution::Done { result: Some(result) } = &resolution
                    && let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(result)
                {
                    return Err(BookError::BadResult(error.to_string()));
                }
                Inbox::Doubt { call, attempt: *attempt, resolution, by }
            }
            _ => return Err(BookError::OtherWord(Box::new(wait))),
        };
        Ok((wait, message))
    }
}

fn same(call: &Arc<str>, seen: Option<&Arc<str>>, binding: &Arc<str>) -> Result<(), BookError> {
    match seen {
        Some(seen) if seen != binding => Err(BookError::OtherBinding { call: call.clone() }),
        _ => Ok(()),
    }
}

/// That the contract admits the edit: told now, while whoever edits can still mend it.
fn admissible(run: &Run, wait: &Pending, arguments: &str) -> Result<(), BookError> {
    let catalog = run.catalog();
    let tool = catalog.resolve(&wait.tool, Mode::Strict).ok().map(|(tool, _)| tool);
    match tool.map(|tool| tool.admit(arguments, Mode::Strict)) {
        Some(Verdict::Refused(fault)) => Err(BookError::EditRefused(fault)),
        Some(Verdict::Admitted { .. }) | None => Ok(()),
    }
}
