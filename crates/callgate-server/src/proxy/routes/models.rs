//! `/v1/models`: the names that may be asked for.
//!
//! OpenAI's and Anthropic's libraries read other members of the same objects, so both are there.

use axum::{
    extract::{Path, State},
    response::Response,
};
use callgate_wire::inbound::{Dialect, Refusal};
use http::StatusCode;
use serde_json::{Value, json};

use super::{Door, json as respond_json, respond};
use crate::proxy::allow;

/// A model, as both APIs tell one. When it was made is not known.
fn told(id: &str) -> Value {
    let owner = id.split_once([':', '/']).map_or("callgate", |(owner, _)| owner);
    json!({
        "id": id, "object": "model", "created": 0, "owned_by": owner,
        "type": "model", "display_name": id, "created_at": "1970-01-01T00:00:00Z",
    })
}

pub(super) async fn list(State(door): State<Door>) -> Response {
    let names = allow::listed(door.proxy.options());
    let body = json!({
        "object": "list",
        "data": names.iter().map(|name| told(name)).collect::<Vec<_>>(),
        "has_more": false, "first_id": names.first(), "last_id": names.last(),
    });
    respond_json(StatusCode::OK, body.to_string())
}

pub(super) async fn one(State(door): State<Door>, Path(id): Path<String>) -> Response {
    match allow::named(door.proxy.options(), &id) {
        Ok(_) => respond_json(StatusCode::OK, told(&id).to_string()),
        Err(Refusal { .. }) => {
            let refusal = allow::unknown(&id);
            respond::refused(Dialect::Chat, &refusal, None)
        }
    }
}
