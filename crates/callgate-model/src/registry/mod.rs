//! From `provider:model` to a model.
//!
//! ```
//! use callgate_model::{Model, Registry};
//!
//! let env = |name: &str| (name == "OPENAI_API_KEY").then(|| "sk-test".to_owned());
//! let registry = Registry::new(env);
//! assert_eq!(registry.open("openai/gpt-5.4", None)?.id(), "openai:gpt-5.4");
//!
//! let error = registry.open("openia:gpt-5.4", None).err().unwrap();
//! assert!(error.to_string().contains("did you mean \"openai:gpt-5.4\""));
//! # Ok::<(), callgate_model::RegistryError>(())
//! ```

mod error;
mod providers;

use callgate_wire::chat::Profile;

use self::providers::{Api, Auth, Version};

pub use self::{
    error::RegistryError,
    providers::{PROVIDERS, Provider},
};
use crate::{Endpoint, EndpointError, HttpModel, HttpOptions, Model, ScriptedModel};

type Env = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;
type Opened = Result<Box<dyn Model>, Box<dyn std::error::Error + Send + Sync>>;
type Factory = Box<dyn Fn(&str) -> Opened + Send + Sync>;

/// The providers by name, and the environment they are set up from.
pub struct Registry {
    env: Env,
    options: HttpOptions,
    added: Vec<(String, Factory)>,
}

/// Where a specification leads, and which settings decided it. Holds no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The provider's name.
    pub provider: &'static str,
    /// The provider's own name of the model.
    pub model: String,
    /// The base URL, without credentials or query.
    pub base_url: String,
    /// The variable that set the base URL; `None` for the provider's own or the caller's.
    pub base_url_from: Option<&'static str>,
    /// The variable that holds the key; `None` where none is sent.
    pub key_from: Option<&'static str>,
}

impl Registry {
    /// A registry that reads these variables. An empty value counts as none.
    pub fn new(env: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self { env: Box::new(env), options: HttpOptions::default(), added: Vec::new() }
    }

    /// A registry that reads the environment of this process.
    pub fn from_env() -> Self {
        Self::new(|name| std::env::var(name).ok())
    }

    /// With other timeouts, retries and limits.
    #[must_use]
    pub fn with_http_options(mut self, options: HttpOptions) -> Self {
        self.options = options;
        self
    }

    /// With one more provider, such as `local`. It gets what stands after the colon, and comes
    /// before a built-in one of the same name.
    #[must_use]
    pub fn with_provider<F>(mut self, name: &str, factory: F) -> Self
    where
        F: Fn(&str) -> Opened + Send + Sync + 'static,
    {
        self.added.push((name.to_owned(), Box::new(factory)));
        self
    }

    /// The model of a specification: `provider:model`, or `provider/model`.
    ///
    /// `base_url` overrides the provider's own and what variables say. `script:FILE` is a
    /// [`ScriptedModel`].
    ///
    /// # Errors
    /// Each says what to write or to set instead.
    pub fn open(
        &self,
        spec: &str,
        base_url: Option<&str>,
    ) -> Result<Box<dyn Model>, RegistryError> {
        let (name, model) = self.split(spec)?;
        if let Some((_, factory)) = self.added.iter().rfind(|(added, _)| added == name) {
            let added = |source| RegistryError::Added { spec: spec.to_owned(), source };
            return factory(model).map_err(added);
        }
        if name == "script" {
            return Ok(Box::new(ScriptedModel::load(model)?));
        }
        let (provider, resolved, endpoint) = self.endpoint(spec, name, model, base_url)?;
        let codec = api(provider, &resolved).codec();
        HttpModel::new(provider.name, model, codec, endpoint, self.options.clone())
            .map(|model| Box::new(model) as Box<dyn Model>)
            .map_err(|source| RegistryError::Endpoint { from: spec.to_owned(), source })
    }

    /// Where a specification of an HTTP provider leads, without going there.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn resolve(&self, spec: &str, base_url: Option<&str>) -> Result<Resolved, RegistryError> {
        let (name, model) = self.split(spec)?;
        Ok(self.endpoint(spec, name, model, base_url)?.1)
    }

    /// The hosted providers whose key is set, with the variable that holds it. Of those that share
    /// a key, the first.
    pub fn with_keys(&self) -> impl Iterator<Item = (&'static Provider, &'static str)> {
        let mut seen = Vec::new();
        PROVIDERS
            .iter()
            .filter(|provider| provider.needs_key)
            .filter_map(|provider| Some((provider, self.first(provider.key_vars)?.0)))
            .filter(move |(_, var)| {
                let new = !seen.contains(var);
                seen.push(*var);
                new
            })
    }

    /// All names that may stand before the colon.
    pub fn names(&self) -> Vec<String> {
        let built_in = PROVIDERS.iter().map(|provider| provider.name).chain(["script"]);
        let mut names: Vec<String> = built_in.map(str::to_owned).collect();
        for (name, _) in self.added.iter().rev() {
            if !names.contains(name) {
                names.insert(0, name.clone());
            }
        }
        names
    }

    fn split<'a>(&self, spec: &'a str) -> Result<(&'a str, &'a str), RegistryError> {
        let spec = spec.trim();
        let Some((name, model)) = spec.split_once([':', '/']) else {
            // Only the provider's name, perhaps.
            if self.knows(spec) {
                return Err(no_model(spec, spec));
            }
            let suggestion = format!("{}:{spec}", providers::guess(spec));
            let known = self.names();
            return Err(RegistryError::NoProvider { spec: spec.to_owned(), suggestion, known });
        };
        if self.knows(name) {
            return if model.is_empty() { Err(no_model(spec, name)) } else { Ok((name, model)) };
        }
        let not_yet = |(known, _): &&(&str, _)| name.eq_ignore_ascii_case(known);
        if let Some((name, family)) = providers::NOT_YET.iter().find(not_yet) {
            let model = if model.is_empty() { "MODEL" } else { model };
            let router = family.map(|family| format!("openrouter:{family}/{model}"));
            return Err(RegistryError::NotYet { name: (*name).to_owned(), router });
        }
        Err(RegistryError::UnknownProvider {
            spec: spec.to_owned(),
            name: name.to_owned(),
            suggestion: self.suggest(spec, name, model),
            known: self.names(),
        })
    }

    fn knows(&self, name: &str) -> bool {
        name == "script"
            || providers::find(name).is_some()
            || self.added.iter().any(|(added, _)| added == name)
    }

    fn suggest(&self, spec: &str, name: &str, model: &str) -> Option<String> {
        let lower = name.to_ascii_lowercase();
        let aliases = PROVIDERS.iter().flat_map(|provider| provider.aliases.iter().copied());
        let near = self
            .names()
            .into_iter()
            .chain(aliases.map(str::to_owned))
            .map(|known| (strsim::damerau_levenshtein(&lower, &known), known))
            .min()
            .filter(|(distance, known)| *distance <= 2 && *distance < known.len().min(lower.len()));
        match near {
            Some((_, known)) => Some(format!("{known}:{model}")),
            // A path, or a model of Ollama's with its own colon.
            None if name.is_empty() => None,
            None => Some(format!("{}:{spec}", providers::guess(spec))),
        }
    }

    /// The first of these variables that is set.
    fn first(&self, vars: &[&'static str]) -> Option<(&'static str, String)> {
        vars.iter().find_map(|var| {
            let value = (self.env)(var)?.trim().to_owned();
            (!value.is_empty()).then_some((*var, value))
        })
    }

    fn endpoint(
        &self,
        spec: &str,
        name: &str,
        model: &str,
        base_url: Option<&str>,
    ) -> Result<(&'static Provider, Resolved, Endpoint), RegistryError> {
        let Some(provider) = providers::find(name) else {
            return Err(RegistryError::UnknownProvider {
                spec: spec.to_owned(),
                name: name.to_owned(),
                suggestion: None,
                known: self.names(),
            });
        };
        let owned = |vars: &[&str]| vars.iter().map(|var| (*var).to_owned()).collect();
        let set = self.first(provider.base_url_vars).filter(|_| base_url.is_none());
        let base_url_from = set.as_ref().map(|(var, _)| *var);
        let chosen = base_url.map(str::to_owned).or(set.map(|(_, value)| value));
        let own_place = chosen.is_none();
        let Some(base) = chosen.or_else(|| provider.base_url.map(str::to_owned)) else {
            let vars = owned(provider.base_url_vars);
            return Err(RegistryError::NoBaseUrl { provider: provider.name.to_owned(), vars });
        };

        // The hint of a hosted provider speaks of being online; elsewhere it is a server's.
        let elsewhere = provider.needs_key && !own_place;
        let hint = if elsewhere { providers::ELSEWHERE } else { provider.hint };
        let from = |what: &str| {
            let from = what.to_owned();
            move |source: EndpointError| RegistryError::Endpoint { from, source }
        };
        let mut endpoint = Endpoint::new(&completed(provider, &base))
            .map_err(from(base_url_from.unwrap_or("base URL")))?
            .hint(hint);
        let key = self.first(provider.key_vars);
        let key_from = key.as_ref().map(|(var, _)| *var);
        match key {
            Some((var, key)) => {
                endpoint = match provider.auth {
                    Auth::Bearer => endpoint.bearer(&key, var),
                    Auth::Header(name) => endpoint.key_header(name, &key, var),
                }
                .map_err(from(var))?;
            }
            // Somewhere else than at the provider's own place, a key may not be needed.
            None if provider.needs_key && own_place => {
                let vars = owned(provider.key_vars);
                return Err(RegistryError::NoKey { provider: provider.title.to_owned(), vars });
            }
            None => {}
        }
        for (var, header) in provider.header_vars {
            if let Some((_, value)) = self.first(&[var]) {
                endpoint = endpoint.header(header, &value).map_err(from(var))?;
            }
        }
        let resolved = Resolved {
            provider: provider.name,
            model: model.to_owned(),
            base_url: endpoint.shown(),
            base_url_from,
            key_from,
        };
        Ok((provider, resolved, endpoint))
    }
}

/// A base URL as people write it, made whole: a scheme where there is only `host:port`, the API's
/// version where it is usual to leave it out, an address to connect to where there is one to listen
/// at.
fn completed(provider: &Provider, base: &str) -> String {
    let base = base.trim();
    let (scheme, rest) = match base.split_once("://") {
        Some(parts) => parts,
        None if !provider.needs_key || provider.version != Version::None => ("http", base),
        None => return base.to_owned(),
    };
    let (rest, query) = match rest.split_once('?') {
        Some((rest, query)) => (rest, format!("?{query}")),
        None => (rest, String::new()),
    };
    let mut rest = rest.trim_end_matches('/').to_owned();
    if let Some(port) = rest.strip_prefix("0.0.0.0") {
        rest = format!("127.0.0.1{port}");
    }
    let is_bare = !rest.is_empty() && !rest.contains('/');
    let version = match provider.version {
        _ if rest.is_empty() => "",
        Version::OfBare(version) if is_bare => version,
        Version::Missing(version) if !has_version(&rest) => version,
        Version::Root => {
            for client in ["/v1", "/api"] {
                rest = rest.strip_suffix(client).unwrap_or(&rest).to_owned();
            }
            ""
        }
        _ => "",
    };
    format!("{scheme}://{rest}{version}{query}")
}

/// Whether a part of the path is a version, such as `v1` or `v1beta`.
fn has_version(url: &str) -> bool {
    let is_version = |part: &str| {
        part.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    url.split('/').skip(1).any(is_version)
}

/// OpenAI's own API and dialect are for OpenAI; another server at its base URL is a compatible one,
/// unless the API was named.
fn api(provider: &Provider, resolved: &Resolved) -> Api {
    let by_place = matches!(provider.name, "openai" | "openai-chat");
    if !by_place || resolved.base_url.contains("://api.openai.com/") {
        provider.api
    } else {
        Api::Chat(Profile::compatible())
    }
}

fn no_model(spec: &str, name: &str) -> RegistryError {
    let example = match providers::find(name) {
        Some(provider) => format!("{}:{}", provider.name, provider.example),
        None if name == "script" => "script:replies.json".to_owned(),
        None => error::LOCAL_MODEL.to_owned(),
    };
    RegistryError::NoModel { spec: spec.to_owned(), example }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry").field("names", &self.names()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
