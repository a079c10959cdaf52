//! Who is asked before a call of tier `approve` runs.

use std::{future::Future, pin::Pin, sync::Arc};

use callgate_machine::{Question, event::Decision};

/// A person's word, and who they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Word {
    /// What they decided.
    pub decision: Decision,
    /// Who.
    pub by: Option<Arc<str>>,
}

impl Word {
    /// A yes.
    pub fn approve(by: &str) -> Self {
        Self { decision: Decision::Approve, by: Some(by.into()) }
    }

    /// A no, with its reason.
    pub fn reject(by: &str, reason: &str) -> Self {
        Self { decision: Decision::Reject { reason: Some(reason.into()) }, by: Some(by.into()) }
    }
}

/// An answer on its way.
pub type WordFuture<'a> = Pin<Box<dyn Future<Output = Word> + Send + 'a>>;

/// Whoever is asked.
///
/// Several questions of one reply are asked at the same time; an approver that can only put one
/// at a time (a terminal) queues them itself.
pub trait Approver: Send + Sync {
    /// Asks. Dropping the future withdraws the question.
    fn ask(&self, question: Question) -> WordFuture<'_>;
}

/// Says yes to everything, as `--yes` does.
#[derive(Debug, Clone, Copy, Default)]
pub struct ApproveAll;

impl Approver for ApproveAll {
    fn ask(&self, _: Question) -> WordFuture<'_> {
        Box::pin(std::future::ready(Word::approve("policy (--yes)")))
    }
}

/// Says no to everything: the default where nobody can be asked.
#[derive(Debug, Clone, Copy, Default)]
pub struct DenyAll;

impl Approver for DenyAll {
    fn ask(&self, _: Question) -> WordFuture<'_> {
        Box::pin(std::future::ready(Word::reject(
            "The runtime",
            "this call needs a person's approval and nobody can be asked here",
        )))
    }
}

/// Asks a closure.
pub struct AskWith<F>(pub F);

impl<F, Fut> Approver for AskWith<F>
where
    F: Fn(Question) -> Fut + Send + Sync,
    Fut: Future<Output = Word> + Send + 'static,
{
    fn ask(&self, question: Question) -> WordFuture<'_> {
        Box::pin((self.0)(question))
    }
}
