//! What the model is told about tools that are not on offer, and about results that it has not
//! seen whole.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Envelope, Fault, NOT_EXECUTED};
use crate::{ErrorKind, page::Cursor};

/// The [`Fault::reason`] of a call whose tool waits to be found.
const DEFERRED: &str = "deferred";

/// How the rest of a result is read: a call to make.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct More {
    /// The tool to call.
    pub tool: Arc<str>,
    /// What to call it with.
    pub arguments: Cursor,
}

impl Envelope {
    /// With a word on how to read on.
    #[must_use]
    pub fn reading_on(mut self, more: More) -> Self {
        self.more = Some(more);
        self
    }
}

impl Fault {
    /// The tool is there and was not on offer, so its arguments were a guess: it is on offer from
    /// the next request on.
    pub fn deferred(name: &str) -> Self {
        let mut fault = Self::new(
            ErrorKind::UnknownTool,
            format!(
                "The tool {name:?} was not on offer yet, so its arguments were not judged. \
                 {NOT_EXECUTED}"
            ),
        )
        .hint("It is on offer now: read its description and parameters, and make the call again if it is the right tool.");
        fault.reason = Some(DEFERRED.to_owned());
        fault
    }

    /// Whether the call named a tool that was not on offer yet.
    pub fn is_deferred(&self) -> bool {
        self.kind == ErrorKind::UnknownTool && self.reason.as_deref() == Some(DEFERRED)
    }

    /// With a word on how other tools are found.
    #[must_use]
    pub fn searchable(mut self, search: &str) -> Self {
        if self.suggestion.is_none() {
            self.hint = Some(format!(
                "Search for the right tool with {search:?}, call one of those on offer, or answer \
                 without a tool."
            ));
        }
        self
    }
}
