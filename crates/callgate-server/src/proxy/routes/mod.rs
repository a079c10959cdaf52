//! Bodies in, answers out.

mod account;
mod answer;
mod asked;
mod models;
mod respond;

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    response::Response,
    routing::{get, post},
};
use callgate_wire::inbound::{Dialect, Refusal, RefusalKind};
use http::StatusCode;

use super::Proxy;
use crate::http::HttpOptions;

/// What every route knows.
#[derive(Clone)]
struct Door {
    proxy: Proxy,
    patience: std::time::Duration,
}

impl Proxy {
    /// The endpoints, to be mounted behind the [`http`](crate::http) room's checks.
    pub fn router(&self, options: &HttpOptions) -> Router {
        let door = Door { proxy: self.clone(), patience: options.body_timeout };
        let mut router = Router::new()
            .route("/v1/models", get(models::list))
            .route("/v1/models/{*id}", get(models::one))
            .route("/v1/messages/count_tokens", post(no_counting));
        for dialect in Dialect::ALL {
            router = router.route(
                dialect.path(),
                post(async move |door: State<Door>, request: Request| {
                    answer::serve(door.0, dialect, request).await
                }),
            );
        }
        router.with_state(door)
    }
}

/// Providers count with their own tokenisers; a guess would be no count.
async fn no_counting() -> Response {
    let refusal = Refusal::new(
        RefusalKind::NotFound,
        "tokens are not counted here: ask the provider itself, or go by the usage of an answer",
    );
    respond::refused(Dialect::Messages, &refusal, None)
}

/// A response of JSON.
fn json(status: StatusCode, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let json = http::HeaderValue::from_static("application/json");
    response.headers_mut().insert(http::header::CONTENT_TYPE, json);
    response
}
