//! Errors, in the form of each binding (1.0, 3.3.2, 5.4, 9.5 and 11.6).

use serde_json::value::RawValue;

use super::json::{Array, Members, Object, Violation};

/// The domain of `google.rpc.ErrorInfo`.
const DOMAIN: &str = "a2a-protocol.org";
const ERROR_INFO: &str = "type.googleapis.com/google.rpc.ErrorInfo";
const BAD_REQUEST: &str = "type.googleapis.com/google.rpc.BadRequest";

/// What kind of error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// There is no such task, or none that this caller may know of.
    TaskNotFound,
    /// The task is over.
    TaskNotCancelable,
    /// No push notifications here.
    PushNotSupported,
    /// Not here, or not in this state.
    UnsupportedOperation,
    /// A media type that nobody takes.
    ContentTypeNotSupported,
    /// An agent's answer breaks the protocol.
    InvalidAgentResponse,
    /// There is no extended card.
    ExtendedCardNotConfigured,
    /// An extension is required, and the client does not have it.
    ExtensionSupportRequired,
    /// A version that is not spoken here.
    VersionNotSupported,
    /// Not JSON.
    Parse,
    /// JSON, but no request.
    InvalidRequest,
    /// No such operation.
    MethodNotFound,
    /// Parameters that do not fit.
    InvalidParams,
    /// A fault of the server's.
    Internal,
}

/// Kind, JSON-RPC code, HTTP status, gRPC status, reason.
const ROWS: [(Kind, i64, u16, &str, &str); 14] = [
    (Kind::TaskNotFound, -32001, 404, "NOT_FOUND", "TASK_NOT_FOUND"),
    (Kind::TaskNotCancelable, -32002, 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE"),
    (Kind::PushNotSupported, -32003, 400, "FAILED_PRECONDITION", "PUSH_NOTIFICATION_NOT_SUPPORTED"),
    (Kind::UnsupportedOperation, -32004, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION"),
    (Kind::ContentTypeNotSupported, -32005, 400, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED"),
    (Kind::InvalidAgentResponse, -32006, 500, "INTERNAL", "INVALID_AGENT_RESPONSE"),
    (
        Kind::ExtendedCardNotConfigured,
        -32007,
        400,
        "FAILED_PRECONDITION",
        "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
    ),
    (
        Kind::ExtensionSupportRequired,
        -32008,
        400,
        "FAILED_PRECONDITION",
        "EXTENSION_SUPPORT_REQUIRED",
    ),
    (Kind::VersionNotSupported, -32009, 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED"),
    (Kind::Parse, -32700, 400, "INVALID_ARGUMENT", "PARSE_ERROR"),
    (Kind::InvalidRequest, -32600, 400, "INVALID_ARGUMENT", "INVALID_REQUEST"),
    (Kind::MethodNotFound, -32601, 404, "NOT_FOUND", "METHOD_NOT_FOUND"),
    (Kind::InvalidParams, -32602, 400, "INVALID_ARGUMENT", "INVALID_PARAMS"),
    (Kind::Internal, -32603, 500, "INTERNAL", "INTERNAL_ERROR"),
];

impl Kind {
    fn row(self) -> &'static (Self, i64, u16, &'static str, &'static str) {
        // Every kind has its row: a test says so.
        ROWS.iter().find(|row| row.0 == self).unwrap_or(&ROWS[13])
    }

    /// The JSON-RPC code.
    pub fn code(self) -> i64 {
        self.row().1
    }

    /// The HTTP status of the HTTP+JSON binding.
    pub fn http_status(self) -> u16 {
        self.row().2
    }

    /// The reason of `google.rpc.ErrorInfo`.
    pub fn reason(self) -> &'static str {
        self.row().4
    }

    /// By the JSON-RPC code.
    pub fn of_code(code: i64) -> Option<Self> {
        ROWS.iter().find(|row| row.1 == code).map(|row| row.0)
    }

    /// By the reason.
    pub fn of_reason(reason: &str) -> Option<Self> {
        ROWS.iter().find(|row| row.4 == reason).map(|row| row.0)
    }
}

/// An error that goes to a client, or came from a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct WireError {
    /// What kind.
    pub kind: Kind,
    /// What happened.
    pub message: String,
    /// Facts about it, such as the task's id.
    pub metadata: Vec<(String, String)>,
    /// What does not fit, with its place.
    pub violations: Vec<Violation>,
}

impl WireError {
    /// An error in words.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), metadata: Vec::new(), violations: Vec::new() }
    }

    /// With a fact.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.metadata.push((name.to_owned(), value.to_owned()));
        self
    }

    /// No such task.
    pub fn no_task(id: &str) -> Self {
        Self::new(Kind::TaskNotFound, "there is no such task").with("taskId", id)
    }

    /// `error` of a JSON-RPC response.
    pub fn json_rpc(&self) -> String {
        Object::new()
            .raw("code", &self.kind.code().to_string())
            .text("message", &self.message)
            .raw("data", &self.details())
            .end()
    }

    /// The body of an HTTP+JSON response: `google.rpc.Status` under `error`.
    pub fn status_body(&self, status: u16) -> String {
        let error = Object::new()
            .raw("code", &status.to_string())
            .text("status", self.kind.row().3)
            .text("message", &self.message)
            .raw("details", &self.details());
        Object::new().raw("error", &error.end()).end()
    }

    fn details(&self) -> String {
        let metadata = self
            .metadata
            .iter()
            .fold(Object::new(), |object, (name, value)| object.text(name, value));
        let info = Object::new()
            .text("@type", ERROR_INFO)
            .text("reason", self.kind.reason())
            .text("domain", DOMAIN)
            .raw("metadata", &metadata.end());
        let details = Array::new().raw(&info.end());
        if self.violations.is_empty() {
            return details.end();
        }
        let each = self.violations.iter().fold(Array::new(), |array, violation| {
            let violation = Object::new()
                .text("field", &violation.field)
                .text("description", &violation.problem);
            array.raw(&violation.end())
        });
        let bad = Object::new().text("@type", BAD_REQUEST).raw("fieldViolations", &each.end());
        details.raw(&bad.end()).end()
    }

    /// Reads `error` of a JSON-RPC response, or of an HTTP+JSON body.
    ///
    /// The reason counts before the code: HTTP codes say little. An error of an unknown kind is
    /// an internal one of the peer's, in its words.
    pub fn read(error: &RawValue) -> Self {
        let unreadable = || Self::new(Kind::Internal, "the agent answered with an error");
        let Ok(error) = Members::read(error, "error") else { return unreadable() };
        let message = error.text("message").ok().flatten();
        let code = error.integer("code").ok().flatten();
        let mut read = Self::new(
            code.and_then(Kind::of_code).unwrap_or(Kind::Internal),
            message.unwrap_or_else(|| format!("the agent answered with the error {code:?}")),
        );
        let details = error.items("data").or_else(|_| error.items("details"));
        let more = error.items("details");
        for detail in details.into_iter().flatten().chain(more.into_iter().flatten()) {
            let Ok(detail) = Members::read(detail, "details") else { continue };
            if let Some(kind) =
                detail.text("reason").ok().flatten().as_deref().and_then(Kind::of_reason)
            {
                read.kind = kind;
            }
            for violation in detail.items("fieldViolations").unwrap_or_default() {
                let Ok(violation) = Members::read(violation, "") else { continue };
                let text = |name| violation.text(name).ok().flatten().unwrap_or_default();
                read.violations.push(Violation::new(text("field"), text("description")));
            }
        }
        read
    }
}

impl From<Violation> for WireError {
    fn from(violation: Violation) -> Self {
        let message = format!("the parameters do not fit: {violation}");
        Self { violations: vec![violation], ..Self::new(Kind::InvalidParams, message) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_row() {
        for row in &ROWS {
            assert_eq!(row.0.row(), row);
            assert_eq!(Kind::of_code(row.1), Some(row.0));
            assert_eq!(Kind::of_reason(row.4), Some(row.0));
        }
    }

    #[test]
    fn forms_of_both_bindings() {
        let error = WireError::no_task("x");
        assert_eq!(
            error.json_rpc(),
            r#"{"code":-32001,"message":"there is no such task","data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org","metadata":{"taskId":"x"}}]}"#
        );
        assert_eq!(
            error.status_body(404),
            r#"{"error":{"code":404,"status":"NOT_FOUND","message":"there is no such task","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org","metadata":{"taskId":"x"}}]}}"#
        );
        let bad = WireError::from(Violation::new("message.parts", "is required"));
        for text in [bad.json_rpc(), bad.status_body(400)] {
            let read: Box<RawValue> = serde_json::from_str(&text).unwrap();
            let members = Members::read(&read, "").unwrap();
            let read = WireError::read(members.get("error").unwrap_or(&read));
            assert_eq!((read.kind, &read.violations), (Kind::InvalidParams, &bad.violations));
        }
    }

    #[test]
    fn odd_errors_are_read() {
        let rows = [
            (r#"{"code":-32001,"message":"gone"}"#, Kind::TaskNotFound, "gone"),
            (r#"{"code":-1,"message":"odd","data":"text"}"#, Kind::Internal, "odd"),
            (r#""text""#, Kind::Internal, "the agent answered with an error"),
            (
                r#"{"code":400,"message":"m","details":[{"reason":"TASK_NOT_CANCELABLE"}]}"#,
                Kind::TaskNotCancelable,
                "m",
            ),
        ];
        for (text, kind, message) in rows {
            let raw: Box<RawValue> = serde_json::from_str(text).unwrap();
            let read = WireError::read(&raw);
            assert_eq!((read.kind, read.message.as_str()), (kind, message), "{text}");
        }
    }
}
