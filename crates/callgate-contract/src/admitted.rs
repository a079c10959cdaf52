//! Arguments that passed every gate.

use std::sync::Arc;

/// An argument object that its contract admits, as JSON text.
///
/// Only the gate makes one, so a backend that takes it cannot be reached by anything else. The
/// text is what the model wrote, byte for byte, wherever nothing was repaired, coerced or
/// restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admitted {
    text: Arc<str>,
}

impl Admitted {
    pub(crate) fn new(text: Arc<str>) -> Self {
        Self { text }
    }

    /// Arguments that a gate admitted when the event that holds them was recorded.
    ///
    /// For folding a journal. Whoever makes one of anything else takes the gate's place.
    pub fn recorded(text: Arc<str>) -> Self {
        Self { text }
    }

    /// The object as JSON text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The object as JSON text, shared.
    pub fn shared(&self) -> Arc<str> {
        self.text.clone()
    }

    /// The object as a value. Numbers beyond 64 bits become floats here: what has to keep its
    /// digits reads [`text`](Self::text).
    pub fn to_value(&self) -> serde_json::Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }
}
