//! What a request goes through before a handler sees it, and what its answer has in common.
//!
//! In this order: `Host`, `Origin`, preflight, token, rate, body. What fails reaches no handler.
//! The body is read here, whole (`bodies`), so that no handler can forget its limits.

use std::{sync::Arc, time::Instant};

use axum::{
    body::HttpBody as _,
    extract::{MatchedPath, Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use callgate_engine::trace::within;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};

use super::{
    HttpOptions, Identity, Passed, Rate, Refusal, Watch,
    bodies::{self, Bodies},
    guard::Guard,
    origin,
    rate::{ByAddress, ByToken},
    refusal::Form,
    serve::Peer,
    tokens::Tokens,
    trace,
};
use crate::ServeError;

/// Paths that need no token.
const PUBLIC: [&str; 2] = ["/healthz", "/readyz"];

#[derive(Debug)]
pub(super) struct Door {
    guard: Guard,
    tokens: Tokens,
    public_paths: Vec<String>,
    rate: Option<Rate>,
    by_token: ByToken,
    by_address: ByAddress,
    bodies: Bodies,
    watch: Option<Watch>,
}

impl Door {
    /// # Errors
    /// The file of tokens cannot be read.
    pub(super) fn new(options: &HttpOptions) -> Result<Self, ServeError> {
        let tokens = Tokens::new(options.token.as_ref(), options.tokens_file.as_deref())?;
        Ok(Self {
            guard: Guard::of(options),
            tokens,
            public_paths: options.public_paths.clone(),
            rate: options.rate,
            by_token: ByToken::default(),
            by_address: ByAddress::default(),
            bodies: Bodies::of(options),
            watch: options.watch.clone(),
        })
    }

    /// Who it is. `Host` and `Origin` are in order.
    fn admit(&self, request: &Request) -> Result<Identity, Refusal> {
        let headers = request.headers();
        if self.tokens.is_open() {
            return Ok(Identity::local());
        }
        let path = request.uri().path();
        let reads = matches!(*request.method(), Method::GET | Method::HEAD);
        if PUBLIC.contains(&path) || (reads && self.public_paths.iter().any(|own| own == path)) {
            return Ok(Identity::nobody());
        }
        let now = Instant::now();
        let shown = shown(headers, Form::of(path));
        let known = shown.and_then(|shown| self.tokens.find(shown));
        let name = known.as_ref().map(|known| &known.identity.name);
        // Who shows nothing does not guess.
        if let Some(Peer(address)) = request.extensions().get().filter(|_| shown.is_some()) {
            self.by_address.judge(address.ip(), name, now).map_err(|wait| {
                let why =
                    "too many wrong tokens came from this address; wait, then try the right one";
                Refusal::new(StatusCode::TOO_MANY_REQUESTS, "too_many_wrong_tokens", why)
                    .retry_after(wait)
            })?;
        }
        let Some(known) = known else {
            return Err(match shown {
                None => {
                    let why = "this server asks for its token: Authorization: Bearer TOKEN";
                    Refusal::new(StatusCode::UNAUTHORIZED, "token_missing", why).challenge("Bearer")
                }
                Some(_) => {
                    let why = "this is no token of this server, or no longer one";
                    Refusal::new(StatusCode::UNAUTHORIZED, "token_unknown", why)
                        .challenge("Bearer error=\"invalid_token\"")
                }
            });
        };
        if let Some(rate) = known.rate.or(self.rate) {
            self.by_token.take(&known.identity.name, rate, now).map_err(|wait| {
                let why =
                    "this token is used more often than it may be; Retry-After says when to go on";
                Refusal::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", why)
                    .retry_after(wait)
            })?;
        }
        Ok(known.identity)
    }

    /// The answer to a request that was let in.
    async fn answer(
        &self,
        request: Request,
        identity: Identity,
        form: Form,
        next: Next,
    ) -> Response {
        match self.bodies.whole(request).await {
            Err(refusal) => refusal.in_form(form).into_response(),
            Ok(mut request) => {
                request.extensions_mut().insert(form);
                request.extensions_mut().insert(identity);
                let Some(context) = trace::of(request.headers()) else {
                    return next.run(request).await;
                };
                request.extensions_mut().insert(context.clone());
                // A run that begins while it is handled belongs to the trace.
                within(context, next.run(request)).await
            }
        }
    }
}

/// The token that a request shows. Clients of Anthropic's API send theirs as `x-api-key`.
fn shown(headers: &HeaderMap, form: Form) -> Option<&str> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    match (all.next(), all.next()) {
        (Some(value), None) => {
            let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
        }
        (None, _) if form == Form::Provider => headers.get("x-api-key")?.to_str().ok(),
        _ => None,
    }
}

/// The middleware.
pub(super) async fn pass(
    State(door): State<Arc<Door>>,
    mut request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let form = Form::of(request.uri().path());
    let route = request.extensions().get::<MatchedPath>().cloned();
    let method = named(request.method());
    let page = request.headers().get(header::ORIGIN).cloned();
    let entered = door.guard.check(request.uri(), request.headers());
    let is_ours = entered.is_ok();
    // A preflight has no token; what it asks about will have one.
    let preflight =
        is_ours.then(|| origin::preflight(request.method(), request.headers())).flatten();
    let (mut response, by): (Response, Arc<str>) = match preflight {
        Some(preflight) => (preflight, "-".into()),
        None => match entered.and_then(|()| door.admit(&request)) {
            Err(refusal) => {
                if !request.body().is_end_stream() {
                    let headers = request.headers().clone();
                    bodies::linger(&headers, request.body_mut()).await;
                }
                (refusal.in_form(form).into_response(), "-".into())
            }
            Ok(identity) => {
                let by = identity.name.clone();
                (door.answer(request, identity, form, next).await, by)
            }
        },
    };
    dress(response.headers_mut());
    if let Some(page) = page.filter(|_| is_ours) {
        origin::share(page, response.headers_mut());
    }
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    let (status, took) = (response.status().as_u16(), began.elapsed());
    let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    tracing::info!(target: "callgate::http", method, route, status, ms, by = &*by, "answered");
    if let Some(Watch(watch)) = &door.watch {
        watch(&Passed { method, route, status, took, by: &by });
    }
    response
}

/// Methods by name; one that a client made up is none.
fn named(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

/// What every answer says to a browser, unless its handler said it otherwise: take it for what it
/// is, keep no copy, tell nobody, show it in no frame, run nothing.
fn dress(headers: &mut HeaderMap) {
    let rows = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in rows {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}
