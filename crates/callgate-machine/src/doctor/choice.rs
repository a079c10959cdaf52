//! The wrong tool, or none.

use callgate_contract::ErrorKind;

use super::{Chart, Finding, Symptom};
use crate::event::{Event, Why};

pub(super) fn examine(chart: &Chart<'_>, out: &mut Vec<Finding>) {
    for case in &chart.calls {
        let Some(fault) = case.refused().filter(|f| f.kind == ErrorKind::UnknownTool) else {
            continue;
        };
        let near =
            fault.suggestion.as_ref().map_or_else(String::new, |s| format!("; {s:?} was meant"));
        let fix = if fault.suggestion.is_some() {
            "Give the tool a name that says what it does, and describe when to use it; models call \
             what they expect to be there."
        } else {
            "Offer a tool for this, or say in the instructions that there is none."
        };
        let evidence = format!("{:?} was called, which is not on offer{near}", &*case.gated.name);
        out.push(case.finding(Symptom::WrongOrNoTool, evidence, fix));
    }
    for (hop, seq, event) in chart.events() {
        if let Event::ModelRequested { why: Why::CallExpected, .. } = event {
            out.push(Finding {
                symptom: Symptom::WrongOrNoTool,
                hop: hop.saturating_sub(1),
                seq,
                call: None,
                tool: None,
                evidence: "a call was due, and the model answered in words".to_owned(),
                fix: "Use a model that holds `toolChoice`, or say in the instructions which tool \
                      comes first."
                    .to_owned(),
            });
        }
    }
}
