//! Problems: what is said instead of an answer (RFC 9457), in one form everywhere.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use callgate_contract::{Fault, Violation};
use callgate_engine::{BookError, EngineError, JournalError, runfile::RunFileError};
use http::{HeaderValue, StatusCode, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::runs::HostError;

/// What went wrong, and what to do. Programs go by `code`, people by `detail` and `hint`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// `urn:callgate:problem:` and the code; `about:blank` for what the door itself refuses.
    pub r#type: Box<str>,
    /// The status in words.
    pub title: Box<str>,
    /// The HTTP status.
    pub status: u16,
    /// What happened, with names and figures.
    pub detail: Box<str>,
    /// Which problem it is. Stable.
    pub code: Box<str>,
    /// What to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<Box<str>>,
    /// What the body or the parameters have that their schema does not admit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<Violation>,
    /// Why the gate refuses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Box<Fault>>,
}

impl Problem {
    /// A problem.
    pub(in crate::runs::api) fn new(
        status: StatusCode,
        code: &str,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            r#type: format!("urn:callgate:problem:{code}").into(),
            title: status.canonical_reason().unwrap_or("Refused").into(),
            status: status.as_u16(),
            detail: detail.into().into(),
            code: code.into(),
            hint: None,
            violations: Vec::new(),
            fault: None,
        }
    }

    pub(in crate::runs::api) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into().into());
        self
    }

    pub(in crate::runs::api) fn not_found(code: &str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, detail)
    }

    pub(in crate::runs::api) fn internal(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail)
            .hint("This is a defect or a damaged journal; the server's log has more.")
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = status;
        let kind = HeaderValue::from_static("application/problem+json");
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, kind);
        if matches!(self.status, 429 | 503) {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

impl From<HostError> for Problem {
    fn from(error: HostError) -> Self {
        let detail = error.to_string();
        let (status, code, hint) = match error {
            HostError::Book(error) => return error.into(),
            HostError::NoAgent { .. } => {
                (StatusCode::NOT_FOUND, "unknown_agent", "GET /api/agents lists them.")
            }
            HostError::Model { .. } => (
                StatusCode::CONFLICT,
                "model_unavailable",
                "Name a provider:model that this server has a key for.",
            ),
            HostError::BadId => (StatusCode::BAD_REQUEST, "bad_id", "Give another id."),
            HostError::OtherRun { .. } => (
                StatusCode::CONFLICT,
                "key_reused",
                "An Idempotency-Key stands for one request; take a new one for another.",
            ),
            HostError::Crowded { .. } => (
                StatusCode::SERVICE_UNAVAILABLE,
                "crowded",
                "Try again after some runs have ended.",
            ),
            HostError::Closing => {
                (StatusCode::SERVICE_UNAVAILABLE, "closing", "Ask the server that takes its place.")
            }
            HostError::Away { .. } => (
                StatusCode::SERVICE_UNAVAILABLE,
                "engine_unreachable",
                "Start it, or mend its address; runs that it keeps go on by themselves.",
            ),
            HostError::NoWorker { .. } => {
                (StatusCode::SERVICE_UNAVAILABLE, "no_worker", "Start one: `callgate worker`.")
            }
            HostError::Engine { .. } => (
                StatusCode::BAD_GATEWAY,
                "engine_error",
                "Its own log has more; GET the run to see how it stands.",
            ),
            HostError::Unsupported { instead, .. } => {
                (StatusCode::NOT_IMPLEMENTED, "engine_unsupported", instead)
            }
            HostError::Refused(_) => {
                (StatusCode::CONFLICT, "refused", "GET the run: it tells how it stands.")
            }
            HostError::GoesOn { .. } => (
                StatusCode::CONFLICT,
                "run_driven",
                "Cancel or pause it first, or wait until it ends.",
            ),
            HostError::TooLong(_) => {
                (StatusCode::PAYLOAD_TOO_LARGE, "too_long", "Say it in fewer words.")
            }
            HostError::NoAgents
            | HostError::TwoAgents(_)
            | HostError::OtherJournal(_)
            | HostError::Broken(_) => {
                return Self::internal(detail);
            }
        };
        Self::new(status, code, detail).hint(hint)
    }
}

impl From<BookError> for Problem {
    fn from(error: BookError) -> Self {
        let detail = error.to_string();
        let conflict =
            |code, hint: &str| Self::new(StatusCode::CONFLICT, code, detail.clone()).hint(hint);
        match error {
            BookError::Journal(error) => of_journal(&error),
            BookError::Engine(EngineError::Over { .. }) | BookError::Over { .. } => {
                conflict("run_over", "Fork it from an earlier hop, or begin another one.")
            }
            BookError::Engine(EngineError::Catalog { .. }) => {
                conflict("contracts_gone", "Import the run with its contracts.")
            }
            BookError::NotWaiting { .. } => {
                conflict("not_waiting", "GET the run: `waits` tells what it waits for.")
            }
            BookError::OtherWord(_) => {
                conflict("other_word", "approve and reject, answer, or doubt: `want` tells which.")
            }
            BookError::OtherBinding { .. } => {
                conflict("other_binding", "GET the run again, and decide about what it asks now.")
            }
            BookError::Decided(_) => conflict("already_decided", "GET the run: it goes on."),
            BookError::EditRefused(fault) => {
                let mut problem = Self::new(StatusCode::CONFLICT, "edit_refused", detail)
                    .hint("The contract judges edits, too: mend what `fault` names.");
                problem.fault = Some(fault);
                problem
            }
            BookError::BadResult(_) => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_result", detail).hint("Give JSON.")
            }
            BookError::Delegated { .. } => conflict("delegated", "Fork the run that delegated it."),
            BookError::NoHop(_) => conflict("no_hop", "`hops` of the run tells how many it has."),
            BookError::RunFile(error) => error.into(),
            _ => Self::internal(detail),
        }
    }
}

impl From<RunFileError> for Problem {
    fn from(error: RunFileError) -> Self {
        let code = match error {
            RunFileError::Newer { .. } => "run_file_newer",
            RunFileError::Damaged | RunFileError::Cut { .. } => "run_file_damaged",
            _ => "bad_run_file",
        };
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, error.to_string())
            .hint("Send a file that `export` gave, whole and unchanged.")
    }
}

fn of_journal(error: &JournalError) -> Problem {
    let detail = error.to_string();
    let (status, code, hint) = match error {
        JournalError::UnknownRun { run } => {
            return Problem::not_found("unknown_run", format!("there is no run {run:?}"))
                .hint("GET /api/runs lists them.");
        }
        JournalError::Over { .. } => {
            (StatusCode::CONFLICT, "run_over", "Fork it from an earlier hop, or begin another one.")
        }
        JournalError::Held { .. } => {
            (StatusCode::CONFLICT, "run_driven", "Cancel or pause it first, or wait until it ends.")
        }
        JournalError::Exists { .. } => {
            (StatusCode::CONFLICT, "run_exists", "Remove the other one first, if that is meant.")
        }
        JournalError::Full { .. } => (
            StatusCode::INSUFFICIENT_STORAGE,
            "journal_full",
            "Make room. Nothing was begun that is not kept; runs go on by themselves.",
        ),
        JournalError::Busy { .. } => {
            (StatusCode::SERVICE_UNAVAILABLE, "journal_busy", "Try again.")
        }
        JournalError::Closed => {
            (StatusCode::SERVICE_UNAVAILABLE, "closing", "Ask the server that takes its place.")
        }
        // A run file's events that are none.
        JournalError::Conflict { .. } | JournalError::Mixed { .. } => {
            (StatusCode::CONFLICT, "conflict", "GET the run again.")
        }
        _ => return Problem::internal(detail),
    };
    Problem::new(status, code, detail).hint(hint)
}
