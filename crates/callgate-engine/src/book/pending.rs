//! What a run waits for, with everything that is needed to decide.

use std::sync::Arc;

use callgate_machine::{
    Event, Record, Run, Wait, WaitFor,
    event::{CallGated, GateVerdict},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A call that waits for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pending {
    /// The run.
    pub run: Arc<str>,
    /// The call.
    pub call: Arc<str>,
    /// Its tool.
    pub tool: Arc<str>,
    /// What is wanted.
    #[serde(flatten)]
    pub on: On,
    /// The admitted arguments, as JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Arc<str>>,
    /// When the question lapses, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
}

/// What it waits for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "want", rename_all = "camelCase")]
pub enum On {
    /// A yes or a no.
    Approval {
        /// What a yes is good for.
        binding: Arc<str>,
        /// The condition that asked, where there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<Arc<str>>,
    },
    /// The user's answer.
    Answer {
        /// The question.
        question: Arc<str>,
        /// Answers to choose from.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        choices: Vec<Arc<str>>,
    },
    /// What became of it.
    #[serde(rename_all = "camelCase")]
    Doubt {
        /// The attempt whose outcome is lost.
        attempt: u32,
        /// The key under which the tool may know the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        idempotency_key: Option<Arc<str>>,
    },
}

impl Pending {
    /// What a run waits for.
    pub fn of(records: &[Record], run: &Run) -> Vec<Self> {
        let waits = run.waits().into_iter();
        waits.map(|wait| Self::told(records, run.id(), wait)).collect()
    }

    fn told(records: &[Record], run: &Arc<str>, wait: Wait) -> Self {
        let id = &wait.call;
        let mut expires = None;
        let mut arguments = None;
        let (mut reason, mut offered) = (None, Vec::new());
        let (mut lost, mut key) = (0, None);
        for record in records {
            match &record.event {
                Event::CallGated(gated) if gated.call == *id => arguments = admitted(gated),
                Event::ApprovalRequested { call, because, expires_at, .. } if call == id => {
                    (reason, expires) = (because.clone(), *expires_at);
                }
                Event::UserAsked { call, choices, expires_at, .. } if call == id => {
                    (offered, expires) = (choices.clone(), *expires_at);
                }
                Event::CallStarted { call, idempotency_key, .. } if call == id => {
                    key = Some(idempotency_key.clone());
                }
                Event::CallInDoubt { call, attempt, .. } if call == id => lost = *attempt,
                _ => {}
            }
        }
        let on = match wait.on {
            WaitFor::Approval { binding } => On::Approval { binding, because: reason },
            WaitFor::Answer { question } => On::Answer { question, choices: offered },
            WaitFor::Doubt => {
                expires = None;
                On::Doubt { attempt: lost, idempotency_key: key }
            }
        };
        let (run, call, tool) = (run.clone(), wait.call, wait.tool);
        Self { run, call, tool, on, arguments, expires_at: expires }
    }

    /// In a few words. Names and questions are as the model wrote them.
    pub fn short(&self) -> String {
        let (tool, call) = (&self.tool, &self.call);
        match &self.on {
            On::Approval { .. } => format!("approval of {tool} ({call})"),
            On::Answer { question, .. } => format!("an answer to {question:?} ({call})"),
            On::Doubt { .. } => format!("a word on what became of {tool} ({call})"),
        }
    }
}

fn admitted(gated: &CallGated) -> Option<Arc<str>> {
    match &gated.verdict {
        GateVerdict::Admitted { arguments, .. } | GateVerdict::Asking { arguments, .. } => {
            Some(arguments.clone())
        }
        GateVerdict::Answer { .. } | GateVerdict::Refused { .. } => None,
    }
}
