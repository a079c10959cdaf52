//! A tool that is not what it was.

use callgate_contract::ErrorKind;

use super::{Chart, Finding, Symptom, short};
use crate::event::Event;

pub(super) fn examine(chart: &Chart<'_>, out: &mut Vec<Finding>) {
    for case in &chart.calls {
        let drifted = case.failed().filter(|f| f.kind == ErrorKind::DefinitionChanged);
        if let Some(failure) = drifted {
            let fix = "See what changed with `callgate lock`, and accept it with `callgate lock \
                       --accept` if it is meant.";
            out.push(case.finding(Symptom::DriftedDefinition, short(&failure.message), fix));
        }
    }
    for (hop, seq, event) in chart.events() {
        if let Event::RunResumed(resumed) = event
            && resumed.catalog.is_some()
        {
            out.push(Finding {
                symptom: Symptom::DriftedDefinition,
                hop,
                seq,
                call: None,
                tool: None,
                evidence: "the run went on with other contracts than it began with".to_owned(),
                fix: "Compare with `callgate runs replay --against`; begin anew where the change \
                      matters."
                    .to_owned(),
            });
        }
    }
}
