//! `callgate mcp list`: every server, asked.

use std::sync::Arc;

use callgate::{
    ProjectServer,
    backend::{lock::ServerReport, mcp::Transport},
};
use serde_json::{Value, json};

use super::state;
use crate::{cli::Opened, exit::Exit, failure::Failure, out, project, show::words, signals::Stop};

pub(super) fn go(opened: &Opened, as_json: bool) -> Result<Exit, Failure> {
    let stop = Arc::new(Stop::default());
    project::with(opened, as_json, &stop, async |project| {
        let report = project.drift(&[]).await;
        let rows: Vec<Row<'_>> = project
            .servers()
            .iter()
            .map(|server| Row {
                server,
                report: report.servers.iter().find(|report| report.server == *server.name()),
            })
            .collect();
        if as_json {
            let rows: Vec<Value> = rows.iter().map(Row::to_json).collect();
            out::line(&Value::from(rows).to_string())?;
            return Ok(Exit::Done);
        }
        let width = rows.iter().map(|row| row.server.name().chars().count()).max().unwrap_or(0);
        for row in &rows {
            out::line(&row.told(width))?;
        }
        Ok(Exit::Done)
    })
}

struct Row<'p> {
    server: &'p ProjectServer,
    /// Of an enabled server.
    report: Option<&'p ServerReport>,
}

impl Row<'_> {
    fn told(&self, width: usize) -> String {
        let name = words::clean(self.server.name());
        let transport = transport(self.server);
        // What the listing came to says more than where the connection stands just now.
        let state = match self.report.and_then(|report| report.error.as_ref()) {
            Some(error) => format!("failed: {}", words::short(error, 200)),
            None => state(self.server, &self.server.client().health()),
        };
        let mut text = format!("{name:width$}  {transport:5}  {state}");
        if let Some(report) = self.report.filter(|report| report.error.is_none()) {
            text.push_str(&format!(
                "  {}, {}",
                words::count(tools(report), "tool"),
                if report.drifted { drift(report) } else { "as accepted".to_owned() }
            ));
        }
        text
    }

    fn to_json(&self) -> Value {
        let mut row = json!({
            "name": &**self.server.name(),
            "transport": transport(self.server),
            "disabled": self.server.is_disabled(),
            "health": self.server.client().health(),
        });
        if let Some(report) = self.report {
            row["tools"] = json!(tools(report));
            row["lock"] = json!(report);
        }
        row
    }
}

fn transport(server: &ProjectServer) -> &'static str {
    match server.config().transport {
        Transport::Stdio { .. } => "stdio",
        Transport::Http { .. } => "http",
    }
}

/// How many the server offers that can be used at all.
fn tools(report: &ServerReport) -> usize {
    report.unchanged + report.added.len() + report.changed.len()
}

/// `drifted: 1 changed, 2 new, 1 gone`
fn drift(report: &ServerReport) -> String {
    if !report.pinned {
        return "not pinned".to_owned();
    }
    let broken = report.unusable.iter().filter(|unusable| unusable.pinned).count();
    let counts = [
        (report.changed.len(), "changed"),
        (report.added.len(), "new"),
        (report.removed.len(), "gone"),
        (broken, "unusable"),
    ];
    let told: Vec<String> =
        counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    format!("drifted: {}", told.join(", "))
}
