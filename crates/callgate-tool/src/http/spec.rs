//! The `http` object of a contract, as written and as checked.

use std::{collections::BTreeMap, sync::Arc};

use reqwest::{Method, header::HeaderName};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    Backend, Reads,
    guard::Allowed,
    http::{
        Content, Http,
        field::{Field, Repeated, Written, goes_there, shaped},
        multipart::InParts,
        payload::{IN_FIELDS, Payload},
        style::{How, Style},
    },
    registry::{BackendError, Build, Kind, Problem, known_fields_of, pointer_to},
    template::{Piece, Pointer, Template},
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
    /// GET (the default), HEAD, POST, PUT, PATCH, DELETE or OPTIONS.
    #[serde(default)]
    pub method: Option<String>,
    /// Where to. An argument fills part of one path segment or query value; `"{url}"` alone takes
    /// the whole URL from an argument.
    pub url: String,
    /// How placeholders of the URL's path are written whose arguments are lists or objects:
    /// `{"ids": {"style": "simple"}}` for `/items/{ids}`.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, InPath>")]
    pub path: Map<String, Value>,
    /// Query parameters. One whose argument is absent or null is left out; a list repeats it, and
    /// `{"value": "{ids}", "style": "form", "explode": false}` writes it in one of OpenAPI's styles.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Repeated>")]
    pub query: Map<String, Value>,
    /// Headers. One whose argument is absent or null is left out. A list or an object is written
    /// with `{"value": "{ids}", "style": "simple"}`.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Written>")]
    pub headers: Map<String, Value>,
    /// Cookies, as `headers`.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Written>")]
    pub cookies: Map<String, Value>,
    /// `"arguments"` for the argument object byte for byte, or JSON with placeholders in its
    /// texts. A text that is one placeholder becomes the argument's JSON value.
    #[serde(default, deserialize_with = "present")]
    pub body: Option<Value>,
    /// A body of `application/x-www-form-urlencoded`: fields as in `query`.
    #[serde(default)]
    #[schemars(with = "Option<BTreeMap<String, Repeated>>")]
    pub form: Option<Map<String, Value>>,
    /// A body of `multipart/form-data`: fields as in `query`, each a part, and content:
    /// `{"text": "{csv}", "filename": "a.csv", "contentType": "text/csv"}`, `{"base64": "{data}"}`
    /// or `{"file": "{file}"}`.
    #[serde(default)]
    #[schemars(with = "Option<BTreeMap<String, InParts>>")]
    pub multipart: Option<Map<String, Value>>,
    /// A body sent as it is: `{"text": "{xml}", "contentType": "text/xml"}`, `{"base64": "{data}"}`
    /// or `{"file": "{file}"}`. Without its argument there is no body.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Option<Content>")]
    pub raw: Option<Value>,
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
    /// By their placeholders in the URL.
    pub(crate) path: Vec<(Pointer, PathStyle)>,
    pub(crate) query: Vec<(String, Vec<Field>)>,
    /// By the name as the contract writes it.
    pub(crate) headers: Vec<(String, Field)>,
    pub(crate) cookies: Vec<(String, Field)>,
    pub(crate) payload: Option<Payload>,
    pub(crate) auth: Option<AuthPlan>,
    pub(crate) allow: Vec<Allowed>,
    pub(crate) max_bytes: usize,
    pub(crate) follow_redirects: bool,
}

/// How a placeholder in the path is written.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct InPath {
    /// `simple`, `label`, `matrix` or `json`.
    style: Style,
    /// Whether each item or member stands for itself; it does not when absent.
    #[serde(default)]
    explode: Option<bool>,
    /// What `matrix` calls it, where that is not the argument's name.
    #[serde(default)]
    name: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct PathStyle {
    pub(crate) how: How,
    pub(crate) name: String,
}

const IN_PATH: &[Style] = &[Style::Simple, Style::Label, Style::Matrix, Style::Json];
const IN_HEADERS: &[Style] = &[Style::Simple, Style::Json];

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
        let path = path_styles(&spec.path, &url)?;
        let query = spec
            .query
            .iter()
            .map(|(k, v)| Ok((k.clone(), Field::read_several(v, &below("/query", k), IN_FIELDS)?)));
        let payload = match Payload::read(&spec)? {
            Some((_, place)) if matches!(method, Method::GET | Method::HEAD) => {
                let problem = Problem::BodyOnGet { method: method.to_string() };
                return Err(BackendError::invalid(place, problem));
            }
            payload => payload.map(|(payload, _)| payload),
        };
        let headers: Vec<(String, Field)> =
            spec.headers.iter().map(|(k, v)| header(k, v)).collect::<Result<_, _>>()?;
        for (name, _) in &headers {
            let is_parts = matches!(payload, Some(Payload::Multipart(_)));
            let is_taken = (is_parts && name.eq_ignore_ascii_case("content-type"))
                || (!spec.cookies.is_empty() && name.eq_ignore_ascii_case("cookie"));
            if is_taken {
                let problem = Problem::ReservedHeader { name: name.clone() };
                return Err(BackendError::invalid(below("/headers", name), problem));
            }
        }
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
            headers,
            cookies: spec.cookies.iter().map(|(k, v)| cookie(k, v)).collect::<Result<_, _>>()?,
            path,
            payload,
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
    let mut add = |at: &str, arguments: Vec<&Pointer>| {
        all.extend(
            arguments
                .into_iter()
                .map(|pointer| Reads { at: format!("/http{at}"), argument: pointer.to_string() }),
        );
    };
    add("/url", plan.url.arguments().collect());
    for (key, values) in &plan.query {
        values.iter().for_each(|value| add(&below("/query", key), value.arguments()));
    }
    for (place, fields) in [("/headers", &plan.headers), ("/cookies", &plan.cookies)] {
        for (name, value) in fields {
            add(&below(place, name), value.arguments());
        }
    }
    match &plan.auth {
        None => {}
        Some(AuthPlan::Bearer(token)) => add("/auth/bearer", token.arguments().collect()),
        Some(AuthPlan::Basic(username, password)) => {
            add("/auth/basic/username", username.arguments().collect());
            add("/auth/basic/password", password.arguments().collect());
        }
    }
    all.extend(plan.payload.iter().flat_map(Payload::reads));
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
        "OPTIONS" => Ok(Method::OPTIONS),
        other => {
            Err(BackendError::invalid("/method", Problem::Method { method: other.to_owned() }))
        }
    }
}

pub(super) fn below(parent: &str, key: &str) -> String {
    format!("{parent}{}", pointer_to(key))
}

fn path_styles(
    styles: &Map<String, Value>,
    url: &Template,
) -> Result<Vec<(Pointer, PathStyle)>, BackendError> {
    let mut all = Vec::new();
    for (key, value) in styles {
        let pointer = below("/path", key);
        let Value::Object(object) = value else {
            return Err(BackendError::invalid(pointer, Problem::NotAnObject));
        };
        let style: InPath = shaped("path style", object, &pointer)?;
        goes_there(style.style, &format!("{pointer}/style"), IN_PATH)?;
        let placeholder = Template::parse(&format!("{{{key}}}")).ok();
        let placeholder = placeholder.as_ref().and_then(Template::sole_argument);
        let placeholder = placeholder.filter(|wanted| url.arguments().any(|p| p == *wanted));
        let Some(placeholder) = placeholder else {
            let problem = Problem::NoPlaceholder { name: key.clone() };
            return Err(BackendError::invalid(pointer, problem));
        };
        let last = placeholder.0.last().cloned().unwrap_or_default();
        let how = How::new(style.style, style.explode);
        let name = style.name.unwrap_or(last);
        all.push((placeholder.clone(), PathStyle { how, name }));
    }
    Ok(all)
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

fn header(key: &str, value: &Value) -> Result<(String, Field), BackendError> {
    let pointer = below("/headers", key);
    let name = HeaderName::try_from(key).map_err(|_| {
        BackendError::invalid(pointer.clone(), Problem::HeaderName { name: key.to_owned() })
    })?;
    if RESERVED.contains(&name.as_str()) {
        let problem = Problem::ReservedHeader { name: key.to_owned() };
        return Err(BackendError::invalid(pointer, problem));
    }
    Ok((key.to_owned(), Field::read(value, &pointer, IN_HEADERS)?))
}

fn cookie(key: &str, value: &Value) -> Result<(String, Field), BackendError> {
    let pointer = below("/cookies", key);
    // A cookie's name is a token as a header's is (RFC 6265 4.1.1).
    if HeaderName::try_from(key).is_err() {
        let problem = Problem::CookieName { name: key.to_owned() };
        return Err(BackendError::invalid(pointer, problem));
    }
    Ok((key.to_owned(), Field::read(value, &pointer, IN_HEADERS)?))
}
