//! What a run waits for, and what to type about it.

use std::sync::Arc;

use callgate::machine::{
    Event, Record, Run, WaitFor,
    event::{CallGated, GateVerdict},
};
use serde::Serialize;

use super::book::Book;
use crate::show::{paint::Paint, pretty::pretty, words};

/// A call that waits for a person.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Pending {
    /// The run.
    pub(super) run: Arc<str>,
    /// The call.
    pub(super) call: Arc<str>,
    /// Its tool.
    pub(super) tool: Arc<str>,
    #[serde(flatten)]
    pub(super) on: On,
    /// The admitted arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) arguments: Option<Arc<str>>,
    /// When the question lapses, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
}

/// What it waits for.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "want", rename_all = "camelCase")]
pub(super) enum On {
    /// A yes or a no.
    Approval {
        /// What a yes is good for.
        binding: Arc<str>,
        /// The condition that asked, where there is one.
        #[serde(skip_serializing_if = "Option::is_none")]
        because: Option<Arc<str>>,
    },
    /// The user's answer.
    Answer {
        /// The question.
        question: Arc<str>,
        /// Answers to choose from.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        choices: Vec<Arc<str>>,
    },
    /// What became of it.
    #[serde(rename_all = "camelCase")]
    Doubt {
        /// The attempt whose outcome is lost.
        attempt: u32,
        /// The key under which the tool may know the call.
        #[serde(skip_serializing_if = "Option::is_none")]
        idempotency_key: Option<Arc<str>>,
    },
}

impl Pending {
    /// What a run waits for.
    pub(super) fn of(records: &[Record], run: &Run) -> Vec<Self> {
        let waits = run.waits().into_iter();
        waits.map(|wait| Self::told(records, run.id(), wait)).collect()
    }

    fn told(records: &[Record], run: &Arc<str>, wait: callgate::machine::Wait) -> Self {
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

    /// In a few words.
    pub(super) fn short(&self) -> String {
        let (tool, call) = (words::clean(&self.tool), words::clean(&self.call));
        match &self.on {
            On::Approval { .. } => format!("approval of {tool} ({call})"),
            On::Answer { question, .. } => {
                format!("an answer to \"{}\" ({call})", words::short(question, 200))
            }
            On::Doubt { .. } => format!("a word on what became of {tool} ({call})"),
        }
    }

    /// What to type.
    pub(super) fn command(&self, book: &Book) -> String {
        let (verb, rest) = match &self.on {
            On::Approval { .. } => ("approve", ""),
            On::Answer { .. } => ("answer", " \"…\""),
            On::Doubt { .. } => ("resolve", " done|redo|fail"),
        };
        book.command(verb, &format!("{} {}{rest}", self.run, self.call))
    }

    /// With everything that is needed to decide.
    pub(super) fn lines(&self, book: &Book, paint: Paint) -> Vec<String> {
        let label = match &self.on {
            On::Approval { .. } => "waits for approval:",
            On::Answer { .. } => "waits for an answer:",
            On::Doubt { .. } => "in doubt:",
        };
        let tool = words::clean(&self.tool);
        let mut lines =
            vec![format!("{} {} ({})", paint.yellow(label), paint.bold(tool), self.call)];
        match &self.on {
            On::Answer { question, choices } => {
                lines.push(format!("  {}", words::clean(question)));
                let choices = choices.iter().zip(1..);
                lines.extend(choices.map(|(c, n)| format!("  {n}) {}", words::clean(c))));
            }
            On::Approval { .. } | On::Doubt { .. } => {
                let arguments = self.arguments.as_deref().unwrap_or("{}");
                let shown = pretty(&words::clean(arguments));
                lines.extend(shown.lines().map(|line| format!("  {line}")));
            }
        }
        match &self.on {
            On::Approval { because: Some(because), .. } => {
                lines.push(format!("  asked because {}", words::clean(because)));
            }
            On::Doubt { attempt, idempotency_key } => {
                let key = idempotency_key.as_deref().unwrap_or("unknown");
                lines.push(format!(
                    "  begun (attempt {attempt}), its outcome is lost; idempotency key {key}"
                ));
            }
            On::Approval { .. } | On::Answer { .. } => {}
        }
        if let Some(at) = self.expires_at {
            lines.push(format!("  lapses at {} UTC", super::time::stamp(at)));
        }
        lines.push(format!("  {}", paint.dim(self.command(book))));
        lines
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
