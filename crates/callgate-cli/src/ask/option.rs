//! Approvals by option of the command line, everything else at the terminal.

use std::sync::Arc;

use callgate::{
    engine::{AnswerFuture, Approver, ResolutionFuture, WordFuture},
    machine::{Doubt, Question, UserQuestion},
};

use super::AtTerminal;

/// `--yes` and `--deny` decide on approvals. What the model asks the user, and what became of a
/// call, no option can say.
pub(crate) struct ByOption {
    /// Decides on approvals.
    pub(crate) decides: Arc<dyn Approver>,
    /// Is asked for the rest; without it the run waits.
    pub(crate) terminal: Option<AtTerminal>,
}

impl Approver for ByOption {
    fn ask(&self, question: Question) -> WordFuture<'_> {
        self.decides.ask(question)
    }

    fn answer(&self, question: UserQuestion) -> AnswerFuture<'_> {
        match &self.terminal {
            Some(terminal) => terminal.answer(question),
            None => Box::pin(std::future::ready(None)),
        }
    }

    fn resolve(&self, doubt: Doubt) -> ResolutionFuture<'_> {
        match &self.terminal {
            Some(terminal) => terminal.resolve(doubt),
            None => Box::pin(std::future::ready(None)),
        }
    }
}
