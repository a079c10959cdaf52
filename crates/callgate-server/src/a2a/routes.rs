//! Where everything is: the card, one address for JSON-RPC, a tree for HTTP+JSON.

use axum::{
    Extension, Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, Method, Uri},
    response::{IntoResponse as _, Response},
    routing::{any, get, post},
};
use http::{HeaderValue, StatusCode, header};

use super::{A2aServer, card, respond, rest, rpc};
use crate::http::Identity;

/// Where the card is (1.0, 8.2).
pub(super) const CARD: &str = "/.well-known/agent-card.json";

/// How long a card may be taken for true without asking again.
const FRESH: &str = "public, max-age=60";

impl A2aServer {
    /// The path of the card, which has to be readable without a token: for
    /// [`HttpOptions::public_paths`](crate::http::HttpOptions::public_paths).
    pub const CARD: &'static str = CARD;

    /// The card, `/a2a/v1` (JSON-RPC) and `/a2a/rest` (HTTP+JSON), to be mounted behind the
    /// [`http`](crate::http) room's checks.
    pub fn router(&self) -> Router {
        Router::new()
            .route(CARD, get(card_of))
            .route(card::RPC, post(call))
            .route("/a2a/v1/", post(call))
            .route("/a2a/rest/{*path}", any(tree))
            .with_state(self.clone())
    }
}

async fn card_of(State(server): State<A2aServer>, headers: HeaderMap) -> Response {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let (text, tag) = server.card(host);
    let asked = headers.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
    let is_known = asked.is_some_and(|tags| {
        // Weak comparison (RFC 9110, 13.1.2).
        let bare = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
        tags.trim() == "*" || tags.split(',').any(|other| bare(other) == bare(&tag))
    });
    let mut response = if is_known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        respond::json(StatusCode::OK, "application/json", text)
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(FRESH));
    for (name, value) in [(header::ETAG, &tag), (header::LAST_MODIFIED, &server.0.since)] {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    }
    response
}

async fn call(
    State(server): State<A2aServer>,
    identity: Option<Extension<Identity>>,
    headers: HeaderMap,
    uri: Uri,
    body: Bytes,
) -> Response {
    match identity {
        Some(Extension(identity)) => rpc::answer(&server, &identity, &headers, &uri, &body).await,
        None => no_door(),
    }
}

async fn tree(
    State(server): State<A2aServer>,
    identity: Option<Extension<Identity>>,
    verb: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    match identity {
        Some(Extension(identity)) => {
            rest::answer(&server, &identity, &verb, &uri, &headers, &body).await
        }
        None => no_door(),
    }
}

/// Mounted without the door that says who a request is from: nobody's request.
fn no_door() -> Response {
    StatusCode::FORBIDDEN.into_response()
}
