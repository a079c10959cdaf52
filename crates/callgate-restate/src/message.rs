//! What client, run and tool service say to each other. JSON, camelCase; fields are only ever added.

use std::sync::Arc;

use callgate_machine::{
    Record,
    event::{Decision, Event, Resolution},
};
use callgate_wire::TraceContext;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::blob::{BlobRef, Packed};

/// How a run is asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Submit {
    /// What is wanted.
    pub goal: Arc<str>,
    /// Who wants it: `id`, `roles`, claims.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub caller: Value,
    /// What the run begins with, where it is a fork of another one
    /// ([`callgate_machine::fork`]): it goes on after these events, and goal and caller are theirs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Record>,
}

impl Submit {
    /// A run from its beginning.
    pub fn new(goal: impl Into<Arc<str>>, caller: Value) -> Self {
        Self { goal: goal.into(), caller, history: Vec::new() }
    }
}

/// What somebody says to a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Say {
    /// A decision on a call that waits for approval.
    Decision {
        /// The call.
        call: Arc<str>,
        /// The binding that was seen; where absent, that of the open question.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        binding: Option<Arc<str>>,
        /// The decision.
        decision: Decision,
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Arc<str>>,
    },
    /// An answer to a question that the model put to the user.
    Answer {
        /// The call that asked.
        call: Arc<str>,
        /// The answer.
        text: Arc<str>,
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Arc<str>>,
    },
    /// What became of a call in doubt.
    Doubt {
        /// The call.
        call: Arc<str>,
        /// What to do.
        resolution: Resolution,
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Arc<str>>,
    },
    /// Stop.
    Cancel {
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Arc<str>>,
    },
    /// Wait.
    Pause {
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Arc<str>>,
    },
    /// Go on.
    Resume {
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Arc<str>>,
    },
}

impl Say {
    /// Who says it.
    pub fn by(&self) -> Option<&Arc<str>> {
        match self {
            Self::Decision { by, .. }
            | Self::Answer { by, .. }
            | Self::Doubt { by, .. }
            | Self::Cancel { by }
            | Self::Pause { by }
            | Self::Resume { by } => by.as_ref(),
        }
    }
}

/// A word as its promise keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Word {
    /// Tells who was first: the invocation that kept the promise.
    pub token: String,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// What was said.
    pub said: Say,
}

/// What became of a word.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "camelCase")]
pub enum Said {
    /// It counts.
    Taken,
    /// Somebody else was first; this is what they said, and it counts.
    Already {
        /// What they said.
        said: Say,
        /// When, in milliseconds since 1970.
        at: u64,
    },
    /// It does not count.
    Refused {
        /// Why, and what to do.
        because: String,
    },
}

/// How a run began, as its first step records it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Begun {
    pub at: u64,
    pub build: Arc<str>,
    /// The events of another run that this one begins with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Record>,
    /// What comes first, or after these.
    pub event: Event,
}

/// What a model hop came to.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Thought {
    /// A reply, or the provider's failure.
    Replied { at: u64, event: Box<Event> },
    /// It was stopped, because the run is to be cancelled or paused.
    Stopped,
}

/// A tool call for the service that makes it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolCallRequest {
    pub run: Arc<str>,
    pub call: Arc<str>,
    pub tool: Arc<str>,
    /// Admitted arguments, digits as they came.
    pub arguments: Arc<str>,
    pub attempt: u32,
    pub idempotency_key: Arc<str>,
    pub timeout_ms: u64,
    /// The span of the attempt, where the run is in a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceContext>,
}

/// What a tool call came to.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ToolCallReply {
    /// It ended: a `callFinished`, and when, or 0 where that was not recorded with it.
    Ended { at: u64, event: Box<Event> },
    /// An earlier attempt began it and was lost before it said what came of it, and the tool does
    /// not say that it may be called again.
    InDoubt,
}

/// Events of a run, from one position on.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EventsFrom {
    pub from: u64,
}

/// A page of events: as many as fit.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EventsPage {
    /// Each the events that followed from one input, in order.
    pub batches: Vec<Packed>,
    /// Where the next page begins; absent after the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
    /// Whether there is such a run.
    pub known: bool,
}

/// A piece of a body in the worker's store.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BlobFrom {
    #[serde(flatten)]
    pub body: BlobRef,
    pub from: u64,
}

/// That piece.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BlobPiece {
    pub text: String,
    /// Where the next piece begins; absent after the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}
