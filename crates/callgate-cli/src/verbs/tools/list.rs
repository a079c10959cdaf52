//! `callgate tools list`.

use std::sync::Arc;

use callgate::{
    Project,
    contract::{Tool, schema::Schema},
};
use serde_json::{Value, json};

use super::{backend, tier};
use crate::{cli::Opened, exit::Exit, failure::Failure, out, project, show::words, signals::Stop};

pub(super) fn go(opened: &Opened, as_json: bool) -> Result<Exit, Failure> {
    let stop = Arc::new(Stop::default());
    project::with(opened, as_json, &stop, async |project| listed(project, as_json))
}

fn listed(project: &Project, as_json: bool) -> Result<Exit, Failure> {
    let tools: Vec<&Tool> = project.catalog().tools().map(|tool| &**tool).collect();
    if as_json {
        let tools: Vec<Value> = tools.into_iter().map(to_json).collect();
        out::line(&Value::from(tools).to_string())?;
        return Ok(Exit::Done);
    }
    let width = tools.iter().map(|tool| tool.name.len()).max().unwrap_or_default();
    for tool in tools {
        let description = words::short(&tool.description, 72);
        let (tier, backend) = (tier(tool), backend(tool));
        out::line(&format!("{:width$}  {tier:7}  {backend:7}  {description}", tool.name))?;
    }
    Ok(Exit::Done)
}

/// What MCP calls a tool, and what Callgate adds to it.
fn to_json(tool: &Tool) -> Value {
    json!({
        "name": &*tool.name,
        "version": &*tool.version,
        "description": &*tool.description,
        "inputSchema": tool.input.value(),
        "outputSchema": tool.output.as_ref().map(Schema::value),
        "annotations": tool.annotations,
        "tier": tier(tool),
        "backend": backend(tool),
        "file": &*tool.source,
    })
}
