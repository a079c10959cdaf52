//! The same call, failing the same way.

use std::collections::HashMap;

use callgate_contract::document::{Document, canonical};

use super::{Chart, Finding, Symptom, short};

pub(super) fn examine(chart: &Chart<'_>, out: &mut Vec<Finding>) {
    let mut seen: HashMap<String, (u32, u32)> = HashMap::new();
    for case in &chart.calls {
        let kind = match (case.refused(), case.failed()) {
            (Some(fault), _) => fault.kind,
            (None, Some(failure)) => failure.kind,
            (None, None) => continue,
        };
        let raw = &case.gated.raw;
        let arguments =
            Document::parse(raw).map_or_else(|_| raw.to_string(), |doc| canonical(doc.root()));
        let key = format!("{} {kind} {arguments}", case.gated.name);
        let (times, first) = seen.entry(key).or_insert((0, case.hop));
        *times += 1;
        if *times == 2 {
            let evidence = format!(
                "made in hop {first} and again with the same arguments; both failed with {kind}: {}",
                short(raw)
            );
            let fix = "Look at what the model was told of the first failure: if it does not say \
                       what to change, mend the rule's message, the schema's description or the \
                       tool's own error text.";
            out.push(case.finding(Symptom::RepeatingAFailure, evidence, fix));
        }
    }
}
