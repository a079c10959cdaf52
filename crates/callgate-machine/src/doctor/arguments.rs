//! Arguments that are no JSON, miss something, or are outside the contract.

use callgate_contract::{ErrorKind, Fault};

use super::{Chart, Finding, Symptom, short};

pub(super) fn examine(chart: &Chart<'_>, out: &mut Vec<Finding>) {
    for case in &chart.calls {
        let Some(fault) = case.refused() else { continue };
        let Some((symptom, fix)) = of(fault) else { continue };
        let raw = short(&case.gated.raw);
        let evidence = format!("{}: {} (arguments: {raw})", fault.kind, short(&fault.summary()));
        out.push(case.finding(symptom, evidence, fix));
    }
}

fn of(fault: &Fault) -> Option<(Symptom, String)> {
    Some(match fault.kind {
        ErrorKind::JsonSyntax
        | ErrorKind::JsonDuplicateKey
        | ErrorKind::JsonTooDeep
        | ErrorKind::JsonInvalidUnicode
        | ErrorKind::ArgsNotObject => (
            Symptom::MalformedArguments,
            "Let the provider hold the schema while it decodes (\"strict\": true), or make the \
             arguments flatter; a model that writes broken JSON often is too small for the tool."
                .to_owned(),
        ),
        ErrorKind::OutputTruncated => (
            Symptom::MalformedArguments,
            "Raise `maxOutputTokens`, or let the tool take less text a call.".to_owned(),
        ),
        ErrorKind::SchemaMismatch => {
            let missing = fault.violations.iter().find(|v| v.keyword == "required");
            match missing {
                Some(violation) => {
                    let name = violation.property.as_deref().unwrap_or("the property");
                    let fix = format!(
                        "Say in the description of \"{name}\" where its value comes from, give an \
                         example, or make it optional with a default; where only the user knows \
                         it, set \"askUser\": true."
                    );
                    (Symptom::MissingArguments, fix)
                }
                None => {
                    let first = fault.violations.first();
                    let place = first.map_or("", |v| v.path.as_str());
                    let keyword = first.map_or("", |v| v.keyword.as_str());
                    let fix = format!(
                        "Describe at {place:?} what fits ({keyword}), give an example, or let the \
                         provider hold the schema (\"strict\": true)."
                    );
                    (Symptom::RefusedArguments, fix)
                }
            }
        }
        ErrorKind::RuleViolation => (
            Symptom::RefusedArguments,
            "Say the rule in the tool's description: the model is told of it only after it broke \
             it."
            .to_owned(),
        ),
        _ => return None,
    })
}
