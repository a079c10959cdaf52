//! Who is asked: for approval, for an answer, for what became of a call.

use std::{future::Future, pin::Pin, sync::Arc};

use callgate_machine::{
    Doubt, Question, UserQuestion,
    event::{Decision, Resolution},
};

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

/// The user's answer on its way; nothing where nobody can be asked here.
pub type AnswerFuture<'a> = Pin<Box<dyn Future<Output = Option<Answered>> + Send + 'a>>;

/// A word on a call in doubt on its way; nothing where nobody can be asked here.
pub type ResolutionFuture<'a> = Pin<Box<dyn Future<Output = Option<Resolved>> + Send + 'a>>;

/// A user's answer, and who they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// Their words.
    pub text: Arc<str>,
    /// Who.
    pub by: Option<Arc<str>>,
}

/// What became of a call in doubt, and who says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// What to do.
    pub resolution: Resolution,
    /// Who.
    pub by: Option<Arc<str>>,
}

/// Whoever is asked.
///
/// Several questions of one reply are asked at the same time; an approver that can only put one
/// at a time (a terminal) queues them itself.
pub trait Approver: Send + Sync {
    /// Asks for approval. Dropping the future withdraws the question.
    fn ask(&self, question: Question) -> WordFuture<'_>;

    /// Puts the model's question to the user. Default: nobody can be asked here, so the run waits
    /// for an answer from elsewhere.
    fn answer(&self, question: UserQuestion) -> AnswerFuture<'_> {
        let _ = question;
        Box::pin(std::future::ready(None))
    }

    /// Asks what became of a call whose outcome was lost. Default: nobody can be asked here, so
    /// the run waits for a word from elsewhere.
    fn resolve(&self, doubt: Doubt) -> ResolutionFuture<'_> {
        let _ = doubt;
        Box::pin(std::future::ready(None))
    }

    /// Whether anybody is here to be asked for approval at all. Where nobody is, `ask` is not
    /// called, and the run waits for a word from elsewhere: with a journal that takes messages,
    /// from any process.
    fn is_here(&self) -> bool {
        true
    }
}

/// Nobody here: runs wait for words from elsewhere.
#[derive(Debug, Clone, Copy, Default)]
pub struct Elsewhere;

impl Approver for Elsewhere {
    fn ask(&self, _: Question) -> WordFuture<'_> {
        Box::pin(std::future::pending())
    }

    fn is_here(&self) -> bool {
        false
    }
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
