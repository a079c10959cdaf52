//! What goes back to the model, and what the client gets of it all the same.

use std::sync::Arc;

use callgate_contract::{Envelope, Fault};
use callgate_wire::{AssistantPart, Message, Part, ToolCall, ToolResult};

use super::{Turn, answer::leans_on_what_follows};
use crate::proxy::told::Remark;

/// A call as it came, and what the gate made of it.
pub(super) type Judgement = (ToolCall, Result<ToolCall, Box<Fault>>);

impl Turn {
    /// The reply goes back, every call of it with an envelope.
    pub(super) fn go_back(&mut self, content: Vec<AssistantPart>, judged: Vec<Judgement>) {
        let mut results = Vec::with_capacity(judged.len());
        let mut admitted = Vec::new();
        for (came, judged) in judged {
            let (id, name) = (came.id.clone(), came.name.clone());
            let (envelope, is_error) = match judged {
                Ok(call) => {
                    admitted.push(call);
                    (Envelope::waiting(id.clone(), name.clone()), false)
                }
                Err(fault) => (Envelope::error(id.clone(), name.clone(), *fault), true),
            };
            let content = vec![Part::Text { text: envelope.to_text().into() }];
            results.push(ToolResult { call_id: id, name, content, is_error });
        }
        let mut content = self.keep_words(content);
        for part in &mut content {
            if let AssistantPart::Call(call) = part
                && let Some(admitted) = admitted.iter().find(|admitted| admitted.id == call.id)
            {
                // As the gate took it, so that the model reads of one that is right.
                call.arguments = admitted.arguments.clone();
            }
        }
        self.request.messages.push(Arc::new(Message::Assistant { content }));
        let results = results.into_iter().map(|result| Arc::new(Message::Tool(result)));
        self.request.messages.extend(results);
    }

    /// Notes what the client gets of a reply that goes back: its words, and the state that may
    /// stand without its calls.
    pub(super) fn keep_words(&mut self, content: Vec<AssistantPart>) -> Vec<AssistantPart> {
        let last_words =
            content.iter().rposition(|part| matches!(part, AssistantPart::Text { .. }));
        let mut left_out = 0;
        let mut said = Vec::new();
        for (at, part) in content.iter().enumerate() {
            let may_dangle = last_words.is_some_and(|last| at < last);
            match part {
                AssistantPart::Call(_) => {}
                part if leans_on_what_follows(part) && !may_dangle => {
                    left_out += 1;
                    if let AssistantPart::Reasoning { text, .. } = part {
                        let text = text.clone();
                        said.push(AssistantPart::Reasoning { text, opaque: None });
                    }
                }
                part => said.push(part.clone()),
            }
        }
        self.said.push(said);
        if left_out > 0 {
            self.told.note(Remark::StateNotHandedOn { count: left_out });
        }
        content
    }
}
