//! The `a2a` object of a contract, and how a remote agent is named.

use std::{collections::BTreeMap, sync::Arc};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{agent::RemoteAgent, tool::A2aTool};
use crate::{
    Backend,
    guard::Allowed,
    http::Auth,
    registry::{BackendError, Build, Kind, Problem, known_fields_of},
    template::Template,
};

pub(crate) const KIND: Kind = Kind::new::<A2aBackendSpec>("a2a", build);

/// How long an agent may show no sign of progress where nothing is said.
const IDLE_SECONDS: u64 = 120;

/// `{"a2a": {"url": "https://agents.example"}}`: a task for an agent elsewhere.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct A2aBackendSpec {
    /// The agent.
    pub a2a: A2aSpec,
}

/// An agent elsewhere, by its card.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct A2aSpec {
    /// Where its card is: an address below which `/.well-known/agent-card.json` lies, or the card
    /// itself (`….json`). May hold `${NAME}`.
    pub url: String,
    /// The one skill that the arguments are for; they travel as data. Without it the arguments are
    /// `task`, `data` and `taskId`.
    #[serde(default)]
    pub skill: Option<String>,
    /// Sent with every request to the card's origin, and to origins in `allow`; nowhere else.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Credentials, sent as the headers are.
    #[serde(default)]
    pub auth: Option<Auth>,
    /// Destinations other than public ones and the host that `url` names: where the card sends
    /// requests to is the agent's word.
    #[serde(default)]
    pub allow: Vec<Allowed>,
    /// How long the agent may show no sign of progress. Default: 120.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub idle_seconds: Option<u64>,
}

/// The same, with its templates read.
pub(super) struct Plan {
    pub(super) url: Template,
    pub(super) headers: Vec<(String, Template)>,
    pub(super) auth: Option<AuthPlan>,
    pub(super) allow: Vec<Allowed>,
    pub(super) idle: std::time::Duration,
}

pub(super) enum AuthPlan {
    Bearer(Template),
    Basic(Template, Template),
}

fn build(spec: Map<String, Value>, build: &Build<'_>) -> Result<Arc<dyn Backend>, BackendError> {
    match spec.get("a2a") {
        Some(Value::Object(a2a)) => {
            known_fields_of::<A2aSpec>("a2a", a2a).map_err(|error| error.below("/a2a"))?;
        }
        _ => return Err(BackendError::invalid("/a2a", Problem::NotAnObject)),
    }
    let A2aBackendSpec { a2a } = build.read(spec)?;
    let (skill, wanted) = (a2a.skill.clone(), build.cards.wanted(&a2a.url));
    let plan = Plan::read(a2a).map_err(|error| error.below("/a2a"))?;
    let agent = RemoteAgent::new(plan, build.env.clone(), build.resolver.clone(), wanted);
    Ok(Arc::new(A2aTool::new(Arc::new(agent), skill)))
}

impl Plan {
    pub(super) fn read(spec: A2aSpec) -> Result<Self, BackendError> {
        let template = |text: &str, at: &str| {
            Template::parse_variables(text).map_err(BackendError::template(at))
        };
        let url = template(&spec.url, "/url")?;
        let scheme = spec.url.split("://").next().unwrap_or_default().to_ascii_lowercase();
        let starts_well = spec.url.starts_with("${")
            || (spec.url.contains("://") && matches!(scheme.as_str(), "http" | "https"));
        if !starts_well {
            return Err(BackendError::invalid("/url", Problem::Url { url: spec.url }));
        }
        let mut headers = Vec::new();
        for (name, value) in &spec.headers {
            let at = format!("/headers{}", crate::registry::pointer_to(name));
            if reqwest::header::HeaderName::try_from(name.as_str()).is_err() {
                return Err(BackendError::invalid(&at, Problem::HeaderName { name: name.clone() }));
            }
            headers.push((name.clone(), template(value, &at)?));
        }
        let auth = match &spec.auth {
            None => None,
            Some(Auth::Bearer(token)) => Some(AuthPlan::Bearer(template(token, "/auth/bearer")?)),
            Some(Auth::Basic { username, password }) => Some(AuthPlan::Basic(
                template(username, "/auth/basic/username")?,
                template(password, "/auth/basic/password")?,
            )),
        };
        let idle = spec.idle_seconds.unwrap_or(IDLE_SECONDS).max(1);
        let idle = std::time::Duration::from_secs(idle);
        Ok(Self { url, headers, auth, allow: spec.allow, idle })
    }
}
