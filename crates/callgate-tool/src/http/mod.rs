//! HTTP requests as tools.
//!
//! ```json
//! { "http": {
//!     "method": "POST",
//!     "url": "${BILLING_URL}/customers/{customer/id}/invoices",
//!     "query": { "status": "{status}", "tag": "{tags}" },
//!     "headers": { "X-Tenant": "${TENANT:-main}" },
//!     "auth": { "bearer": "${BILLING_TOKEN}" },
//!     "body": { "amount": "{amount}", "note": "Ordered by {who}" } } }
//! ```
//!
//! - **Arguments** fill `{name}`, `{a/b}` and `{/json/pointer}`; in a URL they stay in their place
//!   (percent-encoded, see `url.rs` for the table). A query parameter, header, body member or body
//!   item whose argument is absent is left out; in a URL's path it is a failure. `null` counts as
//!   absent outside of bodies.
//! - **Body**: `"arguments"` sends the argument object byte for byte; otherwise JSON in which a
//!   text that is exactly one placeholder becomes the argument's JSON, digits as written.
//!   `Content-Type: application/json` unless the contract says otherwise.
//! - **Other bodies**, in `body`'s stead: `form` (`application/x-www-form-urlencoded`), `multipart`
//!   (`multipart/form-data`) and `raw` (a text or bytes as they are). Fields of the first two are
//!   written like query parameters; a part can be a file, its content a text or Base64.
//! - **Lists and objects** outside of JSON are written in OpenAPI's styles where the contract says
//!   so: `{"value": "{ids}", "style": "form", "explode": false}` in `query`, `form`, `multipart`,
//!   `headers` and `cookies`, and `path` for the URL's placeholders. See `style.rs` for the table.
//! - **Secrets** `${NAME}`, `${NAME:-default}` are looked up when the request is made. The wire
//!   record shows `${NAME}`, and so does every message and body that a server echoes them in.
//! - **Destination**: see [`guard`](crate::guard). The system's proxy settings are not used: a
//!   proxy would connect in our place, to addresses that nobody judged.
//! - **Redirects** (301, 302, 303, 307, 308; RFC 9110 15.4) are followed up to five, each hop
//!   judged. To another origin go no credentials: neither `auth` nor any header with a `${NAME}`
//!   in it, and a body with one is not sent at all. 301 and 302 are followed for GET and HEAD only:
//!   elsewhere clients turn the request into a GET, and its result would pass for that of the call.
//! - **Idempotency-Key** (draft-ietf-httpapi-idempotency-key-header, unquoted as the services that
//!   have it take it) goes with every method but GET and HEAD, the same for every attempt.
//! - **`traceparent`** and `tracestate` (W3C Trace Context) go with a call of a run that is in a trace,
//!   unless the contract sets its own.
//!
//! # What a response becomes
//!
//! | response | becomes |
//! |---|---|
//! | 2xx, empty (204 and others) | the structured value `null` |
//! | 2xx, `application/json`, `*/*+json` | structured, the bytes as they came; not JSON after all: text |
//! | 2xx, no content type | structured if it is JSON, else as below |
//! | 2xx, `image/*` | an image block, Base64 |
//! | 2xx, any other type, UTF-8 without null bytes (or ISO-8859-1 if it says so) | a text block |
//! | 2xx, other bytes, or a content coding nobody asked for | `tool_error`, executed |
//! | more than `maxBytes` (4 MiB) | `tool_error`, executed |
//! | 3xx not followed, 4xx, 5xx | a failure, see [`status`] |
//! | cannot connect | `transport_lost`, not executed, may be repeated |
//! | connection lost after that | `transport_lost`, unknown; may be repeated for GET and HEAD |
//! | timeout, cancellation | unknown once the request was on its way, not executed before |

mod body;
pub(crate) mod client;
mod content;
mod field;
mod fill;
mod multipart;
mod payload;
mod request;
mod response;
mod spec;
pub mod status;
mod style;
mod url;

use std::{
    borrow::Cow,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use callgate_contract::{ErrorKind, Executed, Failure, Output};
use reqwest::Method;

pub use content::Content;
pub use field::Styled;
pub(crate) use spec::KIND;
pub use spec::{Auth, DEFAULT_MAX_BYTES, HttpBackendSpec, HttpSpec};
pub use style::Style;
pub(crate) use url::encode;

use crate::{
    Backend, Env, Invocation, InvokeFuture, Invoked, Reads,
    call::{Call, Interrupted, misconfigured, within},
    guard::{Allowed, Denied, Policy, Resolver},
    http::{
        client::{Client, Stop},
        request::Request,
        spec::Plan,
    },
    secrets::Secrets,
    text,
};

/// A tool that is an HTTP request.
pub(crate) struct Http {
    plan: Plan,
    env: Env,
    client: Client,
}

impl Http {
    pub(crate) fn new(plan: Plan, env: Env, resolver: Arc<dyn Resolver>) -> Self {
        Self { plan, env, client: Client::new(resolver) }
    }

    pub(crate) async fn run(&self, call: Call<'_>) -> Invoked {
        let mut secrets = Secrets::default();
        let request = match Request::fill(&self.plan, call, &self.env, &mut secrets) {
            Ok(request) => request,
            Err(error) => return Invoked::failed(scrubbed(error.failure(), &secrets)),
        };
        let safe = is_safe(&self.plan.method);
        let sent = AtomicBool::new(false);
        let work = self.exchange(&request, call, &secrets, &sent);
        let (result, raw) = within(call.timeout, call.cancel, work).await.unwrap_or_else(|why| {
            let failure = match (why, sent.load(Ordering::Relaxed)) {
                (why, false) => why.failure(Executed::No),
                (why @ Interrupted::Timeout(_), true) => {
                    why.failure(Executed::Unknown).retryable(safe)
                }
                (why @ Interrupted::Cancelled, true) => why.failure(Executed::Unknown),
            };
            (Err(failure), None)
        });
        let result = result.map_err(|failure| scrubbed(failure, &secrets));
        let wire = sent.load(Ordering::Relaxed).then(|| request.wire(&secrets).into());
        Invoked { result, wire, raw: raw.map(Into::into), used: None }
    }

    async fn exchange(
        &self,
        request: &Request,
        call: Call<'_>,
        secrets: &Secrets,
        sent: &AtomicBool,
    ) -> (Result<Output, Failure>, Option<String>) {
        let policy = Policy::public()
            .allow(self.plan.allow.iter().cloned())
            .allow(request.target.named.as_ref().map(Allowed::authority));
        let safe = is_safe(&self.plan.method);
        let stopped = |stop: Stop| (Err(stop_failure(stop, safe, sent)), None);
        let response =
            match self.client.send(request, &policy, self.plan.follow_redirects, sent).await {
                Ok(response) => response,
                Err(stop) => return stopped(stop),
            };
        let head = response::Head::of(&response);
        let body = match response::read(response, self.plan.max_bytes).await {
            Ok(body) => body,
            Err(response::Unread::TooLarge) => {
                return (Err(response::too_large(self.plan.max_bytes, safe)), None);
            }
            Err(response::Unread::Lost(error)) => return stopped(Stop::Lost(error)),
        };
        if head.status.is_success() {
            let output = response::output(&head, &body, secrets);
            let raw = match &output {
                Err(_) => head.text(&body).map(|text| secrets.scrub(&text).into_owned()),
                Ok(_) => None,
            };
            return (output, raw);
        }
        // Masked before it is cut: half a token is still half a token.
        let text = head.text(&body).map(|text| secrets.scrub(&text).into_owned());
        let failure = status::failure(
            &status::Answer {
                status: head.status.as_u16(),
                reason: head.status.canonical_reason().unwrap_or_default(),
                retry_after: head.retry_after.as_deref(),
                location: head.location.as_deref(),
                is_html: head.is_html(),
                body: text.as_deref().unwrap_or_default(),
            },
            safe,
            call.attempt,
        );
        (Err(failure), text)
    }
}

impl Backend for Http {
    fn invoke(&self, invocation: Invocation) -> InvokeFuture<'_> {
        Box::pin(async move { self.run(Call::from(&invocation)).await })
    }

    fn reads(&self) -> Vec<Reads> {
        spec::reads(&self.plan)
    }
}

/// Methods that change nothing (RFC 9110 9.2.1).
fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

fn scrubbed(mut failure: Failure, secrets: &Secrets) -> Failure {
    if let Cow::Owned(clean) = secrets.scrub(&failure.message) {
        failure.message = clean;
    }
    failure
}

fn stop_failure(stop: Stop, safe: bool, sent: &AtomicBool) -> Failure {
    let sent = sent.load(Ordering::Relaxed);
    // After a first hop its server may have acted before it pointed elsewhere.
    let so_far = if sent && !safe { Executed::Unknown } else { Executed::No };
    match stop {
        Stop::Denied(denied @ Denied::Unresolved { .. }) => {
            Failure::new(ErrorKind::TransportLost, denied.to_string())
                .executed(so_far)
                .retryable(so_far == Executed::No)
        }
        Stop::Denied(denied) => {
            let message =
                if sent { format!("the server redirected: {denied}") } else { denied.to_string() };
            Failure::new(ErrorKind::PolicyDenied, message).executed(so_far)
        }
        Stop::Unfollowed { status, to, why } => Failure::new(
            ErrorKind::ToolError,
            format!("the server answered {status} and points to {to}: {why}"),
        )
        .executed(so_far)
        .retryable(false)
        .hint("The tool's URL is out of date; this is not the model's to fix."),
        Stop::NotConnected(error) => Failure::new(
            ErrorKind::TransportLost,
            format!("the tool's server cannot be reached: {}", cause(error)),
        )
        .executed(so_far)
        .retryable(so_far == Executed::No)
        .hint("The service is probably down. Try once more later, or tell the user."),
        Stop::Lost(error) => Failure::new(
            ErrorKind::TransportLost,
            format!("the connection to the tool was lost: {}", cause(error)),
        )
        .retryable(safe),
        Stop::NoClient(error) => {
            misconfigured(format!("no HTTP client can be made: {}", cause(error))).executed(so_far)
        }
    }
}

/// The innermost words of an error, without its URL.
pub(crate) fn cause(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut innermost: &dyn std::error::Error = &error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    text::ends(&text::clean(&innermost.to_string()), 300)
}

#[cfg(test)]
mod tests;
