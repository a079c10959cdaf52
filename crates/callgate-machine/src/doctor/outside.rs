//! What others did not do: the provider, a tool, a person.

use super::{Chart, Finding, Symptom, short};
use crate::event::{Decision, Event};

pub(super) fn examine(chart: &Chart<'_>, out: &mut Vec<Finding>) {
    for (hop, seq, event) in chart.events() {
        let mut push = |call: Option<&std::sync::Arc<str>>, evidence: String, fix: &str| {
            let case = call.and_then(|id| chart.calls.iter().find(|case| case.gated.call == *id));
            out.push(Finding {
                symptom: Symptom::Outside,
                hop,
                seq,
                call: call.cloned(),
                tool: case.and_then(|case| case.gated.tool.clone()),
                evidence,
                fix: fix.to_owned(),
            });
        };
        match event {
            Event::ModelReplied { error: Some(error), .. } => push(
                None,
                format!("the provider brought no reply: {}", short(&error.message)),
                "Name models that stand in (\"model\": [\"first\", \"second\"]), or ask again later.",
            ),
            Event::CallFinished(finished) => {
                if let Some(failure) = &finished.failure
                    && !failure.retryable
                {
                    let evidence = format!("{}: {}", failure.kind, short(&failure.message));
                    let fix = "Make the call by hand: `callgate tools call` shows what was sent and \
                               what came back.";
                    push(Some(&finished.call), evidence, fix);
                }
            }
            Event::ApprovalDecided { call, decision: Decision::Expired, .. } => push(
                Some(call),
                "nobody decided in time".to_owned(),
                "Lengthen `approvals.timeoutSeconds`, or let policy decide the plain cases with a \
                 conditional tier.",
            ),
            Event::UserAnswered { call, text: None, .. } => push(
                Some(call),
                "nobody answered the model's question in time".to_owned(),
                "Give what it asked for with the goal, or lengthen `approvals.timeoutSeconds`.",
            ),
            Event::CallInDoubt { call, attempt, .. } => push(
                Some(call),
                format!("attempt {attempt} was begun and its outcome was lost"),
                "Let the tool know the idempotency key, and annotate it `idempotent`: then it is \
                 repeated without a question.",
            ),
            _ => {}
        }
    }
}
