//! Judging recorded calls by another catalog: what a change of contracts would have meant for
//! runs that were.
//!
//! Each call is judged where it came in its run: with the same rules' facts, the same answers of
//! tools that rules asked, the same model's surface. Nothing is called.

use std::sync::Arc;

use callgate_contract::{Catalog, ErrorKind, Fault, result};
use serde::Serialize;

use crate::{
    Event, Mount, Record, Run,
    event::GateVerdict,
    fold, gating,
    replay::{Difference, remount},
};

/// A recorded call, judged by another catalog.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rejudged {
    /// The run.
    pub run: Arc<str>,
    /// The position of the event that recorded the verdict or the result.
    pub seq: u64,
    /// The hop.
    pub hop: u32,
    /// The call.
    pub call: Arc<str>,
    /// The tool, as the model named it.
    pub tool: Arc<str>,
    /// What was judged.
    pub what: Judged,
    /// The verdict that was recorded.
    pub was: Standing,
    /// The verdict by the other catalog.
    pub now: Standing,
}

impl Rejudged {
    /// Whether both catalogs say the same in kind.
    pub fn is_same(&self) -> bool {
        self.was.kind() == self.now.kind()
    }

    /// Whether what went through would be refused.
    pub fn is_newly_refused(&self) -> bool {
        self.was.kind().is_none() && self.now.kind().is_some()
    }
}

/// What was judged of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Judged {
    /// Its arguments.
    Arguments,
    /// Its result.
    Result,
}

/// How a call stands with a catalog.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "verdict", rename_all = "camelCase")]
pub enum Standing {
    /// It goes through.
    Passes,
    /// A rule would ask a tool that was not asked then: not known without calling it.
    Unknown,
    /// It does not.
    Refused {
        /// Why.
        fault: Box<Fault>,
    },
}

impl Standing {
    fn kind(&self) -> Option<ErrorKind> {
        match self {
            Self::Refused { fault } => Some(fault.kind),
            Self::Passes | Self::Unknown => None,
        }
    }

    fn of(verdict: &GateVerdict) -> Self {
        match verdict {
            GateVerdict::Refused { fault } => Self::Refused { fault: fault.clone() },
            GateVerdict::Asking { .. } => Self::Unknown,
            GateVerdict::Admitted { .. } | GateVerdict::Answer { .. } => Self::Passes,
        }
    }
}

/// Judges every call and every result of a run by another catalog. `catalogs` gives those that the
/// run went by, as for a replay.
///
/// # Errors
/// A catalog that the run went by is not there.
pub fn rejudge(
    catalogs: impl Fn(&str) -> Option<Arc<Catalog>>,
    records: &[Record],
    other: &Arc<Catalog>,
) -> Result<Vec<Rejudged>, Difference> {
    let mut judged = Vec::new();
    let Some(Record { run: id, event: Event::RunStarted(start), .. }) = records.first() else {
        return Ok(judged);
    };
    let hash = start.catalog.clone().unwrap_or_else(|| Arc::from(""));
    let catalog = catalogs(&hash).ok_or(Difference::Catalog { seq: 0, hash })?;
    let mount = Mount::of_run(start, &catalog);
    let mut run = Run::new(id.clone(), catalog, mount);
    for record in records {
        remount(&mut run, record, &catalogs)?;
        run.seq = record.seq;
        judged.extend(by(&mut run, record, other));
        fold(&mut run, record);
    }
    Ok(judged)
}

fn by(run: &mut Run, record: &Record, other: &Arc<Catalog>) -> Option<Rejudged> {
    let id = match &record.event {
        Event::CallGated(gated) => gated.call.clone(),
        Event::CallFinished(finished) => finished.call.clone(),
        _ => return None,
    };
    let index = run.calls.iter().position(|call| call.id == id)?;
    let tool = run.calls[index].name.clone();
    let (what, was, now) = match &record.event {
        // A rule's question in between: the verdict that counts comes after it.
        Event::CallGated(gated) if matches!(gated.verdict, GateVerdict::Asking { .. }) => {
            return None;
        }
        Event::CallGated(gated) => {
            // Only what was judged by the catalog, not what policy barred beforehand.
            if run.calls[index].barred.is_some() {
                return None;
            }
            let own = std::mem::replace(&mut run.catalog, other.clone());
            let raw = std::mem::replace(&mut run.calls[index].raw, gated.raw.clone());
            let event =
                if gated.edited { gating::gate_edit(run, index) } else { gating::gate(run, index) };
            run.calls[index].raw = raw;
            run.catalog = own;
            let Event::CallGated(again) = event else { return None };
            (Judged::Arguments, Standing::of(&gated.verdict), Standing::of(&again.verdict))
        }
        Event::CallFinished(finished) => {
            let output = finished.output.as_ref()?;
            let of = |catalog: &Catalog| {
                let (tool, _) = catalog.resolve(&tool, run.mode()).ok()?;
                let mode = tool.mode.unwrap_or(run.mode());
                Some(match result::pass(tool, mode, &Ok(output.clone())) {
                    Ok(_) => Standing::Passes,
                    Err(fault) => Standing::Refused { fault },
                })
            };
            // A tool that is gone refuses the call; its result is not judged.
            (Judged::Result, of(&run.catalog)?, of(other)?)
        }
        _ => return None,
    };
    let (seq, hop, run) = (record.seq, run.hop, run.id.clone());
    Some(Rejudged { run, seq, hop, call: id, tool, what, was, now })
}
