//! Models by name.
//!
//! `provider:model` (or `provider/model`): `openai:gpt-5.4`, `ollama:qwen3`, `script:replies.json`;
//! with the feature `local` also `local:qwen2.5-coder-1.5b`, a model in this process. Keys and
//! base URLs come from the environment under their usual names.

use std::sync::Arc;

pub use callgate_model::{
    HttpOptions, Model, OnDelta, PROVIDERS, Provider, Registry, RegistryError, ReplyFuture,
    ScriptError, ScriptedModel,
};

/// Why a model cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The name leads nowhere, or something it needs is missing.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The script cannot be read.
    #[error(transparent)]
    Script(#[from] ScriptError),
}

/// Opens a model by its name.
pub type OpenModel<'a> = dyn Fn(&str) -> Result<Arc<dyn Model>, ModelError> + 'a;

/// A model by its name, with the process's environment.
///
/// # Errors
/// An unknown provider, a missing key or model file: each says what to do.
pub fn open(spec: &str, base_url: Option<&str>) -> Result<Arc<dyn Model>, ModelError> {
    Ok(Arc::from(registry().open(spec, base_url)?))
}

/// The providers that [`open`] knows.
pub fn registry() -> Registry {
    let registry = Registry::from_env();
    #[cfg(feature = "local")]
    let registry = registry.with_provider("local", |name| {
        let store = callgate_local::store::Store::open()?;
        Ok(Box::new(store.load(name)?))
    });
    registry
}

/// A model that gives prepared replies, for tests: `{"replies": [{"text": …}, {"calls": […]}]}`.
///
/// # Errors
/// The JSON is no script.
pub fn scripted(json: &str) -> Result<Arc<dyn Model>, ModelError> {
    Ok(Arc::new(ScriptedModel::from_json(json)?))
}

/// What can be given where a model is wanted: its name, or the model itself.
pub trait IntoModel {
    /// The model.
    ///
    /// # Errors
    /// The name leads nowhere.
    fn into_model(self) -> Result<Arc<dyn Model>, ModelError>;
}

impl IntoModel for &str {
    fn into_model(self) -> Result<Arc<dyn Model>, ModelError> {
        open(self, None)
    }
}

impl IntoModel for Arc<dyn Model> {
    fn into_model(self) -> Result<Arc<dyn Model>, ModelError> {
        Ok(self)
    }
}
