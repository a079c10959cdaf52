//! What the door says instead of an answer, in the words of whoever was asked.
//!
//! `/mcp` hears a JSON-RPC error, `/v1` one that the clients of OpenAI and of Anthropic both read,
//! everything else a problem (RFC 9457). The text says which check it was and what to do; it never
//! repeats what was presented.

use std::{borrow::Cow, time::Duration};

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{Extensions, HeaderValue, StatusCode, header};
use serde_json::{Value, json};

/// A request that is not let through.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The status.
    pub status: StatusCode,
    /// Which check, in one word.
    pub code: &'static str,
    /// What is wrong, and what to do.
    pub detail: Cow<'static, str>,
    /// When it may be tried again.
    pub retry_after: Option<Duration>,
    /// What `WWW-Authenticate` says (RFC 6750).
    challenge: Option<String>,
    form: Form,
}

/// How errors look under a path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Form {
    #[default]
    Problem,
    JsonRpc,
    Provider,
}

impl Form {
    pub(super) fn of(path: &str) -> Self {
        let under = |root: &str| {
            path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if under("/mcp") {
            Self::JsonRpc
        } else if under("/v1") {
            Self::Provider
        } else {
            Self::Problem
        }
    }
}

impl Refusal {
    /// A refusal as a problem; see [`under`](Self::under).
    pub fn new(
        status: StatusCode,
        code: &'static str,
        detail: impl Into<Cow<'static, str>>,
    ) -> Self {
        let (challenge, form) = (None, Form::default());
        Self { status, code, detail: detail.into(), retry_after: None, challenge, form }
    }

    /// To be tried again after a while, told in whole seconds, at least one.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    pub(super) fn challenge(mut self, challenge: impl Into<String>) -> Self {
        self.challenge = Some(challenge.into());
        self
    }

    pub(super) fn in_form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// In the form of the path that a request came under: the door left it in its extensions.
    #[must_use]
    pub fn under(self, request: &Extensions) -> Self {
        let form = request.get::<Form>().copied().unwrap_or_default();
        self.in_form(form)
    }

    fn body(&self) -> Value {
        let (status, detail) = (self.status.as_u16(), self.detail.as_ref());
        match self.form {
            Form::Problem => json!({
                "type": "about:blank",
                "title": self.status.canonical_reason().unwrap_or("Refused"),
                "status": status,
                "detail": detail,
                "code": self.code,
            }),
            Form::JsonRpc => {
                // -32000: the server's own; else the request is at fault.
                let code = if matches!(status, 429 | 500..) { -32000 } else { -32600 };
                let error = json!({ "code": code, "message": detail });
                json!({ "jsonrpc": "2.0", "id": null, "error": error })
            }
            Form::Provider => {
                let kind = match status {
                    401 => "authentication_error",
                    403 => "permission_error",
                    404 => "not_found_error",
                    413 => "request_too_large",
                    429 => "rate_limit_error",
                    503 => "overloaded_error",
                    500.. => "api_error",
                    _ => "invalid_request_error",
                };
                let error =
                    json!({ "type": kind, "message": detail, "code": self.code, "param": null });
                json!({ "type": "error", "error": error })
            }
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.body().to_string()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        let kind = match self.form {
            Form::Problem => "application/problem+json",
            Form::JsonRpc | Form::Provider => "application/json",
        };
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        if let Some(wait) = self.retry_after {
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            headers.insert(header::RETRY_AFTER, seconds.max(1).into());
        }
        if let Some(challenge) = self.challenge.and_then(|text| HeaderValue::try_from(text).ok()) {
            headers.insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        let rows = [
            ("/mcp", Form::JsonRpc),
            ("/mcpx", Form::Problem),
            ("/v1/messages", Form::Provider),
            ("/v10", Form::Problem),
            ("/api/runs", Form::Problem),
            ("/", Form::Problem),
        ];
        for (path, expected) in rows {
            assert_eq!(Form::of(path), expected, "{path}");
        }
        let refusal = Refusal::new(StatusCode::TOO_MANY_REQUESTS, "too_many", "slowly")
            .retry_after(Duration::from_millis(1200));
        let body = refusal.clone().in_form(Form::Provider).body();
        assert_eq!(body["error"]["type"], "rate_limit_error");
        assert_eq!(body["type"], "error");
        assert_eq!(refusal.body()["status"], 429);
        assert_eq!(refusal.clone().in_form(Form::JsonRpc).body()["error"]["code"], -32000);
        assert_eq!(refusal.into_response().headers()["retry-after"], "2");
    }
}
