//! Ending at an error that could have been mended.

use super::{Chart, Finding, Symptom, short};
use crate::{Event, Status};

pub(super) fn examine(chart: &Chart<'_>, out: &mut Vec<Finding>) {
    let finished = chart.events().filter_map(|(hop, seq, event)| match event {
        Event::RunFinished(finish) if finish.status == Status::Answered => Some((hop, seq)),
        _ => None,
    });
    for (last, end) in finished {
        let Some(hop) = chart.calls.iter().filter(|c| c.seq < end).map(|c| c.hop).max() else {
            continue;
        };
        let cases: Vec<_> = chart.calls.iter().filter(|c| c.hop == hop && c.seq < end).collect();
        if !cases.iter().all(|case| case.is_error()) {
            continue;
        }
        for case in cases {
            let (kind, retryable, message) = match (case.refused(), case.failed()) {
                (Some(fault), _) => (fault.kind, fault.retryable, fault.message.as_str()),
                (None, Some(failure)) => {
                    (failure.kind, failure.retryable, failure.message.as_str())
                }
                (None, None) => continue,
            };
            if !retryable {
                continue;
            }
            let evidence = format!(
                "the last calls failed ({kind}: {}), another try could have helped, and hop {last} \
                 answered without one",
                short(message)
            );
            let fix = "Say in the instructions to mend and repeat a call that is refused or fails \
                       with `retryable`, and to answer only from results.";
            out.push(case.finding(Symptom::GivingUp, evidence, fix));
        }
    }
}
