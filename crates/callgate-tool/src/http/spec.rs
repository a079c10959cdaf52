//! The `http` object of a contract, as written and as checked.

use std::sync::Arc;

use reqwest::{Method, header::HeaderName};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    Backend, Reads,
    guard::Allowed,
    http::{Http, body::Body},
    registry::{BackendError, Build, Kind, Problem, known_fields_of, pointer_to},
    template::{Piece, Template},
};

/// How much a response may hold when the contract says nothing: 4 MiB.
pub const DEFAULT_MAX_BYTES: usize = 4 << 20;

pub(crate) const KIND: Kind = Kind::new::<HttpBackendSpec>("http", build);

/// `{"http": {...}}`: an HTTP request.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HttpBackendSpec {
    /// The request.
    pub http: HttpSpec,
}

/// A request whose parts are filled from the arguments (`{name}`, `{a/b}`, `{/json/pointer}`) and
/// the environment (`${NAME}`, `${NAME:-default}`).
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HttpSpec {
    /// GET (the default), HEAD, POST, PUT, PATCH or DELETE.
    #[serde(default)]
    pub method: Option<String>,
    /// Where to. An argument fills part of one path segment or query value; `"{url}"` alone takes
    /// the whole URL from an argument.
    pub url: String,
    /// Query parameters. One whose argument is absent or null is left out; a list repeats it.
    #[serde(default)]
    pub query: Map<String, Value>,
    /// Headers. One whose argument is absent or null is left out.
    #[serde(default)]
    pub headers: Map<String, Value>,
    /// `"arguments"` for the argument object byte for byte, or JSON with placeholders in its
    /// texts. A text that is one placeholder becomes the argument's JSON value.
    #[serde(default, deserialize_with = "present")]
    pub body: Option<Value>,
    /// Credentials.
    #[serde(default)]
    pub auth: Option<Auth>,
    /// Destinations other than public ones and the host that `url` names.
    #[serde(default)]
    pub allow: Vec<Allowed>,
    /// How many bytes a response may hold; 4 MiB when absent.
    #[serde(default)]
    pub max_bytes: Option<usize>,
    /// Whether redirects are followed; they are when absent.
    #[serde(default)]
    pub follow_redirects: Option<bool>,
}

/// Credentials, sent as an `Authorization` header and never across origins.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Auth {
    /// `Authorization: Bearer …` (RFC 6750).
    Bearer(String),
    /// `Authorization: Basic …` (RFC 7617).
    Basic {
        /// The user name.
        username: String,
        /// The password.
        #[serde(default)]
        password: String,
    },
}

/// `"body": null` is a body, no `body` is none.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// The request with its templates read.
pub(crate) struct Plan {
    pub(crate) method: Method,
    pub(crate) url: Template,
    pub(crate) query: Vec<(String, Vec<Template>)>,
    /// By the name as the contract writes it.
    pub(crate) headers: Vec<(String, Template)>,
    pub(crate) body: Option<Body>,
    pub(crate) auth: Option<AuthPlan>,
    pub(crate) allow: Vec<Allowed>,
    pub(crate) max_bytes: usize,
    pub(crate) follow_redirects: bool,
}

pub(crate) enum AuthPlan {
    Bearer(Template),
    Basic(Template, Template),
}

fn build(spec: Map<String, Value>, build: &Build<'_>) -> Result<Arc<dyn Backend>, BackendError> {
    match spec.get("http") {
        Some(Value::Object(http)) => {
            known_fields_of::<HttpSpec>("http", http).map_err(|error| error.below("/http"))?;
        }
        // serde would read a list as the fields in their order.
        _ => return Err(BackendError::invalid("/http", Problem::NotAnObject)),
    }
    let spec: HttpBackendSpec = build.read(spec)?;
    let plan = Plan::read(spec.http).map_err(|error| error.below("/http"))?;
    Ok(Arc::new(Http::new(plan, build.env.clone(), build.resolver.clone())))
}

impl Plan {
    pub(crate) fn read(spec: HttpSpec) -> Result<Self, BackendError> {
        let method = method(spec.method.as_deref())?;
        let url = Template::parse(&spec.url).map_err(BackendError::template("/url"))?;
        let starts_well = match url.0.first() {
            Some(Piece::Text(text)) => {
                let scheme = text.split("://").next().unwrap_or_default().to_ascii_lowercase();
                text.contains("://") && matches!(scheme.as_str(), "http" | "https")
            }
            Some(Piece::Variable(_)) => true,
            // Only as the whole: no other part of a URL can come before the host.
            Some(Piece::Argument(_)) => url.sole_argument().is_some(),
            None => false,
        };
        if !starts_well {
            return Err(BackendError::invalid("/url", Problem::Url { url: spec.url }));
        }
        let query = spec.query.iter().map(|(k, v)| Ok((k.clone(), query_values(k, v)?)));
        let body = match &spec.body {
            Some(_) if matches!(method, Method::GET | Method::HEAD) => {
                let problem = Problem::BodyOnGet { method: method.to_string() };
                return Err(BackendError::invalid("/body", problem));
            }
            body => body.as_ref().map(|b| Body::read(b, "/body")).transpose()?,
        };
        let text = |text: &str, pointer: &str| {
            Template::parse(text).map_err(BackendError::template(pointer))
        };
        let auth = match &spec.auth {
            None => None,
            Some(Auth::Bearer(token)) => Some(AuthPlan::Bearer(text(token, "/auth/bearer")?)),
            Some(Auth::Basic { username, password }) => Some(AuthPlan::Basic(
                text(username, "/auth/basic/username")?,
                text(password, "/auth/basic/password")?,
            )),
        };
        Ok(Self {
            url,
            query: query.collect::<Result<_, BackendError>>()?,
            headers: spec.headers.iter().map(|(k, v)| header(k, v)).collect::<Result<_, _>>()?,
            body,
            auth,
            allow: spec.allow,
            max_bytes: spec.max_bytes.unwrap_or(DEFAULT_MAX_BYTES),
            follow_redirects: spec.follow_redirects.unwrap_or(true),
            method,
        })
    }
}

/// Every placeholder of a plan, with its place in the backend object.
pub(super) fn reads(plan: &Plan) -> Vec<Reads> {
    let mut all = Vec::new();
    let mut add = |at: &str, template: &Template| {
        all.extend(
            template
                .arguments()
                .map(|pointer| Reads { at: format!("/http{at}"), argument: pointer.to_string() }),
        );
    };
    add("/url", &plan.url);
    for (key, values) in &plan.query {
        values.iter().for_each(|value| add(&below("/query", key), value));
    }
    for (name, value) in &plan.headers {
        add(&below("/headers", name), value);
    }
    match &plan.auth {
        None => {}
        Some(AuthPlan::Bearer(token)) => add("/auth/bearer", token),
        Some(AuthPlan::Basic(username, password)) => {
            add("/auth/basic/username", username);
            add("/auth/basic/password", password);
        }
    }
    if let Some(body) = &plan.body {
        all.extend(body.reads("/http/body"));
    }
    all
}

fn method(name: Option<&str>) -> Result<Method, BackendError> {
    match name.unwrap_or("GET").to_ascii_uppercase().as_str() {
        "GET" => Ok(Method::GET),
        "HEAD" => Ok(Method::HEAD),
        "POST" => Ok(Method::POST),
        "PUT" => Ok(Method::PUT),
        "PATCH" => Ok(Method::PATCH),
        "DELETE" => Ok(Method::DELETE),
        other => {
            Err(BackendError::invalid("/method", Problem::Method { method: other.to_owned() }))
        }
    }
}

pub(super) fn below(parent: &str, key: &str) -> String {
    format!("{parent}{}", pointer_to(key))
}

/// One value, or several for a parameter that is repeated.
fn query_values(key: &str, value: &Value) -> Result<Vec<Template>, BackendError> {
    let pointer = below("/query", key);
    let one = |value: &Value| match value {
        Value::String(text) => {
            Template::parse(text).map_err(BackendError::template(pointer.clone()))
        }
        Value::Number(_) | Value::Bool(_) => Ok(Template(vec![Piece::Text(value.to_string())])),
        _ => Err(BackendError::invalid(pointer.clone(), Problem::QueryValue)),
    };
    match value {
        Value::Array(values) => values.iter().map(one).collect(),
        value => Ok(vec![one(value)?]),
    }
}

/// Headers that frame the message or name the virtual host: an argument in one of them could smuggle a
/// second request or reach another site than the guard judged.
const RESERVED: [&str; 8] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

fn header(key: &str, value: &Value) -> Result<(String, Template), BackendError> {
    let pointer = below("/headers", key);
    let name = HeaderName::try_from(key).map_err(|_| {
        BackendError::invalid(pointer.clone(), Problem::HeaderName { name: key.to_owned() })
    })?;
    if RESERVED.contains(&name.as_str()) {
        let problem = Problem::ReservedHeader { name: key.to_owned() };
        return Err(BackendError::invalid(pointer, problem));
    }
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(_) | Value::Bool(_) => value.to_string(),
        _ => return Err(BackendError::invalid(pointer, Problem::QueryValue)),
    };
    Ok((key.to_owned(), Template::parse(&text).map_err(BackendError::template(pointer))?))
}
