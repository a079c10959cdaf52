//! The gates from outside: what they take, what they mend, what they say.
#![allow(clippy::unwrap_used)]

mod arbitrary;
mod catalog;
mod documented;
mod edits;
mod law_1;
mod law_7;
mod messages;
mod repairs;
mod verdicts;

use std::collections::BTreeMap;

use callgate_contract::{Catalog, Mode, Tool, Verdict, gate, schema::Schema};
use serde_json::{Value, json};

/// A tool with this input schema.
pub(crate) fn tool(input: &Value) -> std::sync::Arc<Tool> {
    contract(&json!({ "name": "tool", "input": input }))
}

pub(crate) fn contract(contract: &Value) -> std::sync::Arc<Tool> {
    let text = contract.to_string();
    let catalog = Catalog::load([("tool.json", text.as_str())]).unwrap_or_else(|mistakes| {
        panic!("{}", mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    });
    catalog.tools().next().unwrap().clone()
}

pub(crate) fn judge(schema: &Schema, mode: Mode, raw: &str) -> Verdict {
    gate::judge(schema, &BTreeMap::new(), mode, raw)
}

/// The admitted text and the names of what was mended.
pub(crate) fn admitted(verdict: Verdict) -> Result<(String, Vec<String>), String> {
    match verdict {
        Verdict::Admitted { arguments, adjustments } => {
            Ok((arguments.text().to_owned(), adjustments.iter().map(ToString::to_string).collect()))
        }
        Verdict::Refused(fault) => Err(fault.message),
    }
}
