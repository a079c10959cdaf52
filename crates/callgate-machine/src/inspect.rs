//! What can be worked out of a run beside its events, for whoever looks at it: what the model read
//! of each call, what it was offered, where its arguments came from, what the doctor finds.

use std::{collections::BTreeMap, sync::Arc};

use callgate_contract::catalog::ToolFile;
use callgate_wire::{Message, Part};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    Record, Run,
    doctor::{self, Finding},
    provenance::{Origin, provenance},
};

/// A run, looked into.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Inspection {
    /// By call: the text that the model read of it.
    pub read: BTreeMap<Arc<str>, String>,
    /// By call: where its argument values came from.
    pub provenance: BTreeMap<Arc<str>, Vec<Origin>>,
    /// By tool: how the model was shown it.
    pub offered: BTreeMap<Arc<str>, Offered>,
    /// What the doctor found.
    pub doctor: Vec<Finding>,
}

/// A tool as the model was shown it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Offered {
    /// Name, description and parameters as the provider's surface has them.
    pub definition: Value,
    /// What of the contract that form does not hold; the gate holds it.
    pub losses: Vec<String>,
    /// The contract.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contract: Option<ToolFile>,
}

/// Looks into a run. `run` is the fold of `records`.
pub fn inspect(records: &[Record], run: &Run) -> Inspection {
    Inspection {
        read: read(run),
        provenance: provenance(run),
        offered: offered(run),
        doctor: doctor::examine(records),
    }
}

fn read(run: &Run) -> BTreeMap<Arc<str>, String> {
    let mut read = BTreeMap::new();
    for message in run.messages() {
        let Message::Tool(result) = &**message else { continue };
        let mut whole = String::new();
        for part in &result.content {
            match part {
                Part::Text { text } => whole.push_str(text),
                Part::Image { media_type, .. } => {
                    whole.push_str("\n[");
                    whole.push_str(media_type);
                    whole.push(']');
                }
            }
        }
        read.insert(result.call_id.clone(), whole);
    }
    read
}

fn offered(run: &Run) -> BTreeMap<Arc<str>, Offered> {
    let losses = run.start().map(|start| &start.shown.losses);
    let definitions = run.shown().tools().iter().map(|tool| {
        let name = &tool.name;
        let definition = json!({
            "name": name,
            "description": tool.description,
            "parameters": tool.parameters,
        });
        let losses = losses.and_then(|losses| losses.get(name)).cloned().unwrap_or_default();
        let contract = run.catalog().get(name).map(|tool| tool.to_file());
        (name.clone(), Offered { definition, losses, contract })
    });
    definitions.collect()
}
