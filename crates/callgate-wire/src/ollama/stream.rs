//! A streamed response: a line of JSON for each piece, the last one with `done`.

use super::wire::Body;
use crate::{
    AssistantPart, Delta, ProviderError, Reply, Stop, ToolCall, Usage,
    events::{self, Trouble},
    finish::{Asked, Ended},
    json,
    think::{Piece, Think},
};

pub(super) struct Events {
    asked: Asked<'static>,
    gathered: Gathered,
}

/// A reply on its way.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    think: Think,
    shown: Shown,
    calls: Vec<ToolCall>,
    stop: Option<Stop>,
    usage: Option<Usage>,
    model: Option<String>,
}

#[derive(Debug, Default)]
struct Shown {
    text: String,
    reasoning: String,
}

impl Shown {
    fn take(&mut self, piece: &Piece<'_>, out: &mut Vec<Delta>) {
        match *piece {
            Piece::Text(text) => {
                self.text.push_str(text);
                out.push(Delta::Text(text.to_owned()));
            }
            Piece::Reasoning(text) => {
                self.reasoning.push_str(text);
                out.push(Delta::Reasoning(text.to_owned()));
            }
        }
    }
}

impl Gathered {
    pub(super) fn take(&mut self, body: &Body<'_>, out: &mut Vec<Delta>) {
        if let Some(message) = &body.message {
            let Self { think, shown, calls, .. } = self;
            let thinking = message.thinking();
            if !thinking.is_empty() {
                shown.take(&Piece::Reasoning(&thinking), out);
            }
            // Models without a parser of their own leave it in the text.
            think.push(&message.content(), |piece| shown.take(&piece, out));
            for call in message.calls() {
                out.push(Delta::Call { index: calls.len(), name: (*call.name).to_owned() });
                calls.push(call);
            }
        }
        self.stop = body.stop().or(self.stop);
        self.usage = body.usage().or(self.usage);
        self.model = body.model().or(self.model.take());
    }

    /// `stop` is for a body that does not say.
    pub(super) fn reply(
        self,
        asked: &Asked<'_>,
        stop: Stop,
        out: &mut Vec<Delta>,
    ) -> Result<Reply, ProviderError> {
        let Self { mut think, mut shown, calls, stop: said, usage, model } = self;
        think.finish(|piece| shown.take(&piece, out));
        let mut content = Vec::with_capacity(calls.len() + 2);
        if !shown.reasoning.is_empty() {
            let text = shown.reasoning.into();
            content.push(AssistantPart::Reasoning { text, opaque: None });
        }
        if !shown.text.is_empty() {
            content.push(AssistantPart::Text { text: shown.text.into() });
        }
        content.extend(calls.into_iter().map(AssistantPart::Call));
        Ok(asked.reply(Ended { content, stop: said.unwrap_or(stop), usage, model }))
    }
}

impl Events {
    pub(super) fn new(asked: Asked<'static>) -> Self {
        Self { asked, gathered: Gathered::default() }
    }
}

impl events::Events for Events {
    fn take(&mut self, data: &str, out: &mut Vec<Delta>) -> Result<(), Trouble> {
        let told = out.len();
        let body: Body<'_> = json::from_str(data)?;
        if let Some(error) = body.error() {
            return Err(error.into());
        }
        self.gathered.take(&body, out);
        self.asked.restore(&mut out[told..]);
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.gathered.stop.is_some()
    }

    fn reply(&mut self, out: &mut Vec<Delta>) -> Result<Reply, ProviderError> {
        std::mem::take(&mut self.gathered).reply(&self.asked, Stop::Incomplete, out)
    }
}
