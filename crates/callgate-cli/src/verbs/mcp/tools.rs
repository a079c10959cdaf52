//! `callgate mcp tools SERVER`: a server's tools, and which of them are accepted.

use std::sync::Arc;

use callgate::{
    Project, Target,
    backend::lock::{McpSpec, ServerReport},
    contract::{Tool, schema::Schema},
};
use serde_json::{Value, json};

use super::{server, unreachable};
use crate::{cli::Opened, exit::Exit, failure::Failure, out, project, show::words, signals::Stop};

pub(super) fn go(name: &str, opened: &Opened, as_json: bool) -> Result<Exit, Failure> {
    let stop = Arc::new(Stop::default());
    project::with(opened, as_json, &stop, async |project| {
        let server = server(project, name)?;
        // Once more for its own error, with everything that is known of it.
        if let Err(error) = server.client().list().await {
            return Err(unreachable(server, &error));
        }
        let report = project.drift(&[Target { server: server.name().clone(), tool: None }]).await;
        let Some(report) = report.servers.first() else { return Ok(Exit::Done) };
        let rows = rows(project, report);
        if as_json {
            let rows: Vec<Value> = rows.iter().map(Row::to_json).collect();
            out::line(&Value::from(rows).to_string())?;
            return Ok(Exit::Done);
        }
        let width = |of: fn(&Row<'_>) -> usize| rows.iter().map(of).max().unwrap_or(0);
        let (name, called) = (width(|r| r.name.chars().count()), width(|r| r.called().len()));
        for row in &rows {
            let told = words::short(&words::shown(row.told), 72);
            let shown = words::shown(row.name);
            out::line(&format!(
                "{shown:name$}  {:8}  {:called$}  {told}",
                row.status,
                row.called()
            ))?;
        }
        Ok(Exit::Done)
    })
}

struct Row<'p> {
    name: &'p str,
    status: &'static str,
    /// The contract that stands for it, where one is in use.
    tool: Option<&'p Tool>,
    told: &'p str,
}

impl Row<'_> {
    fn called(&self) -> &str {
        self.tool.map_or("-", |tool| &*tool.name)
    }

    fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "status": self.status,
            "tool": self.tool.map(|tool| &*tool.name),
            "description": self.told,
            "inputSchema": self.tool.map(|tool| tool.input.value()),
            "outputSchema": self.tool.and_then(|tool| tool.output.as_ref()).map(Schema::value),
            "annotations": self.tool.map(|tool| tool.annotations),
        })
    }
}

/// Pinned tools and those that are not, by name.
fn rows<'p>(project: &'p Project, report: &'p ServerReport) -> Vec<Row<'p>> {
    let contract = |name: &str| {
        project.catalog().tools().map(|tool| &**tool).find(|tool| {
            McpSpec::of(&tool.backend)
                .is_some_and(|spec| spec.server == *report.server && spec.tool == name)
        })
    };
    let pins = project.lock().server(&report.server).into_iter().flat_map(|pins| pins.iter());
    let pinned = pins.map(|(name, pin)| {
        let is_broken = report.unusable.iter().any(|u| u.tool.as_ref() == Some(name));
        let status = match () {
            () if report.changed.iter().any(|changed| changed.tool == *name) => "changed",
            () if report.removed.contains(name) => "gone",
            () if is_broken => "unusable",
            () => "accepted",
        };
        Row { name, status, tool: contract(name), told: pin.definition().description() }
    });
    let added = report.added.iter().map(|added| Row {
        name: &added.tool,
        status: "new",
        tool: None,
        told: &added.description,
    });
    let unusable = report.unusable.iter().filter(|unusable| !unusable.pinned).map(|unusable| Row {
        name: unusable.tool.as_deref().unwrap_or("(no name)"),
        status: "unusable",
        tool: None,
        told: &unusable.reason,
    });
    let mut rows: Vec<Row<'_>> = pinned.chain(added).chain(unusable).collect();
    rows.sort_by_key(|row| row.name);
    rows
}
