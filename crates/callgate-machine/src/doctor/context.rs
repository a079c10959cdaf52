//! Results that crowd the context.

use callgate_contract::shape::Omission;
use callgate_wire::ProviderErrorKind;

use super::{Chart, Finding, Symptom};
use crate::event::Event;

/// A result of this many bytes is worth a word, where a hop's input grew by it.
const LARGE: usize = 32 * 1024;

pub(super) fn examine(chart: &Chart<'_>, out: &mut Vec<Finding>) {
    for (hop, seq, event) in chart.events() {
        let mut push = |call: Option<&std::sync::Arc<str>>, evidence: String, fix: &str| {
            let case = call.and_then(|id| chart.calls.iter().find(|case| case.gated.call == *id));
            out.push(Finding {
                symptom: Symptom::ContextBlown,
                hop,
                seq,
                call: call.cloned(),
                tool: case.and_then(|case| case.gated.tool.clone()),
                evidence,
                fix: fix.to_owned(),
            });
        };
        match event {
            Event::ResultPassed { call, omissions, .. } => {
                for omission in omissions {
                    let evidence = match omission {
                        Omission::Bytes { kept, total } => {
                            format!("{} of {total} bytes of a result were left out", total - kept)
                        }
                        Omission::Items { path, kept, total } => {
                            format!("{} of {total} items at {path:?} were left out", total - kept)
                        }
                        Omission::Unselected => continue,
                    };
                    let fix = "Let the tool take a limit or a filter, or choose in the contract's \
                               `result` what the model needs (`select`, `maxItems`).";
                    push(Some(call), evidence, fix);
                }
            }
            Event::CallFinished(finished) => {
                let output = finished.output.as_ref();
                let bytes = output.and_then(|o| o.structured.as_ref()).map_or(0, |text| text.len());
                let cut = chart.records.iter().any(|r| {
                    matches!(&r.event, Event::ResultPassed { call, omissions, .. }
                        if *call == finished.call && !omissions.is_empty())
                });
                if bytes > LARGE && !cut {
                    let evidence = format!("a result of {bytes} bytes went into the context whole");
                    let fix = "Choose in the contract's `result` what the model needs: `select`, \
                               `maxItems`, `maxBytes`.";
                    push(Some(&finished.call), evidence, fix);
                }
            }
            Event::ModelReplied { error: Some(error), .. }
                if error.kind == ProviderErrorKind::ContextLength =>
            {
                let evidence = format!("the request did not fit the context: {}", error.message);
                let fix = "Shorten results by the contracts' `result`, bound `maxSteps`, or use a \
                           model with a longer context.";
                push(None, evidence, fix);
            }
            _ => {}
        }
    }
}
