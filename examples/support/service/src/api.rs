//! The HTTP surface: routes, checks of what comes in, and errors as JSON.
//!
//! | request | answer |
//! |---|---|
//! | `GET /health` | `{"ok":true}` |
//! | `GET /tickets/{id}` | a ticket with its updates |
//! | `POST /tickets/{id}/notes` | 201 and the note; 200 and the same note for a repeated `Idempotency-Key` |
//! | `GET /customers/{id}` | a customer |
//! | `GET /invoices?startDate&endDate&status` | `{"items": [...], "count": N}`, oldest first |
//!
//! An error is `{"error": {"code", "message", "hint"?}}`.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{
        Path, Query, State,
        rejection::{JsonRejection, QueryRejection},
    },
    http::{HeaderMap, HeaderValue, StatusCode},
    middleware,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    log::{self, RequestLog},
    store::{Added, Customer, Invoice, InvoiceFilter, NewNote, Store, Ticket},
};

const STATUSES: [&str; 4] = ["draft", "sent", "paid", "void"];
const MAX_NOTE: usize = 2000;

pub(crate) fn router(store: Arc<Store>, log: Option<Arc<RequestLog>>) -> Router {
    Router::new()
        .route("/health", get(health))
        .route("/tickets/{id}", get(ticket))
        .route("/tickets/{id}/notes", post(add_note))
        .route("/customers/{id}", get(customer))
        .route("/invoices", get(invoices))
        .fallback(no_route)
        .method_not_allowed_fallback(wrong_method)
        .layer(middleware::from_fn_with_state(log, log::requests))
        .with_state(store)
}

async fn health() -> Json<serde_json::Value> {
    Json(json!({ "ok": true }))
}

async fn ticket(
    State(store): State<Arc<Store>>,
    Path(id): Path<String>,
) -> Result<Json<Ticket>, ApiError> {
    let wanted = id.clone();
    let found = blocking(move || store.ticket(&wanted)).await?;
    found.map(Json).ok_or_else(|| ApiError::not_found("ticket", &id))
}

async fn customer(
    State(store): State<Arc<Store>>,
    Path(id): Path<String>,
) -> Result<Json<Customer>, ApiError> {
    let wanted = id.clone();
    let found = blocking(move || store.customer(&wanted)).await?;
    found.map(Json).ok_or_else(|| ApiError::not_found("customer", &id))
}

#[derive(Debug, Serialize)]
struct Invoices {
    items: Vec<Invoice>,
    count: usize,
}

async fn invoices(
    State(store): State<Arc<Store>>,
    query: Result<Query<InvoiceFilter>, QueryRejection>,
) -> Result<Json<Invoices>, ApiError> {
    let Query(filter) = query.map_err(|error| ApiError::bad_request(error.body_text()))?;
    if let Some(status) = &filter.status
        && !STATUSES.contains(&status.as_str())
    {
        return Err(ApiError::bad_request(format!("status `{status}` does not exist"))
            .hint(format!("Use one of {}.", STATUSES.join(", "))));
    }
    let items = blocking(move || {
        for (name, date) in [("startDate", &filter.start_date), ("endDate", &filter.end_date)] {
            if let Some(date) = date
                && !store.is_date(date)?
            {
                return Ok(Err(ApiError::bad_request(format!("{name} `{date}` is no date"))
                    .hint("Dates are written YYYY-MM-DD.")));
            }
        }
        if let (Some(start), Some(end)) = (&filter.start_date, &filter.end_date)
            && start > end
        {
            return Ok(Err(ApiError::bad_request(format!(
                "startDate {start} is after endDate {end}"
            ))));
        }
        store.invoices(&filter).map(Ok)
    })
    .await??;
    Ok(Json(Invoices { count: items.len(), items }))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NoteBody {
    text: String,
    #[serde(default = "default_author")]
    author: String,
}

fn default_author() -> String {
    "agent".to_owned()
}

async fn add_note(
    State(store): State<Arc<Store>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Result<Json<NoteBody>, JsonRejection>,
) -> Result<Response, ApiError> {
    let Json(body) = body.map_err(|error| ApiError::bad_request(error.body_text()))?;
    let length = body.text.chars().count();
    if body.text.trim().is_empty() || length > MAX_NOTE {
        return Err(ApiError::bad_request(format!(
            "text has {length} characters; a note has 1 to {MAX_NOTE}, not all of them blank"
        )));
    }
    let key = match headers.get("idempotency-key").map(HeaderValue::to_str) {
        None => None,
        Some(Ok(key)) if !key.is_empty() && key.len() <= 255 => Some(key.to_owned()),
        Some(_) => {
            return Err(ApiError::bad_request(
                "Idempotency-Key has to be 1 to 255 visible ASCII characters",
            ));
        }
    };
    let ticket = id.clone();
    let added = blocking(move || {
        store.add_note(&NewNote { ticket, text: body.text, author: body.author, key })
    })
    .await?;
    match added {
        Added::New(note) => Ok((StatusCode::CREATED, Json(note)).into_response()),
        Added::Again(note) => Ok(([("idempotency-replayed", "true")], Json(note)).into_response()),
        Added::NoTicket => Err(ApiError::not_found("ticket", &id)),
        Added::Closed => Err(ApiError::new(
            StatusCode::CONFLICT,
            "ticket_closed",
            format!("ticket {id} is closed and takes no more notes"),
        )
        .hint("Tell the user; reopening a ticket is not possible here.")),
        Added::KeyTaken => Err(ApiError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "idempotency_key_reused",
            "this Idempotency-Key was used for another note",
        )),
    }
}

async fn no_route() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "no_such_route", "there is nothing at this path")
}

async fn wrong_method() -> ApiError {
    ApiError::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "this path does not take this method",
    )
}

/// SQLite blocks; the runtime's threads must not.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> rusqlite::Result<T> + Send + 'static,
) -> Result<T, ApiError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(ApiError::internal(&error)),
        Err(error) => Err(ApiError::internal(&error)),
    }
}

/// What a caller is told when something does not work.
#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    code: &'static str,
    message: String,
    hint: Option<String>,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), hint: None }
    }

    fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    fn not_found(what: &str, id: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", format!("there is no {what} {id}"))
    }

    /// The cause goes to the operator, not to the caller.
    fn internal(error: &dyn std::error::Error) -> Self {
        eprintln!("support-service: {error}");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the service failed")
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(hint) = self.hint {
            error["hint"] = hint.into();
        }
        (self.status, Json(json!({ "error": error }))).into_response()
    }
}
