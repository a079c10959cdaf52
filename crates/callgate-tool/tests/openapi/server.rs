//! A loopback server made of a document: it finds the operation of a request, reads it by the
//! document's rules, and answers with an instance of the response's schema.

use std::sync::{Arc, Mutex};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, Method, StatusCode, Uri},
    response::{IntoResponse as _, Response},
};
use tokio::{net::TcpListener, task::JoinHandle};

use crate::{
    answer::{Answer, answer},
    document::Document,
    request::{Item, Request, read},
};

/// Where the service stands on the server.
const BASE: &str = "/base/v1";

/// What came of a request.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) request: Request,
    /// By operation: those that the method and path fit.
    pub(crate) read: Vec<(String, Result<Vec<Item>, String>)>,
    pub(crate) answer: Option<Answer>,
}

pub(crate) struct Server {
    pub(crate) document: Arc<Document>,
    seen: Arc<Mutex<Vec<Seen>>>,
    task: JoinHandle<()>,
}

type Shared = (Arc<Document>, Arc<Mutex<Vec<Seen>>>);

impl Server {
    /// Serves a document, which then says where.
    pub(crate) async fn start(mut root: serde_json::Value) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}{BASE}", listener.local_addr().unwrap());
        root["servers"] = serde_json::json!([{ "url": url }]);
        let items = root["paths"].as_object_mut().into_iter().flatten();
        for (_, item) in items {
            let Some(item) = item.as_object_mut() else { continue };
            item.remove("servers");
            for (_, operation) in item.iter_mut() {
                if let Some(operation) = operation.as_object_mut() {
                    operation.remove("servers");
                }
            }
        }
        let document = Arc::new(Document::of(root));
        let seen = Arc::<Mutex<Vec<Seen>>>::default();
        let shared: Shared = (document.clone(), seen.clone());
        let app = Router::new()
            .fallback(serve)
            .layer(axum::extract::DefaultBodyLimit::disable())
            .with_state(shared);
        let task = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { document, seen, task }
    }

    /// What was seen since the last time.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        std::mem::take(&mut *self.seen.lock().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(crate) fn operation_name(method: &str, template: &str) -> String {
    format!("{method} {template}")
}

async fn serve(
    State((document, seen)): State<Shared>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let headers = headers
        .iter()
        .map(|(name, value)| {
            (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        })
        .collect();
    let request = Request {
        method: method.to_string(),
        path: uri.path().to_owned(),
        query: uri.query().unwrap_or_default().to_owned(),
        headers,
        body: body.to_vec(),
    };
    let path = request.path.strip_prefix(BASE).unwrap_or("(elsewhere)");
    let found = document.find(&request.method, path);
    let answer = found.first().and_then(|(operation, _)| answer(&document, operation));
    let read = found
        .iter()
        .map(|(operation, holes)| {
            let name = operation_name(&operation.method, &operation.template);
            (name, read(&document, operation, holes, &request))
        })
        .collect();
    seen.lock().unwrap().push(Seen { request, read, answer: answer.clone() });
    let Some(answer) = answer else { return StatusCode::NOT_FOUND.into_response() };
    let mut response = Response::new(axum::body::Body::from(answer.body));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap();
    if let Some(media) = answer.media {
        response.headers_mut().insert("content-type", media.parse().unwrap());
    }
    response
}
