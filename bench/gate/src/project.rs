//! Projections: a tool's definition in a provider's words, for every surface.

use std::{hint::black_box, time::Duration};

use callgate_contract::{
    schema::Schema,
    surface::{Source, Surface, project},
};
use serde_json::{Value, json};

use crate::{Refusal, clock::cost, work::Work};

/// CPU nanoseconds a projection, over all real tools (the made cases where there are none).
pub(crate) fn run(work: &Work, budget: Duration) -> Result<Value, Refusal> {
    let made = work.cases.iter().map(|case| (case.name.as_str(), "", &case.schema));
    let listed =
        work.tools.iter().map(|tool| (tool.name.as_str(), tool.description.as_str(), &tool.schema));
    let chosen: Vec<_> = if work.tools.is_empty() { made.collect() } else { listed.collect() };
    let mut tools = Vec::new();
    for (name, description, schema) in chosen {
        let schema = Schema::compile_as_given(schema.clone())
            .map_err(|faults| format!("the schema of {name}: {faults:?}"))?;
        tools.push((name, description, schema));
    }
    let mut rows = Vec::new();
    for surface in Surface::ALL {
        let cost = cost(budget, || {
            for (name, description, schema) in &tools {
                let source = Source::arguments(name, description, schema);
                drop(black_box(project(black_box(source), surface)));
            }
        });
        rows.push(json!({
            "surface": surface.name(),
            "ns": cost.ns / tools.len() as f64,
            "calls": cost.calls * tools.len() as u64,
        }));
    }
    Ok(json!({"tools": tools.len(), "rows": rows}))
}
