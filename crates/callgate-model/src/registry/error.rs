//! Why a model could not be opened, in words that say what to write instead.

use crate::{EndpointError, ScriptError};

/// A model that runs without a key or a server.
pub(super) const LOCAL_MODEL: &str = "local:qwen2.5-coder-1.5b";

/// A model that cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// No `provider:` in front.
    #[error("{spec:?} names no provider: write provider:model, here perhaps {suggestion:?}. Providers: {}", known.join(", "))]
    NoProvider {
        /// What was given.
        spec: String,
        /// What was perhaps meant.
        suggestion: String,
        /// The names that are known.
        known: Vec<String>,
    },
    /// A provider that nobody knows.
    #[error("unknown provider {name:?} in {spec:?}{} Providers: {}. Another OpenAI-compatible server goes by compat:MODEL with its base URL", did_you_mean(suggestion.as_deref()), known.join(", "))]
    UnknownProvider {
        /// What was given.
        spec: String,
        /// The part that should name a provider.
        name: String,
        /// What was perhaps meant, as a whole.
        suggestion: Option<String>,
        /// The names that are known.
        known: Vec<String>,
    },
    /// A provider whose own API is not spoken yet.
    #[error("{name} is not in this version yet. Until then: {}an OpenAI-compatible gateway (compat:MODEL with its base URL), or {LOCAL_MODEL}, which needs no key", router.as_ref().map(|model| format!("{model} with OPENROUTER_API_KEY, ")).unwrap_or_default())]
    NotYet {
        /// The provider.
        name: String,
        /// How the model is written at OpenRouter, where it is there.
        router: Option<String>,
    },
    /// Nothing after the provider.
    #[error("{spec:?} names no model: write {example:?}, for example")]
    NoModel {
        /// What was given.
        spec: String,
        /// A whole specification.
        example: String,
    },
    /// A provider that wants a key, and none is set.
    #[error("{provider} needs a key: set {}, or use {LOCAL_MODEL}, which needs none", vars.join(" or "))]
    NoKey {
        /// The provider.
        provider: String,
        /// The variables that would be read.
        vars: Vec<String>,
    },
    /// A provider without a place of its own, and none is set.
    #[error("{provider} stands for any OpenAI-compatible server and needs its base URL: give one, or set {}", vars.join(" or "))]
    NoBaseUrl {
        /// The provider.
        provider: String,
        /// The variables that would be read.
        vars: Vec<String>,
    },
    /// A base URL or key that cannot be used.
    #[error("{from}: {source}")]
    Endpoint {
        /// Where it came from.
        from: String,
        /// What is wrong with it.
        source: EndpointError,
    },
    /// A script that cannot be loaded.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// A provider that the caller added could not open the model.
    #[error("{spec}: {source}")]
    Added {
        /// What was given.
        spec: String,
        /// Its own words.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(|| ".".to_owned(), |meant| format!(": did you mean {meant:?}?"))
}
