//! What a route answers.

use axum::{body, response::Response};
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use schemars::JsonSchema;
use serde::Serialize;

use super::document::Operation;

/// An answer.
pub(in crate::runs::api) trait Output: Send {
    /// How it looks.
    fn describe(operation: &mut Operation<'_>);

    /// The answer as it is sent.
    fn respond(self) -> Response;
}

/// A value, 200.
pub(in crate::runs::api) struct Json<T>(pub(in crate::runs::api) T);

/// Something that was made, 201; or was there already, 200.
pub(in crate::runs::api) struct New<T> {
    pub(in crate::runs::api) is_new: bool,
    /// Its path.
    pub(in crate::runs::api) place: String,
    pub(in crate::runs::api) value: T,
}

/// A file of JSON lines.
pub(in crate::runs::api) struct File {
    pub(in crate::runs::api) name: String,
    pub(in crate::runs::api) bytes: Vec<u8>,
}

fn json<T: Serialize>(status: StatusCode, value: &T) -> Response {
    let bytes = match serde_json::to_vec(value) {
        Ok(bytes) => bytes,
        Err(error) => {
            use axum::response::IntoResponse as _;
            return super::Problem::internal(format!("an answer has no JSON: {error}"))
                .into_response();
        }
    };
    of_type(status, "application/json", bytes)
}

pub(in crate::runs::api) fn of_type(
    status: StatusCode,
    kind: &'static str,
    bytes: impl Into<Bytes>,
) -> Response {
    let mut response = Response::new(body::Body::from(bytes.into()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    // What a run did is nobody's but whoever asks.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

impl<T: Serialize + JsonSchema + Send> Output for Json<T> {
    fn describe(operation: &mut Operation<'_>) {
        operation.answer::<T>(200, "application/json", "The answer.");
    }

    fn respond(self) -> Response {
        json(StatusCode::OK, &self.0)
    }
}

impl<T: Serialize + JsonSchema + Send> Output for New<T> {
    fn describe(operation: &mut Operation<'_>) {
        operation.answer::<T>(201, "application/json", "It was made.");
        operation.answer::<T>(200, "application/json", "It was there already.");
    }

    fn respond(self) -> Response {
        let status = if self.is_new { StatusCode::CREATED } else { StatusCode::OK };
        let mut response = json(status, &self.value);
        if let Ok(place) = HeaderValue::from_str(&self.place) {
            response.headers_mut().insert(header::LOCATION, place);
        }
        response
    }
}

impl Output for File {
    fn describe(operation: &mut Operation<'_>) {
        operation.answer::<String>(200, "application/x-ndjson", "The file.");
    }

    fn respond(self) -> Response {
        let mut response = of_type(StatusCode::OK, "application/x-ndjson", self.bytes);
        let shown = format!("attachment; filename=\"{}\"", self.name);
        if let Ok(shown) = HeaderValue::from_str(&shown) {
            response.headers_mut().insert(header::CONTENT_DISPOSITION, shown);
        }
        response
    }
}
