//! What client, run and tool service say to each other. JSON, camelCase; fields are only ever added.

use std::sync::Arc;

use callgate_machine::{
    Finish,
    event::{Decision, Event, Resolution},
    finish::Status,
};
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
}

/// How far a run is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunStatus {
    /// The run.
    pub run: Arc<str>,
    /// In one word.
    pub phase: Phase,
    /// The beginning of its goal.
    pub goal: Arc<str>,
    /// The agent's name.
    pub agent: Arc<str>,
    /// The model's id.
    pub model: Arc<str>,
    /// The build of Callgate and of the project that drives it.
    pub build: Arc<str>,
    /// When it began, in milliseconds since 1970.
    pub started_at: u64,
    /// When it was last heard of.
    pub at: u64,
    /// The model hop it is at.
    pub hop: u32,
    /// How many events there are.
    pub events: u64,
    /// What it waits for people for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<Waits>,
    /// How often it has been paused and resumed.
    #[serde(default)]
    pub pauses: u32,
    /// How it ended, in short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
}

/// How far a run is, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    /// It goes on.
    Running,
    /// Calls of it wait for people.
    Waiting,
    /// A person paused it.
    Paused,
    /// It is over.
    Over,
}

/// How a run ended, in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ended {
    /// In one word.
    pub status: Status,
    /// The beginning of its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Arc<str>>,
}

/// A call that waits for somebody's word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Waits {
    /// The call.
    pub call: Arc<str>,
    /// The promise that the word keeps.
    pub key: Arc<str>,
    /// When the question lapses, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
    /// What for.
    #[serde(flatten)]
    pub on: WaitsOn,
}

/// What a call waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "for", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum WaitsOn {
    /// A yes or a no.
    Approval {
        /// The tool.
        tool: Arc<str>,
        /// What its contract says it does.
        description: Arc<str>,
        /// The admitted arguments; their beginning where they are longer than 16 KiB.
        arguments: Arc<str>,
        /// What a yes is good for.
        binding: Arc<str>,
        /// The condition that asked, where there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<Arc<str>>,
        /// Whether the tool may destroy something.
        #[serde(default)]
        destructive: bool,
    },
    /// The user's answer.
    Answer {
        /// The question.
        question: Arc<str>,
        /// Answers to choose from.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        choices: Vec<Arc<str>>,
    },
    /// What became of it: it was begun, and its outcome was lost.
    Doubt {
        /// The tool.
        tool: Arc<str>,
        /// The admitted arguments; their beginning where they are longer than 16 KiB.
        arguments: Arc<str>,
        /// The key under which the tool may know the call.
        idempotency_key: Arc<str>,
        /// The attempt in doubt.
        attempt: u32,
    },
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

/// The most bytes of a text that stands in a status.
const HEAD: usize = 16 * 1024;

/// The beginning of a text, cut where a character ends.
pub(crate) fn head(text: &Arc<str>, bytes: usize) -> Arc<str> {
    if text.len() <= bytes { text.clone() } else { text[..text.floor_char_boundary(bytes)].into() }
}

/// The beginning of arguments, as they stand in a status.
pub(crate) fn shown(arguments: &Arc<str>) -> Arc<str> {
    head(arguments, HEAD)
}

impl Ended {
    pub(crate) fn of(finish: &Finish) -> Self {
        let text = finish.text.as_ref().or(finish.value.as_ref());
        Self { status: finish.status, text: text.map(|text| head(text, 1024)) }
    }
}
