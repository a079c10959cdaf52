//! An authorization server and a resource, on ports of this machine.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use axum::{
    Json, Router,
    extract::{Query, Request, State},
    http::{HeaderMap, Method, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::{any, get, post},
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};
use url::form_urlencoded;

use crate::mcp::auth::{Browser, BrowserError, Opening};

type Pairs = Vec<(String, String)>;

/// Both servers on one port.
pub(super) struct World {
    pub(super) base: String,
    pub(super) ledger: Arc<Ledger>,
    task: JoinHandle<()>,
}

/// What they do, and what was done to them.
#[derive(Default)]
pub(super) struct Ledger {
    pub(super) base: Mutex<String>,
    /// Overrides members of the authorization server's metadata.
    pub(super) metadata: Mutex<Value>,
    /// Who the resource names as its issuer, if not this server.
    pub(super) issuer: Mutex<Option<String>>,
    /// What the token endpoint answers, first to last; then tokens that live for an hour.
    pub(super) answers: Mutex<Vec<(u16, Value)>>,
    /// With what the resource refuses everybody.
    pub(super) challenge: Mutex<Option<String>>,
    /// The methods of requests to the resource.
    pub(super) visits: Mutex<Vec<String>>,
    pub(super) registrations: AtomicUsize,
    pub(super) authorizations: Mutex<Vec<Pairs>>,
    /// The `Authorization` header and the form of each token request.
    pub(super) exchanges: Mutex<Vec<(Option<String>, Pairs)>>,
}

impl Ledger {
    fn base(&self) -> String {
        self.base.lock().unwrap().clone()
    }

    /// The scopes of the last authorization.
    pub(super) fn asked(&self) -> Option<String> {
        find(self.authorizations.lock().unwrap().last()?, "scope")
    }

    pub(super) fn logins(&self) -> usize {
        self.authorizations.lock().unwrap().len()
    }
}

pub(super) fn find(pairs: &Pairs, name: &str) -> Option<String> {
    pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone())
}

impl World {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let ledger = Arc::new(Ledger::default());
        ledger.base.lock().unwrap().clone_from(&base);
        let app = Router::new()
            .route("/mcp", any(resource))
            .route("/.well-known/oauth-protected-resource/mcp", get(resource_metadata))
            .route("/.well-known/oauth-authorization-server", get(server_metadata))
            .route("/register", post(register))
            .route("/authorize", get(authorize))
            .route("/token", post(token))
            .with_state(ledger.clone());
        let task = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { base, ledger, task }
    }

    pub(super) fn resource(&self) -> String {
        format!("{}/mcp", self.base)
    }

    pub(super) fn challenge(&self, rest: &str) -> String {
        format!(
            "Bearer resource_metadata=\"{}/.well-known/oauth-protected-resource/mcp\"{rest}",
            self.base
        )
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn resource(State(ledger): State<Arc<Ledger>>, method: Method) -> Response {
    ledger.visits.lock().unwrap().push(method.to_string());
    let mut answer = StatusCode::UNAUTHORIZED.into_response();
    if let Some(challenge) = &*ledger.challenge.lock().unwrap() {
        answer.headers_mut().insert(header::WWW_AUTHENTICATE, challenge.parse().unwrap());
    }
    answer
}

async fn resource_metadata(State(ledger): State<Arc<Ledger>>) -> Json<Value> {
    let base = ledger.base();
    let issuer = ledger.issuer.lock().unwrap().clone().unwrap_or_else(|| base.clone());
    Json(json!({ "resource": format!("{base}/mcp"), "authorization_servers": [issuer] }))
}

async fn server_metadata(State(ledger): State<Arc<Ledger>>) -> Json<Value> {
    let base = ledger.base();
    let mut metadata = json!({
        "issuer": base,
        "authorization_endpoint": format!("{base}/authorize"),
        "token_endpoint": format!("{base}/token"),
        "registration_endpoint": format!("{base}/register"),
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
    });
    for (name, value) in ledger.metadata.lock().unwrap().as_object().into_iter().flatten() {
        metadata[name] = value.clone();
    }
    Json(metadata)
}

async fn register(State(ledger): State<Arc<Ledger>>) -> (StatusCode, Json<Value>) {
    let number = ledger.registrations.fetch_add(1, Ordering::SeqCst) + 1;
    let client = json!({
        "client_id": format!("client-{number}"),
        "client_secret": "registered-secret",
        "redirect_uris": [],
    });
    (StatusCode::CREATED, Json(client))
}

async fn authorize(State(ledger): State<Arc<Ledger>>, Query(pairs): Query<Pairs>) -> Response {
    let mut back = url::Url::parse(&find(&pairs, "redirect_uri").unwrap()).unwrap();
    back.query_pairs_mut()
        .append_pair("code", "the-code")
        .append_pair("state", &find(&pairs, "state").unwrap())
        .append_pair("iss", &ledger.base());
    ledger.authorizations.lock().unwrap().push(pairs);
    (StatusCode::FOUND, [(header::LOCATION, back.to_string())]).into_response()
}

async fn token(
    State(ledger): State<Arc<Ledger>>,
    headers: HeaderMap,
    request: Request,
) -> (StatusCode, Json<Value>) {
    let body = axum::body::to_bytes(request.into_body(), 1 << 16).await.unwrap();
    let form: Pairs = form_urlencoded::parse(&body).into_owned().collect();
    let authorization = headers.get(header::AUTHORIZATION);
    let authorization = authorization.map(|value| value.to_str().unwrap().to_owned());
    let number = {
        let mut exchanges = ledger.exchanges.lock().unwrap();
        exchanges.push((authorization, form));
        exchanges.len()
    };
    let mut answers = ledger.answers.lock().unwrap();
    if answers.is_empty() {
        let token = json!({
            "access_token": format!("secret-{number}"),
            "token_type": "Bearer",
            "expires_in": 3600,
            "refresh_token": format!("refresh-{number}"),
        });
        return (StatusCode::OK, Json(token));
    }
    let (status, answer) = answers.remove(0);
    (StatusCode::from_u16(status).unwrap(), Json(answer))
}

/// A person who says yes at once.
pub(super) struct Willing;

impl Browser for Willing {
    fn redirect_uri(&self) -> String {
        "http://127.0.0.1:9/callback".to_owned()
    }

    fn open<'a>(&'a self, url: &'a str) -> Opening<'a> {
        Box::pin(async move {
            let none = reqwest::redirect::Policy::none();
            let client = reqwest::Client::builder().redirect(none).build().unwrap();
            let answer = client.get(url).send().await.unwrap();
            Ok(answer.headers()[header::LOCATION].to_str().unwrap().to_owned())
        })
    }
}

/// A person who comes back with these words.
pub(super) struct Returning(pub(super) &'static str);

impl Browser for Returning {
    fn redirect_uri(&self) -> String {
        "http://127.0.0.1:9/callback".to_owned()
    }

    fn open<'a>(&'a self, _: &'a str) -> Opening<'a> {
        Box::pin(
            async move { Ok::<_, BrowserError>(format!("{}?{}", self.redirect_uri(), self.0)) },
        )
    }
}
