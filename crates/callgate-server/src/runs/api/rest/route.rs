//! Routes, and the router of them.

use std::{collections::BTreeMap, future::Future, pin::Pin, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{RawPathParams, Request, rejection::RawPathParamsRejection},
    response::{IntoResponse as _, Response},
    routing::{MethodFilter, MethodRouter},
};
use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use super::{
    Input, Output, Problem,
    document::Operation,
    input::{Asked, Checks},
};
use crate::{
    http::{Identity, Scope},
    runs::api::Api,
};

/// What people are told of a route.
#[derive(Debug, Clone, Copy)]
pub(in crate::runs::api) struct Info {
    /// Its name for programs that are generated.
    pub(in crate::runs::api) id: &'static str,
    pub(in crate::runs::api) tag: &'static str,
    /// In a line.
    pub(in crate::runs::api) summary: &'static str,
    /// In more.
    pub(in crate::runs::api) about: &'static str,
    /// The problems that it may have beside those of every route.
    pub(in crate::runs::api) problems: &'static [u16],
}

type Answering = Pin<Box<dyn Future<Output = Response> + Send>>;

/// A route.
pub(in crate::runs::api) struct Route {
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) scope: Scope,
    pub(super) info: Info,
    pub(super) describe: fn(&mut Operation<'_>),
    serve: Arc<dyn Fn(Arc<Api>, Params, Request) -> Answering + Send + Sync>,
}

type Params = Vec<(String, String)>;

/// A route whose handler's types are its description.
pub(in crate::runs::api) fn route<I, O, F, A>(
    method: Method,
    path: &'static str,
    scope: Scope,
    info: Info,
    handler: F,
) -> Route
where
    I: Input + 'static,
    O: Output + 'static,
    F: Fn(Arc<Api>, I) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = Result<O, Problem>> + Send + 'static,
{
    let mut checks = Checks::default();
    I::check(&mut checks);
    let checks = Arc::new(checks);
    let serve = move |api: Arc<Api>, params: Params, request: Request| -> Answering {
        let (handler, checks) = (handler.clone(), checks.clone());
        Box::pin(async move {
            let answered = async {
                let mut asked = asked::<I>(&api, params, request, scope, checks).await?;
                let input = I::take(&mut asked)?;
                handler(api, input).await
            };
            match answered.await {
                Ok(output) => output.respond(),
                Err(problem) => problem.into_response(),
            }
        })
    };
    let describe = |operation: &mut Operation<'_>| {
        I::describe(operation);
        O::describe(operation);
    };
    Route { method, path, scope, info, describe, serve: Arc::new(serve) }
}

/// What was asked, with its body where the route takes one.
async fn asked<I: Input>(
    api: &Api,
    params: Params,
    request: Request,
    scope: Scope,
    checks: Arc<Checks>,
) -> Result<Asked, Problem> {
    let (parts, body) = request.into_parts();
    // Without a door nobody has an identity, and may do nothing.
    let identity = parts.extensions.get::<Identity>().filter(|identity| identity.may(scope));
    let Some(identity) = identity.cloned() else {
        let why = format!("this token lacks the scope \"{scope}\"");
        return Err(Problem::new(StatusCode::FORBIDDEN, "scope_missing", why)
            .hint("Take a token that has it."));
    };
    let most = api.max_body.max(I::ROOM);
    let body = if I::HAS_BODY { whole(body, most, api.body_timeout).await? } else { Bytes::new() };
    let query = parts.uri.query().unwrap_or_default().to_owned();
    Ok(Asked { identity, params, query, headers: parts.headers, body, checks })
}

async fn whole(body: axum::body::Body, most: usize, patience: Duration) -> Result<Bytes, Problem> {
    match tokio::time::timeout(patience, Limited::new(body, most).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let detail = format!("a body may have {most} bytes, and this one has more");
            Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_long", detail)
                .hint("Send less."))
        }
        Ok(Err(error)) => {
            let detail = format!("the body could not be read: {error}");
            Err(Problem::new(StatusCode::BAD_REQUEST, "bad_body", detail).hint("Send it again."))
        }
        Err(_) => {
            let detail = "the body took too long to come";
            Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "body_timeout", detail)
                .hint("Send it at once."))
        }
    }
}

/// The router of routes, under `/api`: every answer of it that is none is a problem.
pub(in crate::runs::api) fn router(api: &Arc<Api>, routes: Vec<Route>) -> Router {
    let mut paths: BTreeMap<&'static str, Vec<Route>> = BTreeMap::new();
    for route in routes {
        paths.entry(route.path).or_default().push(route);
    }
    let mut router = Router::new();
    for (path, routes) in paths {
        let mut allowed: Vec<&str> = routes.iter().map(|route| route.method.as_str()).collect();
        if allowed.contains(&"GET") {
            allowed.push("HEAD");
        }
        allowed.sort_unstable();
        let allowed = allowed.join(", ");
        let mut methods: MethodRouter = MethodRouter::new();
        for route in routes {
            let Ok(filter) = MethodFilter::try_from(route.method) else { continue };
            let (api, serve) = (api.clone(), route.serve);
            let handler = move |params: Result<RawPathParams, RawPathParamsRejection>,
                                request: Request| {
                let (api, serve) = (api.clone(), serve.clone());
                async move {
                    match params {
                        Ok(params) => {
                            let params = params
                                .iter()
                                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                                .collect();
                            serve(api, params, request).await
                        }
                        Err(_) => nothing_here(request.uri().path()),
                    }
                }
            };
            methods = methods.on(filter, handler);
        }
        let refuse = move |request: Request| {
            let allowed = allowed.clone();
            async move { not_allowed(request.method(), &allowed) }
        };
        router = router.route(path, methods.fallback(refuse));
    }
    let nothing = async |request: Request| nothing_here(request.uri().path());
    for path in ["/api", "/api/", "/api/{*rest}"] {
        router = router.route(path, axum::routing::any(nothing));
    }
    router
}

fn nothing_here(path: &str) -> Response {
    Problem::not_found("no_route", format!("there is nothing at {path:?}"))
        .hint("GET /api/openapi.json tells what there is.")
        .into_response()
}

fn not_allowed(method: &Method, allowed: &str) -> Response {
    let detail = format!("{method} means nothing here; {allowed} does");
    let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail);
    let mut response = problem.hint("GET /api/openapi.json tells what there is.").into_response();
    if let Ok(allowed) = HeaderValue::from_str(allowed) {
        response.headers_mut().insert(header::ALLOW, allowed);
    }
    response
}
