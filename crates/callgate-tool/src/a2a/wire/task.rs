//! Tasks, their states, and what they bring.

use std::time::{Duration, UNIX_EPOCH};

use serde_json::value::RawValue;

use super::{
    dialect::Version,
    json::{Array, Json, Members, Object, Violation},
    message::Message,
    part::Part,
};

/// What a task is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Taken.
    Submitted,
    /// Under way.
    Working,
    /// Done.
    Completed,
    /// Not done.
    Failed,
    /// Ended by somebody.
    Canceled,
    /// Waits for the client's next message.
    InputRequired,
    /// The agent will not do it.
    Rejected,
    /// Waits for credentials.
    AuthRequired,
    /// What a newer version has and this one does not.
    Unknown,
}

/// State, name in 1.0, name in 0.3.
const STATES: [(State, &str, &str); 9] = [
    (State::Submitted, "TASK_STATE_SUBMITTED", "submitted"),
    (State::Working, "TASK_STATE_WORKING", "working"),
    (State::Completed, "TASK_STATE_COMPLETED", "completed"),
    (State::Failed, "TASK_STATE_FAILED", "failed"),
    (State::Canceled, "TASK_STATE_CANCELED", "canceled"),
    (State::InputRequired, "TASK_STATE_INPUT_REQUIRED", "input-required"),
    (State::Rejected, "TASK_STATE_REJECTED", "rejected"),
    (State::AuthRequired, "TASK_STATE_AUTH_REQUIRED", "auth-required"),
    (State::Unknown, "TASK_STATE_UNSPECIFIED", "unknown"),
];

impl State {
    /// By its name in either version.
    pub fn named(name: &str) -> Option<Self> {
        STATES.iter().find(|(_, new, old)| name == *new || name == *old).map(|row| row.0)
    }

    /// Its name.
    pub fn name(self, version: Version) -> &'static str {
        let row = STATES.iter().find(|row| row.0 == self).unwrap_or(&STATES[8]);
        match version {
            Version::V1 => row.1,
            Version::V03 => row.2,
        }
    }

    /// Whether nothing follows.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Canceled | Self::Rejected)
    }

    /// Whether it is the client's turn.
    pub fn is_interrupted(self) -> bool {
        matches!(self, Self::InputRequired | Self::AuthRequired)
    }
}

/// A state, since when, and what the agent says to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The state.
    pub state: State,
    /// What the agent says.
    pub message: Option<Message>,
    /// RFC 3339, UTC.
    pub timestamp: Option<String>,
}

/// What a task brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// Its id within the task.
    pub id: String,
    /// Its name.
    pub name: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// Its pieces; one at least.
    pub parts: Vec<Part>,
    /// Anything.
    pub metadata: Option<Json>,
    /// URIs of the extensions that shaped it.
    pub extensions: Vec<String>,
}

/// A task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Made by the server.
    pub id: String,
    /// The conversation.
    pub context: String,
    /// What it is doing.
    pub status: Status,
    /// What it brought.
    pub artifacts: Vec<Artifact>,
    /// What was said so far, oldest first.
    pub history: Vec<Message>,
    /// Anything.
    pub metadata: Option<Json>,
}

/// A page of tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskPage {
    /// The tasks, newest first.
    pub tasks: Vec<Task>,
    /// Where the next page begins; empty at the end.
    pub next: String,
    /// How many a page holds.
    pub size: usize,
    /// How many there are in all.
    pub total: usize,
}

impl Status {
    /// Reads a status; the message that comes with it leniently.
    ///
    /// # Errors
    /// There is no state in it.
    pub fn read(members: &Members<'_>) -> Result<Self, Violation> {
        let state = members.required("state")?;
        let message =
            members.get("message").map(|raw| Message::read_leniently(raw, &members.at("message")));
        Ok(Self {
            state: State::named(&state).unwrap_or(State::Unknown),
            // A message without parts says nothing.
            message: message.and_then(Result::ok),
            timestamp: members.text("timestamp").unwrap_or_default(),
        })
    }

    /// Its text.
    pub fn write(&self, version: Version) -> String {
        let object = Object::new().text("state", self.state.name(version));
        let object = match &self.message {
            Some(message) => object.raw("message", &message.write(version)),
            None => object,
        };
        object.maybe("timestamp", self.timestamp.as_deref()).end()
    }
}

impl Artifact {
    /// Reads an artifact.
    ///
    /// # Errors
    /// It has no parts, or they cannot be read.
    pub fn read(raw: &RawValue, path: &str) -> Result<Self, Violation> {
        let members = Members::read(raw, path)?;
        Ok(Self {
            id: members.text("artifactId")?.unwrap_or_default(),
            name: members.text("name")?,
            description: members.text("description")?,
            parts: Part::read_all(&members)?,
            metadata: members.object("metadata")?,
            extensions: members.texts("extensions")?,
        })
    }

    /// Its text.
    pub fn write(&self, version: Version) -> String {
        Object::new()
            .text("artifactId", &self.id)
            .maybe("name", self.name.as_deref())
            .maybe("description", self.description.as_deref())
            .raw("parts", &Part::write_all(&self.parts, version))
            .maybe_raw("metadata", self.metadata.as_ref())
            .texts("extensions", &self.extensions)
            .end()
    }
}

impl Task {
    /// Reads a task of a server.
    ///
    /// # Errors
    /// It has no id or no status.
    pub fn read(raw: &RawValue, path: &str) -> Result<Self, Violation> {
        let members = Members::read(raw, path)?;
        let id = members.required("id")?;
        let status = members
            .below("status")?
            .ok_or_else(|| Violation::new(members.at("status"), "is required"))?;
        let artifacts = members.items("artifacts")?.into_iter();
        let artifacts = artifacts
            .enumerate()
            .map(|(i, raw)| Artifact::read(raw, &format!("{}[{i}]", members.at("artifacts"))));
        let history = members.items("history")?.into_iter();
        let history =
            history.filter_map(|raw| Message::read_leniently(raw, &members.at("history")).ok());
        Ok(Self {
            id,
            context: members.text("contextId")?.unwrap_or_default(),
            status: Status::read(&status)?,
            artifacts: artifacts.collect::<Result<_, _>>()?,
            history: history.collect(),
            metadata: members.object("metadata").unwrap_or_default(),
        })
    }

    /// Its text.
    pub fn write(&self, version: Version) -> String {
        let object = match version {
            Version::V1 => Object::new(),
            Version::V03 => Object::new().text("kind", "task"),
        };
        let object = object
            .text("id", &self.id)
            .text("contextId", &self.context)
            .raw("status", &self.status.write(version));
        let object = if self.artifacts.is_empty() {
            object
        } else {
            let all = self.artifacts.iter();
            let all = all.fold(Array::new(), |array, one| array.raw(&one.write(version)));
            object.raw("artifacts", &all.end())
        };
        let object = if self.history.is_empty() {
            object
        } else {
            let all = self.history.iter();
            let all = all.fold(Array::new(), |array, one| array.raw(&one.write(version)));
            object.raw("history", &all.end())
        };
        object.maybe_raw("metadata", self.metadata.as_ref()).end()
    }

    /// The last `length` messages of its history; all where nothing is said (1.0, 3.2.4).
    pub fn keep_history(&mut self, length: Option<usize>) {
        if let Some(length) = length {
            let over = self.history.len().saturating_sub(length);
            self.history.drain(..over);
        }
    }
}

impl TaskPage {
    /// Its text; all four members are required (1.0, 3.1.4).
    pub fn write(&self, version: Version) -> String {
        let tasks = self.tasks.iter();
        let tasks = tasks.fold(Array::new(), |array, task| array.raw(&task.write(version)));
        Object::new()
            .raw("tasks", &tasks.end())
            .text("nextPageToken", &self.next)
            .raw("pageSize", &self.size.to_string())
            .raw("totalSize", &self.total.to_string())
            .end()
    }
}

/// Milliseconds since 1970 as RFC 3339 in UTC, as ProtoJSON writes a timestamp.
pub fn timestamp(ms: u64) -> String {
    // Beyond what has a date, the last one that has.
    const LAST: u64 = 253_402_300_799_999;
    let at = UNIX_EPOCH + Duration::from_millis(ms.min(LAST));
    let date = httpdate::fmt_http_date(at);
    // Sun, 06 Nov 1994 08:49:37 GMT
    let month = match date.get(8..11) {
        Some("Jan") => 1,
        Some("Feb") => 2,
        Some("Mar") => 3,
        Some("Apr") => 4,
        Some("May") => 5,
        Some("Jun") => 6,
        Some("Jul") => 7,
        Some("Aug") => 8,
        Some("Sep") => 9,
        Some("Oct") => 10,
        Some("Nov") => 11,
        _ => 12,
    };
    let part = |range: std::ops::Range<usize>| date.get(range).unwrap_or_default();
    let (year, day, time) = (part(12..16), part(5..7), part(17..25));
    format!("{year}-{month:02}-{day}T{time}.{:03}Z", ms % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps() {
        let rows = [
            (0, "1970-01-01T00:00:00.000Z"),
            (784_111_777_007, "1994-11-06T08:49:37.007Z"),
            (1_795_998_081_114, "2026-11-30T00:21:21.114Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        ];
        for (ms, text) in rows {
            assert_eq!(timestamp(ms), text);
        }
        assert!(timestamp(u64::MAX).starts_with("9999-12-31T"));
    }

    #[test]
    fn a_task_of_a_careless_server() {
        let text = r#"{"kind":"task","id":"t","status":{"state":"completed","message":{"parts":[{"kind":"text","text":"done"}]}},
            "artifacts":[{"artifactId":"a","parts":[{"kind":"data","data":{"sum":3}}]}],"history":[{"role":"user"}],"metadata":{}}"#;
        let task = Task::read(serde_json::from_str(text).unwrap(), "task").unwrap();
        assert_eq!(task.status.state, State::Completed);
        assert_eq!(task.status.message.as_ref().unwrap().words(), "done");
        assert_eq!(task.artifacts[0].parts[0].as_data().unwrap().text(), r#"{"sum":3}"#);
        assert!(task.history.is_empty());
        assert!(Task::read(serde_json::from_str("{}").unwrap(), "task").is_err());
    }

    #[test]
    fn states_have_both_names() {
        for (state, new, old) in STATES {
            assert_eq!(State::named(new), Some(state));
            assert_eq!(State::named(old), Some(state));
            assert_eq!((state.name(Version::V1), state.name(Version::V03)), (new, old));
        }
        assert_eq!(State::named("TASK_STATE_DREAMING"), None);
    }

    #[test]
    fn the_last_of_the_history() {
        let message = |id: &str| Message::new(id, super::super::Role::User, vec![Part::text("x")]);
        let task = Task {
            id: "t".into(),
            context: "c".into(),
            status: Status { state: State::Working, message: None, timestamp: None },
            artifacts: Vec::new(),
            history: vec![message("1"), message("2"), message("3")],
            metadata: None,
        };
        for (length, left) in [(None, 3), (Some(0), 0), (Some(2), 2), (Some(9), 3)] {
            let mut task = task.clone();
            task.keep_history(length);
            assert_eq!(task.history.len(), left, "{length:?}");
            assert!(task.history.last().is_none_or(|last| last.id == "3"));
        }
    }
}
