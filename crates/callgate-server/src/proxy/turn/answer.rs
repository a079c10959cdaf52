//! What the client gets of several attempts.

use std::sync::Arc;

use callgate_wire::{AssistantPart, Reply};

/// Between the words of two attempts.
pub(in crate::proxy) const BETWEEN: &str = "\n\n";

/// What the client gets.
#[derive(Debug)]
pub(in crate::proxy) struct Answer {
    /// The words of each attempt before, which a stream has brought already.
    pub(in crate::proxy) before: Vec<Vec<AssistantPart>>,
    /// The last reply, with all calls that the client gets. Its usage is that of all attempts.
    pub(in crate::proxy) reply: Reply,
}

impl Answer {
    /// All of it as one reply.
    pub(in crate::proxy) fn whole(self) -> Reply {
        let Self { before, mut reply } = self;
        let mut content = Vec::new();
        let mut words: Option<Arc<str>> = None;
        for mut attempt in before.into_iter().chain([std::mem::take(&mut reply.content)]) {
            let texts = attempt.iter_mut().filter_map(|part| match part {
                AssistantPart::Text { text } if !text.is_empty() => Some(text),
                _ => None,
            });
            let mut last = None;
            for text in texts {
                if let Some(before) = words.take()
                    && needs_gap(&before)
                {
                    *text = format!("{BETWEEN}{text}").into();
                }
                last = Some(text.clone());
            }
            words = last.or(words);
            content.extend(attempt);
        }
        reply.content = content;
        reply
    }
}

/// Whether words that follow would run into these.
pub(in crate::proxy) fn needs_gap(before: &str) -> bool {
    !before.is_empty() && !before.ends_with('\n')
}

/// Whether a provider's state may not stand in a transcript without what followed it: OpenAI
/// refuses reasoning "without its required following item".
pub(in crate::proxy) fn leans_on_what_follows(part: &AssistantPart) -> bool {
    let state = match part {
        AssistantPart::Reasoning { opaque, .. } => opaque.as_ref(),
        AssistantPart::Opaque(opaque) => Some(opaque),
        AssistantPart::Text { .. } | AssistantPart::Call(_) => None,
    };
    state.is_some_and(|state| &*state.provider == "responses")
}
