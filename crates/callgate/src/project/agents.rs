//! Delegates: agents in folders of their own, and agents elsewhere, offered as tools.

use std::{path::Path, sync::Arc};

use callgate_contract::{Catalog, Mistake, Tool};
use callgate_engine::DELEGATE;
use callgate_machine::{Agent as Spec, agent, event::AnswerSchema};
use callgate_tool::{Backend, lock::Lock};
use serde_json::{Value, json};

use super::{Opening, Project};
use crate::Error;

/// How long a delegate may take where nothing is said.
const DEFAULT_SECONDS: u64 = 600;

/// Another agent, and the contract under which it is offered.
#[derive(Clone)]
pub(crate) struct Delegate {
    pub(crate) tool: Tool,
    pub(crate) project: Project,
}

/// What a specification's delegates come to.
#[derive(Default)]
pub(super) struct Delegates {
    /// In folders.
    pub(super) local: Vec<Delegate>,
    /// Elsewhere.
    pub(super) remote: Vec<(Tool, Arc<dyn Backend>)>,
}

/// Opens the agents that a specification names. `above` are the folders being opened: an agent
/// cannot hand tasks to itself, or nothing would end.
pub(super) fn read(
    dir: &Path,
    spec: &Spec,
    opening: &Arc<Opening>,
    above: &[std::path::PathBuf],
    lock: &Lock,
    at: &dyn Fn(&str, String, Option<String>) -> Mistake,
) -> Result<(Delegates, Vec<Mistake>), Error> {
    let (mut all, mut mistakes) = (Delegates::default(), Vec::new());
    for (name, delegate) in &spec.agents {
        let mut pointer = "/agents".to_owned();
        callgate_contract::document::push_token(&mut pointer, name);
        let delegate = match delegate {
            agent::Delegate::Remote(remote) => {
                match elsewhere(name, remote, dir, opening, lock) {
                    Ok(made) => all.remote.push(made),
                    Err(why) => mistakes.push(at(&pointer, why, None)),
                }
                continue;
            }
            local => match local.local() {
                Some(spec) => spec,
                None => continue,
            },
        };
        let folder = dir.join(&delegate.path);
        let Ok(known) = folder.canonicalize() else {
            let message = format!("there is no folder {}", folder.display());
            let hint = "The path is relative to agent.json.".to_owned();
            mistakes.push(at(&pointer, message, Some(hint)));
            continue;
        };
        if above.contains(&known) {
            let message = format!("{} hands tasks to itself", folder.display());
            mistakes.push(at(&pointer, message, None));
            continue;
        }
        let mut path = above.to_vec();
        path.push(known);
        match Project::read_below(folder, opening.clone(), &[], &path) {
            Err(Error::Contracts(found)) => mistakes.extend(found),
            Err(other) => mistakes.push(at(&pointer, other.to_string(), None)),
            Ok(project) if !project.unpinned().is_empty() => {
                let message =
                    format!("MCP servers of {} were never pinned", folder_shown(&project));
                let hint = format!("Run `callgate lock -C {}`.", folder_shown(&project));
                mistakes.push(at(&pointer, message, Some(hint)));
            }
            Ok(project) if !project.unpinned_agents().is_empty() => {
                let folder = folder_shown(&project);
                let message = format!("agents elsewhere that {folder} names were never pinned");
                let hint = format!("Run `callgate lock -C {folder}`.");
                mistakes.push(at(&pointer, message, Some(hint)));
            }
            Ok(project) => {
                let seconds = delegate.timeout_seconds.unwrap_or(DEFAULT_SECONDS);
                let told = delegate.description.as_deref();
                let file = contract(name, &delegate.path, told, seconds, &project).to_string();
                match Catalog::load([(name.as_str(), file.as_str())]) {
                    Ok(catalog) => all.local.extend(catalog.tools().map(|tool| Delegate {
                        tool: Tool::clone(tool),
                        project: project.clone(),
                    })),
                    Err(found) => {
                        let told = found.into_iter().map(|m| m.message).collect::<Vec<_>>();
                        mistakes.push(at(&pointer, told.join("; "), None));
                    }
                }
            }
        }
    }
    Ok((all, mistakes))
}

/// The contract of a delegate: a task in, its answer out.
fn contract(name: &str, path: &str, told: Option<&str>, seconds: u64, project: &Project) -> Value {
    let description = told.map_or_else(
        || {
            format!(
                "Hands a task to the agent {:?} and waits for its answer. It knows nothing of this \
                 conversation: say in the task everything that it needs.",
                project.spec().name
            )
        },
        str::to_owned,
    );
    let mut file = json!({
        "name": name,
        "description": description,
        "input": {
            "type": "object",
            "properties": {
                "task": { "type": "string", "minLength": 1, "description": "What is to be done, with everything that must be known for it." }
            },
            "required": ["task"],
            "additionalProperties": false
        },
        // A call begun again goes on with the run that it began.
        "annotations": { "idempotent": true },
        "timeoutMs": seconds.saturating_mul(1000),
        "backend": { DELEGATE: { "path": path } }
    });
    if let Some(AnswerSchema { schema, .. }) = project.answer() {
        file["output"] = schema.clone();
    }
    file
}

/// An agent elsewhere as a tool: a task in, whatever it answers out.
fn elsewhere(
    name: &str,
    remote: &agent::RemoteDelegate,
    dir: &Path,
    opening: &Opening,
    lock: &Lock,
) -> Result<(Tool, Arc<dyn Backend>), String> {
    let seconds = remote.timeout_seconds.unwrap_or(DEFAULT_SECONDS);
    let description = remote.description.clone().unwrap_or_else(|| {
        format!(
            "Hands a task to the agent {name:?}, which is elsewhere, and waits for its answer. It \
             knows nothing of this conversation: say in the task everything that it needs."
        )
    });
    let description = format!(
        "{description}\n\nAn answer with \"status\": \"input_required\" is a question of the agent's: call \
         again with its taskId, and the answer as task or data."
    );
    let mut backend = serde_json::to_value(remote).map_err(|error| error.to_string())?;
    if let Value::Object(members) = &mut backend {
        members.retain(|member, _| !matches!(member.as_str(), "description" | "timeoutSeconds"));
    }
    let file = json!({
        "name": name,
        "description": description,
        "input": {
            "type": "object",
            "properties": {
                "task": { "type": "string", "minLength": 1, "description": "What is to be done, with everything that must be known for it; or the answer to the agent's question." },
                "data": { "type": "object", "description": "What the agent is to have as data, where it asks for some." },
                "taskId": { "type": "string", "minLength": 1, "description": "The task that asked, to go on with it." }
            },
            "required": ["task"],
            "additionalProperties": false
        },
        "annotations": { "openWorld": true },
        "timeoutMs": seconds.saturating_mul(1000),
        "backend": { "a2a": backend }
    })
    .to_string();
    let catalog = Catalog::load([(name, file.as_str())]).map_err(|found| {
        found.into_iter().map(|mistake| mistake.message).collect::<Vec<_>>().join("; ")
    })?;
    let tool = catalog.tools().next().ok_or("there is no contract")?;
    let backend = opening
        .backends
        .clone()
        .cards(lock.cards())
        .build_for(tool, dir, opening.env.clone())
        .map_err(|error| error.to_string())?;
    Ok((Tool::clone(tool), backend))
}

fn folder_shown(project: &Project) -> String {
    project.dir().display().to_string()
}
