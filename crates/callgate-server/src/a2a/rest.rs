//! HTTP and JSON (1.0, section 11).

use axum::{body::Bytes, response::Response};
use callgate_tool::a2a::wire::{
    Kind, ListParams, Object, Reply, SendParams, Update, Version, WireError,
};
use http::{HeaderMap, Method, StatusCode, Uri, header};
use serde_json::value::RawValue;

use super::{
    A2aServer, card,
    respond::{self, activated, query, with_extension},
    rpc::no_extended_card,
    service::{Sent, no_push},
};
use crate::http::Identity;

const JSON: &str = "application/json";
const A2A: &str = "application/a2a+json";

/// What is asked, by path and verb.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Asked {
    Send,
    Stream,
    List,
    Get(String),
    Cancel(String),
    Subscribe(String),
    Push,
    ExtendedCard,
}

impl Asked {
    /// By the path below the binding's root.
    ///
    /// `:` is no segment of its own, so `/tasks/{id}:cancel` is told apart from `/tasks/{id}` here.
    pub(super) fn read(verb: &Method, path: &str) -> Option<Self> {
        let post = verb == Method::POST;
        let get = matches!(*verb, Method::GET | Method::HEAD);
        let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
        match segments.as_slice() {
            ["message:send"] if post => Some(Self::Send),
            ["message:stream"] if post => Some(Self::Stream),
            ["tasks"] if get => Some(Self::List),
            ["extendedAgentCard"] if get => Some(Self::ExtendedCard),
            ["tasks", task] => match task.rsplit_once(':') {
                Some((id, "cancel")) if post => Some(Self::Cancel(id.to_owned())),
                // The proto says GET and the prose POST (a2aproject/A2A#1574).
                Some((id, "subscribe")) if post || get => Some(Self::Subscribe(id.to_owned())),
                Some(_) => None,
                None if get => Some(Self::Get((*task).to_owned())),
                None => None,
            },
            ["tasks", _, "pushNotificationConfigs"] if post || get => Some(Self::Push),
            ["tasks", _, "pushNotificationConfigs", _] if get || verb == Method::DELETE => {
                Some(Self::Push)
            }
            _ => None,
        }
    }

    fn has_body(&self) -> bool {
        matches!(self, Self::Send | Self::Stream)
    }
}

/// Answers one request.
pub(super) async fn answer(
    server: &A2aServer,
    identity: &Identity,
    verb: &Method,
    uri: &Uri,
    headers: &HeaderMap,
    body: &Bytes,
) -> Response {
    let names_a2a = [header::ACCEPT, header::CONTENT_TYPE].iter().any(|name| {
        headers.get(name).and_then(|v| v.to_str().ok()).is_some_and(|v| v.contains("a2a+json"))
    });
    let kind = if names_a2a { A2A } else { JSON };
    let extension = activated(headers);
    let path = uri.path().strip_prefix(card::REST).unwrap_or(uri.path());
    let response = match Asked::read(verb, path) {
        Some(asked) => made(server, identity, &asked, uri, headers, body, kind).await,
        None => Err(WireError::new(Kind::MethodNotFound, format!("there is no {verb} {path}"))),
    };
    let response = response.unwrap_or_else(|error| {
        // A body of another type is HTTP's own matter; a part of one is the protocol's.
        let is_type = error.kind == Kind::ContentTypeNotSupported && !respond::is_json(headers);
        let status = if is_type { 415 } else { error.kind.http_status() };
        let code = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        respond::json(code, kind, error.status_body(status))
    });
    with_extension(response, extension)
}

async fn made(
    server: &A2aServer,
    identity: &Identity,
    asked: &Asked,
    uri: &Uri,
    headers: &HeaderMap,
    body: &Bytes,
    kind: &'static str,
) -> Result<Response, WireError> {
    // Of 0.3 only JSON-RPC is served.
    let version = respond::version(headers, uri, false)?;
    if asked.has_body() && !respond::is_json(headers) {
        return Err(respond::not_json());
    }
    let done = |text: String| respond::json(StatusCode::OK, kind, text);
    Ok(match asked {
        Asked::Send => {
            let params = params(body, version)?;
            let (immediately, history) = (params.immediately, params.history);
            let reply = match server.send(identity, params).await? {
                Sent::Message(message) => Reply::Message(*message),
                Sent::Task(mut feed) => {
                    Reply::Task(server.shown(&mut feed, immediately, history).await)
                }
            };
            done(reply.write(version))
        }
        Asked::Stream => {
            let params = params(body, version)?;
            let history = params.history;
            match server.send(identity, params).await? {
                Sent::Message(message) => stream(version, Update::Message(*message), None),
                Sent::Task(feed) => {
                    let mut task = feed.view().task();
                    task.keep_history(history);
                    stream(version, Update::Task(task), Some(feed))
                }
            }
        }
        Asked::Subscribe(id) => {
            let feed = server.subscribe(identity, id).await?;
            let first = Update::Task(feed.view().task());
            stream(version, first, Some(feed))
        }
        Asked::Get(id) => {
            let history = match query(uri, "historyLength") {
                None => None,
                Some(text) => Some(text.parse().map_err(|_| {
                    WireError::new(Kind::InvalidParams, "historyLength is a number from 0")
                })?),
            };
            done(server.get(identity, id, history).await?.write(version))
        }
        Asked::List => done(server.list(identity, &list(uri)?).await?.write(version)),
        Asked::Cancel(id) => done(server.cancel(identity, id).await?.write(version)),
        Asked::Push => return Err(no_push()),
        Asked::ExtendedCard => return Err(no_extended_card()),
    })
}

fn params(body: &Bytes, version: Version) -> Result<SendParams, WireError> {
    let raw: &RawValue = serde_json::from_slice(body)
        .map_err(|_| WireError::new(Kind::Parse, "the body is no JSON"))?;
    Ok(SendParams::read(raw, version)?)
}

/// The query of a list as the object that JSON-RPC has.
fn list(uri: &Uri) -> Result<ListParams, WireError> {
    let texts =
        ["contextId", "status", "pageToken", "statusTimestampAfter", "pageSize", "historyLength"];
    let object = texts
        .iter()
        .fold(Object::new(), |object, name| object.maybe(name, query(uri, name).as_deref()));
    let object = match query(uri, "includeArtifacts").as_deref() {
        None => object,
        Some("true") => object.flag("includeArtifacts", true),
        Some("false") => object.flag("includeArtifacts", false),
        Some(_) => {
            let words = "includeArtifacts is true or false";
            return Err(WireError::new(Kind::InvalidParams, words));
        }
    };
    let text = object.end();
    let raw: &RawValue = serde_json::from_str(&text)
        .map_err(|error| WireError::new(Kind::InvalidParams, error.to_string()))?;
    Ok(ListParams::read(raw)?)
}

fn stream(version: Version, first: Update, feed: Option<Box<super::feed::Feed>>) -> Response {
    respond::events(first, feed, move |update| update.write(version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_verbs() {
        let id = || "a2a-1".to_owned();
        let rows = [
            (Method::POST, "/message:send", Some(Asked::Send)),
            (Method::POST, "/message:stream", Some(Asked::Stream)),
            (Method::GET, "/message:send", None),
            (Method::GET, "/tasks", Some(Asked::List)),
            (Method::GET, "/tasks/", Some(Asked::List)),
            (Method::GET, "/tasks/a2a-1", Some(Asked::Get(id()))),
            (Method::POST, "/tasks/a2a-1:cancel", Some(Asked::Cancel(id()))),
            (Method::GET, "/tasks/a2a-1:cancel", None),
            (Method::POST, "/tasks/a2a-1:subscribe", Some(Asked::Subscribe(id()))),
            (Method::GET, "/tasks/a2a-1:subscribe", Some(Asked::Subscribe(id()))),
            (Method::GET, "/tasks/a2a-1:eat", None),
            (Method::DELETE, "/tasks/a2a-1", None),
            (Method::POST, "/tasks/a2a-1/pushNotificationConfigs", Some(Asked::Push)),
            (Method::DELETE, "/tasks/a2a-1/pushNotificationConfigs/x", Some(Asked::Push)),
            (Method::GET, "/extendedAgentCard", Some(Asked::ExtendedCard)),
            (Method::GET, "/tenant/tasks", None),
        ];
        for (verb, path, expected) in rows {
            assert_eq!(Asked::read(&verb, path), expected, "{verb} {path}");
        }
    }
}
