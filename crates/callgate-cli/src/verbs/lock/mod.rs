//! `callgate lock`: what MCP servers and agents elsewhere tell that was not accepted.

mod told;

use std::sync::Arc;

use callgate::{Project, Target, backend::lock::LockReport};
use serde_json::json;

use super::mcp;
use crate::{
    cli::{InDir, Lock, Opened},
    exit::Exit,
    failure::Failure,
    out, project,
    show::paint::Paint,
    signals::Stop,
};

pub(super) fn go(lock: &Lock) -> Result<Exit, Failure> {
    let stop = Arc::new(Stop::default());
    let opened = Opened { project: InDir { dir: lock.project.dir.clone() }, frozen: false };
    // Whoever accepts everything, or only looks, needs nothing pinned before.
    if lock.check || lock.accept.is_some() {
        return project::unpinned(&opened, &stop, async |project| look(project, lock).await);
    }
    project::with(&opened, lock.json, &stop, async |project| look(project, lock).await)
}

async fn look(project: &Project, lock: &Lock) -> Result<Exit, Failure> {
    let Some(named) = &lock.accept else {
        let report = project.drift(&[]).await;
        say(&report, lock.json, false)?;
        return Ok(exit(&report, report.drifted));
    };
    let targets =
        named.iter().map(|text| target(project, text)).collect::<Result<Vec<_>, Failure>>()?;
    let report = project.accept(&targets).await?;
    say(&report, lock.json, true)?;
    Ok(exit(&report, false))
}

/// A server or an agent that could not be asked is no server that is as accepted.
fn exit(report: &LockReport, drifted: bool) -> Exit {
    if drifted {
        Exit::Found
    } else if report.servers.iter().any(|server| server.error.is_some())
        || report.agents.iter().any(|agent| agent.error.is_some())
    {
        Exit::Call
    } else {
        Exit::Done
    }
}

/// `SERVER` or `SERVER/TOOL`, both of which may hold a slash: the longest name of a server wins. Or
/// an agent elsewhere, by its URL or the name of a tool that stands for it.
fn target(project: &Project, text: &str) -> Result<Target, Failure> {
    let agents = project.agents_elsewhere();
    let is_meant =
        |url: &str, tools: &[Arc<str>]| url == text || tools.iter().any(|t| &**t == text);
    if project.server(text).is_none()
        && let Some((url, _)) = agents.into_iter().find(|(url, tools)| is_meant(url, tools))
    {
        return Ok(Target { server: url, tool: None });
    }
    let names = project.servers().iter().map(|server| server.name());
    let fits = |name: &&Arc<str>| {
        text.strip_prefix(&***name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let Some(server) = names.filter(fits).max_by_key(|name| name.len()) else {
        let server = text.split_once('/').map_or(text, |(server, _)| server);
        return Err(match mcp::server(project, server) {
            Err(failure) => failure,
            Ok(_) => {
                Failure::configuration("unknown_server", format!("there is no MCP server {text:?}"))
            }
        });
    };
    let tool = text[server.len()..].strip_prefix('/').filter(|tool| !tool.is_empty());
    Ok(Target { server: server.clone(), tool: tool.map(Into::into) })
}

fn say(report: &LockReport, as_json: bool, accepted: bool) -> Result<(), Failure> {
    if as_json {
        let mut line = json!(report);
        line["accepted"] = json!(accepted);
        return out::line(&line.to_string());
    }
    let text = told::report(report, accepted);
    if !text.is_empty() {
        out::line(text.trim_end())?;
    }
    if report.drifted && !accepted {
        let paint = Paint::stderr();
        eprintln!(
            "{} look at what changed, then `callgate lock --accept` it, or a part of it",
            paint.cyan("hint:")
        );
    }
    Ok(())
}
