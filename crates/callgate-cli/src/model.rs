//! Which model thinks, and what it takes to have it.

use std::sync::Arc;

use callgate::model::{Model, Registry};

use crate::failure::{Failure, no_model};

/// The model that needs neither key nor server.
pub(crate) const LOCAL: &str = "local:qwen2.5-coder-1.5b";

/// How a build without it comes by the local model.
#[cfg(not(feature = "local"))]
pub(crate) const NOT_LOCAL: &str = "this callgate was built without the local model; build it with `cargo install --path crates/callgate-cli --features local`, or name another model such as openai:gpt-5.4 or ollama:qwen3:8b";

/// The providers of this build.
pub(crate) fn registry() -> Registry {
    let registry = callgate::model::registry();
    #[cfg(not(feature = "local"))]
    let registry = registry.with_provider("local", |_| Err(NOT_LOCAL.into()));
    registry
}

/// The model that is asked for: by option or variable, else by the project.
pub(crate) fn open(
    chosen: Option<&str>,
    project: Option<&str>,
    base_url: Option<&str>,
) -> Result<Arc<dyn Model>, Failure> {
    let given = |name: Option<&'_ str>| {
        name.map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned)
    };
    let spec = given(chosen).or_else(|| given(project)).ok_or_else(no_model)?;
    let model = registry().open(&spec, base_url).map_err(|error| Failure::from(&error))?;
    Ok(Arc::from(model))
}
