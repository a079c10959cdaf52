//! A person who agrees to everything and changes no default.

use callgate_tool::mcp::{Answered, Answering, Elicitor, Question, Wants};

use super::sample;

pub(super) struct Agreeable;

impl Elicitor for Agreeable {
    fn elicit(&self, question: Question) -> Answering<'_> {
        Box::pin(async move {
            match question.wants {
                Wants::Form { schema } => Answered::Accept(sample::arguments(&schema)),
                // There is no page that somebody could visit.
                Wants::Url { .. } => Answered::Decline,
            }
        })
    }
}
