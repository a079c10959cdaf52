//! What a server sends: a result, or the items of a stream.

use serde_json::value::RawValue;

use super::{
    dialect::Version,
    json::{Members, Object, Violation},
    message::Message,
    task::{Artifact, Status, Task},
};

/// What a message led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// A task.
    Task(Task),
    /// An answer without one.
    Message(Message),
}

/// One item of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Update {
    /// The task as it is.
    Task(Task),
    /// An answer without a task; nothing follows.
    Message(Message),
    /// The task's state has changed.
    Status(StatusUpdate),
    /// The task brought something.
    Artifact(ArtifactUpdate),
}

/// A change of state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusUpdate {
    /// The task.
    pub task: String,
    /// The conversation.
    pub context: String,
    /// The new state.
    pub status: Status,
}

/// Something that a task brought, whole or in pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactUpdate {
    /// The task.
    pub task: String,
    /// The conversation.
    pub context: String,
    /// The artifact, or its next piece.
    pub artifact: Artifact,
    /// Whether its parts follow those that came before.
    pub append: bool,
    /// Whether it is whole now.
    pub last: bool,
}

impl Reply {
    /// Reads the result of a send.
    ///
    /// 1.0 wraps it (`{"task":…}`), 0.3 does not; servers of both have been seen to do the other.
    ///
    /// # Errors
    /// It is neither a task nor a message.
    pub fn read(raw: &RawValue) -> Result<Self, Violation> {
        match Update::read(raw)? {
            Update::Task(task) => Ok(Self::Task(task)),
            Update::Message(message) => Ok(Self::Message(message)),
            _ => Err(Violation::new("result", "must be a task or a message")),
        }
    }

    /// Its text.
    pub fn write(&self, version: Version) -> String {
        match self {
            Self::Task(task) => wrapped("task", task.write(version), version),
            Self::Message(message) => wrapped("message", message.write(version), version),
        }
    }
}

impl Update {
    /// Reads an item of a stream, of either version.
    ///
    /// # Errors
    /// It is none of the four.
    pub fn read(raw: &RawValue) -> Result<Self, Violation> {
        let members = Members::read(raw, "result")?;
        let kind = members.text("kind")?;
        let named = ["task", "message", "statusUpdate", "artifactUpdate"]
            .into_iter()
            .find_map(|name| Some((name, members.get(name)?)))
            .filter(|_| kind.is_none());
        let (name, raw) = match (named, kind.as_deref()) {
            (Some(named), _) => named,
            (None, Some("status-update")) => ("statusUpdate", raw),
            (None, Some("artifact-update")) => ("artifactUpdate", raw),
            (None, Some("message")) => ("message", raw),
            (None, Some("task")) => ("task", raw),
            // A bare one, without the word that says what it is.
            (None, _) if members.get("status").is_some() && members.get("id").is_some() => {
                ("task", raw)
            }
            (None, _) if members.get("parts").is_some() => ("message", raw),
            (None, _) => {
                return Err(Violation::new("result", "is neither a task, a message nor an update"));
            }
        };
        match name {
            "task" => Ok(Self::Task(Task::read(raw, "task")?)),
            "message" => Ok(Self::Message(Message::read_leniently(raw, "message")?)),
            "statusUpdate" => {
                let members = Members::read(raw, name)?;
                let status = members.below("status")?;
                let status = status.ok_or_else(|| Violation::new("status", "is required"))?;
                Ok(Self::Status(StatusUpdate {
                    task: members.text("taskId")?.unwrap_or_default(),
                    context: members.text("contextId")?.unwrap_or_default(),
                    status: Status::read(&status)?,
                }))
            }
            _ => {
                let members = Members::read(raw, name)?;
                let artifact = members.get("artifact");
                let artifact = artifact.ok_or_else(|| Violation::new("artifact", "is required"))?;
                Ok(Self::Artifact(ArtifactUpdate {
                    task: members.text("taskId")?.unwrap_or_default(),
                    context: members.text("contextId")?.unwrap_or_default(),
                    artifact: Artifact::read(artifact, "artifact")?,
                    append: members.flag("append")?.unwrap_or_default(),
                    last: members.flag("lastChunk")?.unwrap_or_default(),
                }))
            }
        }
    }

    /// Its text.
    pub fn write(&self, version: Version) -> String {
        match self {
            Self::Task(task) => wrapped("task", task.write(version), version),
            Self::Message(message) => wrapped("message", message.write(version), version),
            Self::Status(update) => {
                let object = match version {
                    Version::V1 => Object::new(),
                    Version::V03 => Object::new().text("kind", "status-update"),
                };
                let object = object
                    .text("taskId", &update.task)
                    .text("contextId", &update.context)
                    .raw("status", &update.status.write(version));
                let object = match version {
                    Version::V1 => object,
                    // "final: indicates if this is the final event in the stream for this
                    // interaction" (0.3), which an interruption is as well.
                    Version::V03 => object.flag("final", self.ends_the_turn()),
                };
                wrapped("statusUpdate", object.end(), version)
            }
            Self::Artifact(update) => {
                let object = match version {
                    Version::V1 => Object::new(),
                    Version::V03 => Object::new().text("kind", "artifact-update"),
                };
                let object = object
                    .text("taskId", &update.task)
                    .text("contextId", &update.context)
                    .raw("artifact", &update.artifact.write(version))
                    .flag("append", update.append)
                    .flag("lastChunk", update.last);
                wrapped("artifactUpdate", object.end(), version)
            }
        }
    }

    /// Whether the client's turn begins: the task is over or interrupted, or there is none.
    pub fn ends_the_turn(&self) -> bool {
        let ends = |status: &Status| status.state.is_terminal() || status.state.is_interrupted();
        match self {
            Self::Task(task) => ends(&task.status),
            Self::Message(_) => true,
            Self::Status(update) => ends(&update.status),
            Self::Artifact(_) => false,
        }
    }
}

fn wrapped(name: &str, json: String, version: Version) -> String {
    match version {
        Version::V1 => Object::new().raw(name, &json).end(),
        Version::V03 => json,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_and_items_of_either_version_are_told_apart() {
        let rows = [
            (r#"{"task":{"id":"t","status":{"state":"TASK_STATE_WORKING"}}}"#, "task"),
            (r#"{"id":"t","status":{"state":"TASK_STATE_WORKING"}}"#, "task"),
            (r#"{"kind":"task","id":"t","status":{"state":"working"}}"#, "task"),
            (
                r#"{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"x"}]}}"#,
                "message",
            ),
            (
                r#"{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"text","text":"x"}]}"#,
                "message",
            ),
            (
                r#"{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_INPUT_REQUIRED"}}}"#,
                "status",
            ),
            (
                r#"{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"completed"},"final":true}"#,
                "status",
            ),
            (
                r#"{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"text":"x"}]}}}"#,
                "artifact",
            ),
            (r#"{"odd":1}"#, "nothing"),
            ("[]", "nothing"),
        ];
        for (text, what) in rows {
            let read = Update::read(serde_json::from_str(text).unwrap());
            let is = match &read {
                Ok(Update::Task(_)) => "task",
                Ok(Update::Message(_)) => "message",
                Ok(Update::Status(_)) => "status",
                Ok(Update::Artifact(_)) => "artifact",
                Err(_) => "nothing",
            };
            assert_eq!(is, what, "{text}: {read:?}");
            // What was read is written, in both versions, and read again as the same.
            if let Ok(update) = read {
                for version in [Version::V1, Version::V03] {
                    let written = update.write(version);
                    let again = Update::read(serde_json::from_str(&written).unwrap());
                    assert_eq!(again.as_ref(), Ok(&update), "{written}");
                }
            }
        }
    }
}
