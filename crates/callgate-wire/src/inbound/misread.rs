//! A request that cannot be served as it is.

/// What in a body is wrong or cannot be had here, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Misread {
    /// What, and what to do about it, for the client's developer.
    pub message: String,
    /// Where, as the provider spells paths: `messages[1].content[0]`, `tools.0.input_schema`.
    pub param: Option<String>,
}

impl Misread {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), param: None }
    }
}
