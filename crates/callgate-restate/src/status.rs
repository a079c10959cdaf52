//! How far a run is, and what it waits for: written by the run, read by whoever asks.

use std::sync::Arc;

use callgate_engine::RunSummary;
use callgate_machine::{Finish, finish::Status};
use serde::{Deserialize, Serialize};

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
    /// Its facts, as any journal lists them. Older builds did not write them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<RunSummary>,
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
