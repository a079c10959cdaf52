//! The doctor: walks the field's debugging table over a run.
//!
//! A run that went wrong mostly went wrong in one of a few known ways, and for each there is a
//! first thing to try. The doctor looks for those ways in the events alone: each finding names the
//! hop, the evidence and the first fix. It judges no answer; a run without findings may still be
//! wrong.
//!
//! To add a symptom is to add its file and its line in `EXAMS`.

mod arguments;
mod choice;
mod context;
mod drift;
mod giving_up;
mod outside;
mod prose;
mod repeats;
mod twins;

use std::{collections::HashMap, sync::Arc};

use callgate_contract::{Failure, Fault};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    Event, Record,
    event::{CallFinished, CallGated, GateVerdict},
};

/// A known way for a run to go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Symptom {
    /// A tool that does not exist was called, or none where one was due.
    WrongOrNoTool,
    /// Argument text that is no JSON object.
    MalformedArguments,
    /// A required argument was left out.
    MissingArguments,
    /// Arguments that the contract refuses in another way.
    RefusedArguments,
    /// Words that promise an act, and no call.
    ProseInsteadOfAct,
    /// Several tools tried for the same thing.
    SeveralToolsForOneTask,
    /// A result so large that it crowds the context, or had to be cut.
    ContextBlown,
    /// The run ended at an error that could have been mended.
    GivingUp,
    /// The same call failing the same way.
    RepeatingAFailure,
    /// A tool is not what it was.
    DriftedDefinition,
    /// The provider, a tool or a person did not do their part.
    Outside,
}

/// What was found, where, and what to try first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// Which way it went wrong.
    pub symptom: Symptom,
    /// The hop.
    pub hop: u32,
    /// The event that shows it.
    pub seq: u64,
    /// The call, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<Arc<str>>,
    /// The tool, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<Arc<str>>,
    /// What was seen.
    pub evidence: String,
    /// What to try first.
    pub fix: String,
}

/// Looks for one symptom.
type Exam = fn(&Chart<'_>, &mut Vec<Finding>);

const EXAMS: [Exam; 9] = [
    choice::examine,
    arguments::examine,
    prose::examine,
    twins::examine,
    context::examine,
    giving_up::examine,
    repeats::examine,
    drift::examine,
    outside::examine,
];

/// Looks a run over. Findings come in the order of its events.
pub fn examine(records: &[Record]) -> Vec<Finding> {
    let Some(chart) = Chart::of(records) else { return Vec::new() };
    let mut findings = Vec::new();
    for exam in EXAMS {
        exam(&chart, &mut findings);
    }
    findings.sort_by_key(|finding| (finding.seq, finding.symptom));
    findings
}

/// A run, laid out for looking at.
struct Chart<'r> {
    records: &'r [Record],
    /// Each event's hop.
    hops: Vec<u32>,
    calls: Vec<Case<'r>>,
}

/// One call: what it asked for and what came of it.
struct Case<'r> {
    hop: u32,
    /// The position of the verdict.
    seq: u64,
    gated: &'r CallGated,
    finished: Option<(u64, &'r CallFinished)>,
}

impl<'r> Chart<'r> {
    fn of(records: &'r [Record]) -> Option<Self> {
        matches!(records.first()?.event, Event::RunStarted(_)).then_some(())?;
        let mut hop = 0;
        let mut hops = Vec::with_capacity(records.len());
        let mut calls: Vec<Case<'r>> = Vec::new();
        let mut by_id: HashMap<&str, usize> = HashMap::new();
        for record in records {
            if let Event::ModelRequested { hop: now, .. } = record.event {
                hop = now;
            }
            hops.push(hop);
            match &record.event {
                // The last verdict on a call counts: of an edit, or after a rule's question.
                Event::CallGated(gated) => match by_id.get(&*gated.call) {
                    Some(at) => (calls[*at].seq, calls[*at].gated) = (record.seq, gated),
                    None => {
                        by_id.insert(&gated.call, calls.len());
                        calls.push(Case { hop, seq: record.seq, gated, finished: None });
                    }
                },
                Event::CallFinished(finished) => {
                    if let Some(at) = by_id.get(&*finished.call) {
                        calls[*at].finished = Some((record.seq, finished));
                    }
                }
                _ => {}
            }
        }
        Some(Self { records, hops, calls })
    }

    /// The events, each with its hop.
    fn events(&self) -> impl Iterator<Item = (u32, u64, &'r Event)> + '_ {
        self.records.iter().zip(&self.hops).map(|(record, hop)| (*hop, record.seq, &record.event))
    }
}

impl Case<'_> {
    /// The gate's refusal.
    fn refused(&self) -> Option<&Fault> {
        match &self.gated.verdict {
            GateVerdict::Refused { fault } => Some(fault),
            _ => None,
        }
    }

    /// The tool's failure.
    fn failed(&self) -> Option<&Failure> {
        self.finished.and_then(|(_, finished)| finished.failure.as_ref())
    }

    /// Whether it came to nothing.
    fn is_error(&self) -> bool {
        self.refused().is_some() || self.failed().is_some()
    }

    fn finding(&self, symptom: Symptom, evidence: String, fix: impl Into<String>) -> Finding {
        Finding {
            symptom,
            hop: self.hop,
            seq: self.seq,
            call: Some(self.gated.call.clone()),
            tool: Some(self.gated.tool.clone().unwrap_or_else(|| self.gated.name.clone())),
            evidence,
            fix: fix.into(),
        }
    }
}

/// A text short enough to be read in a line.
fn short(text: &str) -> String {
    const MOST: usize = 160;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
