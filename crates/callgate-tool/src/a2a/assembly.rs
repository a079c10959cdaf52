//! A task put together from the items of a stream.

use super::wire::{ArtifactUpdate, Content, Message, Part, Reply, Task, Update};

/// What is known of the answer so far.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    task: Option<Task>,
    message: Option<Message>,
}

impl Assembly {
    /// Takes in an item. An update of a task that was never shown makes one.
    pub(super) fn take(&mut self, update: Update) {
        match update {
            Update::Message(message) => self.message = Some(message),
            Update::Task(task) => self.task = Some(task),
            Update::Status(update) => match &mut self.task {
                Some(task) => task.status = update.status,
                None => {
                    self.task = Some(Task {
                        id: update.task,
                        context: update.context,
                        status: update.status,
                        artifacts: Vec::new(),
                        history: Vec::new(),
                        metadata: None,
                    });
                }
            },
            Update::Artifact(update) => {
                if let Some(task) = &mut self.task {
                    add(task, update);
                }
            }
        }
    }

    /// The task's id, once it is known.
    pub(super) fn task_id(&self) -> Option<&str> {
        self.task.as_ref().map(|task| task.id.as_str()).filter(|id| !id.is_empty())
    }

    /// What came of it, if the turn is over.
    pub(super) fn reply(self) -> Option<Reply> {
        if let Some(message) = self.message {
            return Some(Reply::Message(message));
        }
        let ends =
            |task: &Task| task.status.state.is_terminal() || task.status.state.is_interrupted();
        self.task.filter(ends).map(Reply::Task)
    }
}

fn add(task: &mut Task, update: ArtifactUpdate) {
    let known = task.artifacts.iter_mut().find(|known| known.id == update.artifact.id);
    match known {
        Some(known) if update.append => {
            for part in update.artifact.parts {
                extend(&mut known.parts, part);
            }
        }
        Some(known) => *known = update.artifact,
        None => task.artifacts.push(update.artifact),
    }
}

/// Pieces of a text are one text.
fn extend(parts: &mut Vec<Part>, part: Part) {
    match (parts.last_mut().map(|last| &mut last.content), &part.content) {
        (Some(Content::Text(so_far)), Content::Text(more)) => so_far.push_str(more),
        _ => parts.push(part),
    }
}
