//! Parameters of operations.

use serde_json::value::RawValue;

use super::{
    dialect::Version,
    json::{Json, Members, Object, Violation},
    message::Message,
    task::State,
};

/// As many tasks as a page has where nothing is said, and as it may have (1.0, 3.1.4).
const USUAL_PAGE: usize = 50;
const LARGEST_PAGE: i64 = 100;

/// What a client sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendParams {
    /// The message.
    pub message: Message,
    /// Media types that it takes; any where none is named.
    pub accepted: Vec<String>,
    /// How much of the history is wanted.
    pub history: Option<usize>,
    /// Whether it does not want to wait.
    pub immediately: bool,
    /// Whether it wants to be told by a web hook.
    pub push: bool,
    /// Anything.
    pub metadata: Option<Json>,
    /// The tenant, which is echoed from a card.
    pub tenant: Option<String>,
}

impl SendParams {
    /// A message, waited for.
    pub fn new(message: Message) -> Self {
        Self {
            message,
            accepted: Vec::new(),
            history: None,
            immediately: false,
            push: false,
            metadata: None,
            tenant: None,
        }
    }

    /// Reads the parameters of a send.
    ///
    /// # Errors
    /// There is no message, or something has another type.
    pub fn read(params: &RawValue, version: Version) -> Result<Self, Violation> {
        let members = Members::read(params, "")?;
        let message = members.get("message");
        let message = message.ok_or_else(|| Violation::new("message", "is required"))?;
        let message = Message::read(message, "message")?;
        let mut read = Self { metadata: members.object("metadata")?, ..Self::new(message) };
        read.tenant = members.text("tenant")?;
        let Some(configuration) = members.below("configuration")? else { return Ok(read) };
        read.accepted = configuration.texts("acceptedOutputModes")?;
        read.history = history(&configuration)?;
        let push = match version {
            Version::V1 => "taskPushNotificationConfig",
            Version::V03 => "pushNotificationConfig",
        };
        read.push = configuration.get(push).is_some();
        read.immediately = match version {
            Version::V1 => configuration.flag("returnImmediately")?.unwrap_or(false),
            Version::V03 => configuration.flag("blocking")? == Some(false),
        };
        Ok(read)
    }

    /// Its text.
    pub fn write(&self, version: Version) -> String {
        let configuration = Object::new().texts("acceptedOutputModes", &self.accepted);
        let configuration = match self.history {
            Some(length) => configuration.raw("historyLength", &length.to_string()),
            None => configuration,
        };
        let configuration = match version {
            Version::V1 => configuration.flag("returnImmediately", self.immediately),
            Version::V03 => configuration.flag("blocking", !self.immediately),
        };
        Object::new()
            .maybe("tenant", self.tenant.as_deref())
            .raw("message", &self.message.write(version))
            .raw("configuration", &configuration.end())
            .maybe_raw("metadata", self.metadata.as_ref())
            .end()
    }
}

/// Which task, and how much of its history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GetParams {
    /// The task.
    pub id: String,
    /// How much of the history is wanted.
    pub history: Option<usize>,
}

impl GetParams {
    /// Reads them.
    ///
    /// # Errors
    /// There is no id.
    pub fn read(params: &RawValue) -> Result<Self, Violation> {
        let members = Members::read(params, "")?;
        Ok(Self { id: members.required("id")?, history: history(&members)? })
    }
}

/// Which task to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CancelParams {
    /// The task.
    pub id: String,
}

impl CancelParams {
    /// Reads them.
    ///
    /// # Errors
    /// There is no id.
    pub fn read(params: &RawValue) -> Result<Self, Violation> {
        Ok(Self { id: Members::read(params, "")?.required("id")? })
    }
}

/// Which task to listen to.
pub type SubscribeParams = CancelParams;

/// Which tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListParams {
    /// Of this conversation only.
    pub context: Option<String>,
    /// In this state only.
    pub status: Option<State>,
    /// How many a page holds.
    pub size: usize,
    /// Where the page begins.
    pub token: Option<String>,
    /// How much of the history is wanted. Default: nothing.
    pub history: usize,
    /// Only those whose state changed at that time or later, as RFC 3339.
    pub after: Option<String>,
    /// Whether artifacts are wanted. Default: no.
    pub artifacts: bool,
}

impl ListParams {
    /// Reads them.
    ///
    /// # Errors
    /// Something has another type, or is out of its bounds.
    pub fn read(params: &RawValue) -> Result<Self, Violation> {
        let members = Members::read(params, "")?;
        let status =
            match members.text("status")?.as_deref() {
                None | Some("TASK_STATE_UNSPECIFIED") => None,
                Some(name) => Some(State::named(name).ok_or_else(|| {
                    Violation::new("status", format!("there is no state {name:?}"))
                })?),
            };
        let size = match members.integer("pageSize")? {
            None => USUAL_PAGE,
            Some(size @ 1..=LARGEST_PAGE) => usize::try_from(size).unwrap_or(USUAL_PAGE),
            Some(_) => return Err(Violation::new("pageSize", "must be from 1 to 100")),
        };
        let after = members.text("statusTimestampAfter")?;
        if after.as_deref().is_some_and(|text| !is_timestamp(text)) {
            return Err(Violation::new("statusTimestampAfter", "must be a time in RFC 3339, UTC"));
        }
        Ok(Self {
            context: members.text("contextId")?,
            status,
            size,
            token: members.text("pageToken")?,
            history: history(&members)?.unwrap_or(0),
            after,
            artifacts: members.flag("includeArtifacts")?.unwrap_or(false),
        })
    }
}

/// Roughly: enough to compare it with ours as text.
fn is_timestamp(text: &str) -> bool {
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    let head = shape.get(..19) == Some("0000-00-00T00:00:00");
    let tail = shape.get(19..).unwrap_or_default();
    let fraction = tail.strip_suffix('Z').map(|fraction| {
        fraction.is_empty()
            || fraction
                .strip_prefix('.')
                .is_some_and(|f| !f.is_empty() && f.chars().all(|c| c == '0'))
    });
    head && fraction == Some(true)
}

fn history(members: &Members<'_>) -> Result<Option<usize>, Violation> {
    match members.integer("historyLength")? {
        None => Ok(None),
        Some(length) => usize::try_from(length)
            .map(Some)
            .map_err(|_| Violation::new(members.at("historyLength"), "must not be negative")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> &RawValue {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn sends() {
        let new = r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]},"configuration":{"historyLength":2,"returnImmediately":true,"taskPushNotificationConfig":{"url":"https://h"}},"odd":1}"#;
        let read = SendParams::read(raw(new), Version::V1).unwrap();
        assert_eq!((read.history, read.immediately, read.push), (Some(2), true, true));
        let old = r#"{"message":{"messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}]},"configuration":{"blocking":false}}"#;
        let read = SendParams::read(raw(old), Version::V03).unwrap();
        assert_eq!((read.history, read.immediately, read.push), (None, true, false));
        for version in [Version::V1, Version::V03] {
            assert_eq!(SendParams::read(raw(&read.write(version)), version), Ok(read.clone()));
        }
        let rows = [
            ("{}", "message: is required"),
            ("[]", ": must be an object"),
            (r#"{"message":{}}"#, "message.parts: must hold one part at least"),
            (
                r#"{"message":{"parts":[{"text":"x"}],"role":"ROLE_USER"}}"#,
                "message.messageId: is required",
            ),
            (
                r#"{"message":{"parts":[{"text":"x"}],"messageId":"m"}}"#,
                "message.role: is required",
            ),
            (
                r#"{"message":{"parts":[{}],"messageId":"m"}}"#,
                "message.parts[0]: must have exactly one of text, raw, url and data",
            ),
        ];
        for (text, words) in rows {
            let violation = SendParams::read(raw(text), Version::V1).unwrap_err();
            assert_eq!(violation.to_string(), words, "{text}");
        }
    }

    #[test]
    fn lists() {
        let usual = ListParams::read(raw("{}")).unwrap();
        assert_eq!((usual.size, usual.history, usual.artifacts), (50, 0, false));
        for text in [
            r#"{"pageSize":0}"#,
            r#"{"pageSize":101}"#,
            r#"{"historyLength":-1}"#,
            r#"{"status":"TASK_STATE_DREAMING"}"#,
            r#"{"statusTimestampAfter":"yesterday"}"#,
            r#"{"statusTimestampAfter":"2026-11-30T01:40:41+02:00"}"#,
        ] {
            assert!(ListParams::read(raw(text)).is_err(), "{text}");
        }
        let all = r#"{"contextId":"c","status":"TASK_STATE_WORKING","pageSize":1,"pageToken":"t","historyLength":3,"statusTimestampAfter":"2026-11-30T01:40:41.114Z","includeArtifacts":true}"#;
        let read = ListParams::read(raw(all)).unwrap();
        assert_eq!((read.size, read.status, read.artifacts), (1, Some(State::Working), true));
    }
}
