//! Several tools tried for the same thing.

use std::collections::HashMap;

use callgate_contract::document::{Document, canonical};

use super::{Case, Chart, Finding, Symptom, short};

pub(super) fn examine(chart: &Chart<'_>, out: &mut Vec<Finding>) {
    let mut by_arguments: HashMap<String, &Case<'_>> = HashMap::new();
    for case in &chart.calls {
        let Some(tool) = &case.gated.tool else { continue };
        let Ok(doc) = Document::parse(&case.gated.raw) else { continue };
        let key = canonical(doc.root());
        // Nothing to go by.
        if key.len() < 8 {
            continue;
        }
        match by_arguments.get(&key) {
            Some(first) if first.gated.tool.as_ref() != Some(tool) && first.is_error() => {
                let before = first.gated.tool.as_deref().unwrap_or_default();
                let evidence = format!(
                    "{before:?} (hop {}) and then {tool:?} were called with the same arguments: {}",
                    first.hop,
                    short(&case.gated.raw)
                );
                let fix = "Say in each description when not to use it and which tool to use \
                           instead, or make one tool of them.";
                out.push(case.finding(Symptom::SeveralToolsForOneTask, evidence, fix));
            }
            Some(_) => {}
            None => {
                by_arguments.insert(key, case);
            }
        }
    }
}
