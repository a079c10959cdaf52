//! Versions and the names of operations in them.

/// A version of the protocol, as it is negotiated: `Major.Minor`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// 0.3.
    V03,
    /// 1.0.
    V1,
}

impl Version {
    /// The header in which a request names it (1.0, 14.2.1).
    pub const HEADER: &'static str = "a2a-version";

    /// By its name; an empty one stands for 0.3 (1.0, 3.6.1). A patch number is tolerated.
    pub fn named(text: &str) -> Option<Self> {
        let text = text.trim();
        let mut numbers = text.split('.');
        match (numbers.next(), numbers.next()) {
            (Some("1"), Some("0")) => Some(Self::V1),
            (Some("0"), Some("3")) => Some(Self::V03),
            _ if text.is_empty() => Some(Self::V03),
            _ => None,
        }
    }

    /// As it stands in headers and cards.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V03 => "0.3",
            Self::V1 => "1.0",
        }
    }
}

/// An operation (1.0, 5.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Sends a message and waits.
    Send,
    /// Sends a message and listens.
    Stream,
    /// One task.
    Get,
    /// All tasks; 1.0 only.
    List,
    /// Ends a task.
    Cancel,
    /// Listens to a task.
    Subscribe,
    /// The four about push notifications.
    Push,
    /// The card for those who are known.
    ExtendedCard,
}

/// Operation, name in 1.0, name in 0.3.
const NAMES: [(Method, &str, &str); 11] = [
    (Method::Send, "SendMessage", "message/send"),
    (Method::Stream, "SendStreamingMessage", "message/stream"),
    (Method::Get, "GetTask", "tasks/get"),
    (Method::List, "ListTasks", ""),
    (Method::Cancel, "CancelTask", "tasks/cancel"),
    (Method::Subscribe, "SubscribeToTask", "tasks/resubscribe"),
    (Method::Push, "CreateTaskPushNotificationConfig", "tasks/pushNotificationConfig/set"),
    (Method::Push, "GetTaskPushNotificationConfig", "tasks/pushNotificationConfig/get"),
    (Method::Push, "ListTaskPushNotificationConfigs", "tasks/pushNotificationConfig/list"),
    (Method::Push, "DeleteTaskPushNotificationConfig", "tasks/pushNotificationConfig/delete"),
    (Method::ExtendedCard, "GetExtendedAgentCard", "agent/getAuthenticatedExtendedCard"),
];

impl Method {
    /// By its JSON-RPC name, in either version: the names tell which one was meant.
    pub fn named(name: &str) -> Option<(Self, Version)> {
        NAMES.iter().find_map(|(method, new, old)| match name {
            "" => None,
            name if name == *new => Some((*method, Version::V1)),
            name if name == *old => Some((*method, Version::V03)),
            _ => None,
        })
    }

    /// Its JSON-RPC name; empty where the version has none.
    pub fn name(self, version: Version) -> &'static str {
        let row = NAMES.iter().find(|(method, ..)| *method == self);
        row.map_or("", |(_, new, old)| match version {
            Version::V1 => new,
            Version::V03 => old,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        let rows = [
            ("1.0", Some(Version::V1)),
            ("1.0.1", Some(Version::V1)),
            ("0.3", Some(Version::V03)),
            ("0.3.0", Some(Version::V03)),
            ("", Some(Version::V03)),
            (" 1.0 ", Some(Version::V1)),
            ("99.0", None),
            ("1.1", None),
            ("1", None),
            ("one", None),
        ];
        for (text, version) in rows {
            assert_eq!(Version::named(text), version, "{text}");
        }
    }

    #[test]
    fn names_of_both_versions() {
        assert_eq!(Method::named("SendMessage"), Some((Method::Send, Version::V1)));
        assert_eq!(Method::named("message/send"), Some((Method::Send, Version::V03)));
        assert_eq!(Method::named("ListTasks"), Some((Method::List, Version::V1)));
        assert_eq!(Method::named(""), None);
        assert_eq!(Method::named("tasks/list"), None);
        assert_eq!(Method::Cancel.name(Version::V03), "tasks/cancel");
    }
}
