//! A streamed response: each event is a response of its own, with more parts.
//!
//! There is no end marker, and what ends the reply may come more than once; a stream that closes
//! without a finish reason was cut. Calls come whole, perhaps each in an event of its own.

use super::{
    parts::Gathered,
    wire::{self, Body},
};
use crate::{
    Delta, ProviderError, Reply, Stop, Usage,
    events::{self, Trouble},
    finish::{Asked, Ended},
    json,
    raw::string,
};

pub(super) struct Events {
    asked: Asked<'static>,
    gathered: Gathered,
    stop: Option<Stop>,
    usage: Option<Usage>,
    model: Option<String>,
}

impl Events {
    pub(super) fn new(asked: Asked<'static>) -> Self {
        Self { asked, gathered: Gathered::default(), stop: None, usage: None, model: None }
    }
}

impl events::Events for Events {
    fn take(&mut self, data: &str, out: &mut Vec<Delta>) -> Result<(), Trouble> {
        let told = out.len();
        let body: Body<'_> = json::from_str(data)?;
        if let Some(error) = body.error {
            return Err(wire::error(error).into());
        }
        if let Some(counts) = &body.usage_metadata {
            // Each is the whole count so far.
            self.usage = Some(wire::usage(counts));
        }
        if self.model.is_none() {
            self.model = body.model_version.and_then(string).map(Into::into);
        }
        if let Some(candidate) = body.candidate() {
            for part in candidate.parts() {
                self.gathered.take(part, &self.asked, out)?;
            }
            // A later plain STOP does not undo what was said before.
            match candidate.stop()? {
                Some(Stop::End) => self.stop = self.stop.or(Some(Stop::End)),
                other => self.stop = other.or(self.stop),
            }
        } else if body.is_blocked() {
            self.stop = Some(Stop::Refusal);
        }
        self.asked.restore(&mut out[told..]);
        Ok(())
    }

    fn is_done(&self) -> bool {
        false
    }

    fn is_ending(&self) -> bool {
        self.stop.is_some()
    }

    fn reply(&mut self, _: &mut Vec<Delta>) -> Result<Reply, ProviderError> {
        let content = std::mem::take(&mut self.gathered).finish();
        Ok(self.asked.reply(Ended {
            content,
            stop: self.stop.unwrap_or(Stop::Incomplete),
            usage: self.usage,
            model: self.model.take(),
        }))
    }
}
