//! Whose a task is: what a run's caller says of it.

use serde_json::Value;

/// Whose a task is, and which conversation's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) owner: String,
    pub(super) context: String,
    pub(super) message: String,
}

impl Origin {
    /// The member of a run's caller.
    const MEMBER: &'static str = "a2a";

    /// Of a run's caller; nothing where the run is no task.
    pub(super) fn of(caller: &Value) -> Option<Self> {
        let member = caller.get(Self::MEMBER)?;
        let text = |name: &str| member.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            owner: text("owner")?,
            context: text("contextId")?,
            message: text("messageId").unwrap_or_default(),
        })
    }

    /// A caller with it.
    pub(super) fn in_caller(&self, caller: &Value) -> Value {
        let mut all = match caller {
            Value::Object(members) => members.clone(),
            _ => serde_json::Map::new(),
        };
        let own = serde_json::json!({
            "owner": self.owner, "contextId": self.context, "messageId": self.message,
        });
        all.insert(Self::MEMBER.to_owned(), own);
        all.into()
    }
}
