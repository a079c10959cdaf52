//! The wrong tool, or none.

use callgate_contract::ErrorKind;

use super::{Chart, Finding, Symptom, short};
use crate::{
    builtin::{self, Builtin},
    event::{Event, Why},
};

pub(super) fn examine(chart: &Chart<'_>, out: &mut Vec<Finding>) {
    for case in &chart.calls {
        let Some(fault) = case.refused().filter(|f| f.kind == ErrorKind::UnknownTool) else {
            continue;
        };
        if fault.is_deferred() {
            let evidence =
                format!("{:?} was called before a search had found it", &*case.gated.name);
            let fix = "It costs a hop. Where the tool is needed often, name it in `toolSearch.always` \
                       of the agent; else say in the instructions to search first.";
            out.push(case.finding(Symptom::WrongOrNoTool, evidence, fix));
            continue;
        }
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
    for case in &chart.calls {
        let output = case.finished.and_then(|(_, finished)| finished.output.as_ref());
        let is_search = case.gated.tool.as_deref() == Some(Builtin::SearchTools.name());
        if is_search && output.is_some_and(|output| builtin::found(output).is_empty()) {
            let evidence = format!("a search found no tool: {}", short(&case.gated.raw));
            let fix = "Describe the tool in the words that people use for what it does: its name, \
                       its description, its parameters and the `request` of its examples are \
                       searched. Where there is none for this, say so in the instructions.";
            out.push(case.finding(Symptom::WrongOrNoTool, evidence, fix));
        }
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
