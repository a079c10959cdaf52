//! Lists of tasks, page by page.
//!
//! The journal's summaries say whose a run can be and when something happened to it; only the tasks
//! of the page are read whole, unless a state is asked for, which is in the events.

use callgate_engine::{Filter, RunState, RunSummary};
use callgate_tool::a2a::wire::{Kind, ListParams, State, TaskPage, WireError, timestamp};

use super::{A2aServer, ids, service::refused, view::View};
use crate::http::Identity;

impl A2aServer {
    /// A page of the caller's tasks, those that something happened to last first.
    pub(super) async fn list(
        &self,
        identity: &Identity,
        params: &ListParams,
    ) -> Result<TaskPage, WireError> {
        let before = params.token.as_deref().map(place).transpose()?;
        let owner = &*identity.name;
        let begins = match &params.context {
            Some(context) => ids::of_context(owner, context),
            None => ids::of_owner(owner),
        };
        let filter = Filter { text: Some(begins.clone()), ..Filter::default() };
        let mut runs = self.0.host.list(filter).await.map_err(|error| refused(&error))?;
        runs.retain(|run| {
            run.run.starts_with(&*begins)
                && run.parent.is_none()
                && params.status.is_none_or(|status| could_be(run.state, status))
                && params.after.as_deref().is_none_or(|after| *timestamp(run.updated_at) >= *after)
        });
        runs.sort_by(|a, b| (b.updated_at, &b.run).cmp(&(a.updated_at, &a.run)));
        let is_wanted = |view: &View| {
            let origin = view.origin();
            origin.owner == owner
                && params.context.as_ref().is_none_or(|context| origin.context == *context)
                && params.status.is_none_or(|status| view.state() == status)
        };
        let is_next = |run: &RunSummary| {
            before.as_ref().is_none_or(|(at, id)| (run.updated_at, &*run.run) < (*at, id.as_str()))
        };
        let (mut page, mut total, mut has_more) = (Vec::new(), 0, false);
        for run in &runs {
            let is_full = page.len() == params.size;
            // Whether a task has a state is seen in its events only; else they are read for those
            // that are shown.
            if params.status.is_none() && (is_full || !is_next(run)) {
                (total, has_more) = (total + 1, has_more || is_full);
                continue;
            }
            let view = match self.own(identity, &run.run).await {
                Ok(view) => view,
                // Another's id that begins alike, or an agent that is gone.
                Err(error) if error.kind == Kind::TaskNotFound => continue,
                Err(error) => return Err(error),
            };
            if is_wanted(&view) {
                total += 1;
                if is_next(run) && is_full {
                    has_more = true;
                } else if is_next(run) {
                    page.push((run.updated_at, view));
                }
            }
        }
        let next = page.last().filter(|_| has_more);
        let next = next.map_or_else(String::new, |(at, view)| format!("{at}~{}", view.id()));
        let tasks = page.iter().map(|(_, view)| {
            let mut task = view.task();
            task.keep_history(Some(params.history));
            if !params.artifacts {
                task.artifacts.clear();
            }
            task
        });
        Ok(TaskPage { tasks: tasks.collect(), next, size: params.size, total })
    }
}

/// Where a page begins, as a token says it.
fn place(token: &str) -> Result<(u64, String), WireError> {
    let read = token.split_once('~').and_then(|(at, id)| Some((at.parse().ok()?, id.to_owned())));
    read.ok_or_else(|| WireError::new(Kind::InvalidParams, "pageToken is none of this server's"))
}

/// Whether a run of such a state can be a task of such a status: the task's own word decides.
fn could_be(run: RunState, status: State) -> bool {
    match status {
        State::Submitted | State::Working => run == RunState::Running,
        State::InputRequired => !run.is_over(),
        State::AuthRequired | State::Unknown => false,
        State::Completed | State::Failed | State::Canceled | State::Rejected => run.is_over(),
    }
}
