//! JSON-RPC 2.0 over HTTP (1.0, section 9; 0.3, section 7).

use axum::{body::Bytes, response::Response};
use callgate_tool::a2a::wire::{
    CancelParams, GetParams, Kind, ListParams, Members, Method, Object, Reply, SendParams, Update,
    Version, WireError,
};
use http::{HeaderMap, StatusCode, Uri};
use serde_json::value::RawValue;

use super::{
    A2aServer,
    respond::{self, activated, with_extension},
    service::{Sent, no_push},
};
use crate::http::Identity;

const JSON: &str = "application/json";

/// The largest id that is echoed.
const ID: usize = 256;

/// Answers one request.
pub(super) async fn answer(
    server: &A2aServer,
    identity: &Identity,
    headers: &HeaderMap,
    uri: &Uri,
    body: &Bytes,
) -> Response {
    if !respond::is_json(headers) {
        let refusal = failed("null", &respond::not_json());
        return respond::json(StatusCode::UNSUPPORTED_MEDIA_TYPE, JSON, refusal);
    }
    let refuse =
        |id: &str, error: &WireError| respond::json(StatusCode::OK, JSON, failed(id, error));
    let Ok(request) = serde_json::from_slice::<&RawValue>(body) else {
        let words = "the body is no JSON";
        return refuse("null", &WireError::new(Kind::Parse, words));
    };
    let call = match Call::read(request) {
        Ok(call) => call,
        Err((id, error)) => return refuse(&id, &error),
    };
    let extension = activated(headers);
    let response = match respond::version(headers, uri, server.0.options.v03) {
        Ok(version) => made(server, identity, &call, version).await,
        Err(error) => Err(error),
    };
    let response = response.unwrap_or_else(|error| refuse(call.id, &error));
    with_extension(response, extension)
}

/// A request, taken apart.
struct Call<'a> {
    id: &'a str,
    method: String,
    params: Option<&'a RawValue>,
}

impl<'a> Call<'a> {
    fn read(request: &'a RawValue) -> Result<Self, (String, WireError)> {
        let invalid =
            |id: &str, words: &str| (id.to_owned(), WireError::new(Kind::InvalidRequest, words));
        let members = Members::read(request, "")
            .map_err(|_| invalid("null", "a request is one JSON object"))?;
        let id = members.given("id").map_or("null", RawValue::get);
        let is_id = id == "null" || id.starts_with('"') || id.parse::<f64>().is_ok();
        if !is_id || id.len() > ID {
            return Err(invalid("null", "an id is a string or a number"));
        }
        if members.text("jsonrpc").ok().flatten().as_deref() != Some("2.0") {
            return Err(invalid(id, "jsonrpc must be \"2.0\""));
        }
        let Ok(Some(method)) = members.text("method") else {
            return Err(invalid(id, "there is no method"));
        };
        Ok(Self { id, method, params: members.get("params") })
    }
}

async fn made(
    server: &A2aServer,
    identity: &Identity,
    call: &Call<'_>,
    version: Version,
) -> Result<Response, WireError> {
    let (method, named) = Method::named(&call.method).ok_or_else(|| {
        WireError::new(Kind::MethodNotFound, format!("there is no method {:?}", call.method))
    })?;
    if named != version {
        // A request of 1.0 without its header counts as one of 0.3.
        let (spoken, named) = (version.as_str(), named.as_str());
        let words = format!(
            "{} is a method of {named}, and the request's A2A-Version is {spoken}",
            call.method
        );
        let kind = if named == "1.0" { Kind::VersionNotSupported } else { Kind::MethodNotFound };
        return Err(WireError::new(kind, words));
    }
    let params = call.params.unwrap_or(RawValue::NULL);
    let params = if params.get() == "null" { empty() } else { params };
    let done = |result: String| respond::json(StatusCode::OK, JSON, succeeded(call.id, &result));
    Ok(match method {
        Method::Send => {
            let params = SendParams::read(params, version)?;
            let (immediately, history) = (params.immediately, params.history);
            let reply = match server.send(identity, params).await? {
                Sent::Message(message) => Reply::Message(*message),
                Sent::Task(mut feed) => {
                    Reply::Task(server.shown(&mut feed, immediately, history).await)
                }
            };
            done(reply.write(version))
        }
        Method::Stream => {
            let params = SendParams::read(params, version)?;
            let history = params.history;
            match server.send(identity, params).await? {
                Sent::Message(message) => stream(call.id, version, Update::Message(*message), None),
                Sent::Task(feed) => {
                    let mut task = feed.view().task();
                    task.keep_history(history);
                    stream(call.id, version, Update::Task(task), Some(feed))
                }
            }
        }
        Method::Subscribe => {
            let feed = server.subscribe(identity, &CancelParams::read(params)?.id).await?;
            let first = Update::Task(feed.view().task());
            stream(call.id, version, first, Some(feed))
        }
        Method::Get => {
            let GetParams { id, history } = GetParams::read(params)?;
            done(server.get(identity, &id, history).await?.write(version))
        }
        Method::List => {
            done(server.list(identity, &ListParams::read(params)?).await?.write(version))
        }
        Method::Cancel => {
            let id = CancelParams::read(params)?.id;
            done(server.cancel(identity, &id).await?.write(version))
        }
        Method::Push => return Err(no_push()),
        Method::ExtendedCard => return Err(no_extended_card()),
    })
}

/// There is one card for everybody. An agent that does not declare another one "MUST return
/// UnsupportedOperationError" (1.0, 3.3.4).
pub(super) fn no_extended_card() -> WireError {
    let words = "there is no extended card: everything is in the public one";
    WireError::new(Kind::UnsupportedOperation, words)
}

fn empty() -> &'static RawValue {
    serde_json::from_str("{}").unwrap_or(RawValue::NULL)
}

fn stream(
    id: &str,
    version: Version,
    first: Update,
    feed: Option<Box<super::feed::Feed>>,
) -> Response {
    let id = id.to_owned();
    respond::events(first, feed, move |update| succeeded(&id, &update.write(version)))
}

fn succeeded(id: &str, result: &str) -> String {
    Object::new().text("jsonrpc", "2.0").raw("id", id).raw("result", result).end()
}

fn failed(id: &str, error: &WireError) -> String {
    Object::new().text("jsonrpc", "2.0").raw("id", id).raw("error", &error.json_rpc()).end()
}
