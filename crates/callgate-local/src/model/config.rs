//! What the metadata says about a model's shape.

use candle_core::quantized::gguf_file::{Content, Value};

use crate::LocalError;

/// A family of models that this engine evaluates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Architecture {
    /// Llama and its look-alikes: rotary embedding over neighbouring pairs, no bias.
    Llama,
    /// Qwen2 and Qwen2.5: rotary embedding over halves, bias on query, key and value.
    Qwen2,
}

impl Architecture {
    /// The words of `general.architecture`.
    pub const NAMES: [&'static str; 2] = ["llama", "qwen2"];

    /// From the metadata.
    ///
    /// # Errors
    /// A file without the entry, or with another family.
    pub fn of(content: &Content) -> Result<Self, LocalError> {
        match text(content, "general.architecture") {
            Some("llama") => Ok(Self::Llama),
            Some("qwen2") => Ok(Self::Qwen2),
            Some(other) => Err(LocalError::Architecture(other.to_owned())),
            None => Err(LocalError::Metadata("general.architecture")),
        }
    }

    fn prefix(self) -> &'static str {
        match self {
            Self::Llama => "llama",
            Self::Qwen2 => "qwen2",
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) architecture: Architecture,
    pub(crate) layers: usize,
    pub(crate) heads: usize,
    pub(crate) kv_heads: usize,
    pub(crate) embedding: usize,
    pub(crate) head: usize,
    pub(crate) context: usize,
    pub(crate) rope_base: f32,
    pub(crate) epsilon: f32,
}

impl Config {
    pub(crate) fn read(content: &Content, max_context: usize) -> Result<Self, LocalError> {
        let architecture = Architecture::of(content)?;
        let value = |key: &str| content.metadata.get(&format!("{}.{key}", architecture.prefix()));
        let count = |key: &'static str| {
            value(key).and_then(number).filter(|n| *n > 0).ok_or(LocalError::Metadata(key))
        };
        let float = |key: &str| value(key).and_then(|v| v.to_f32().ok());
        let heads = count("attention.head_count")?;
        let embedding = count("embedding_length")?;
        // Absent means that every query head has its own key and value.
        let kv_heads = count("attention.head_count_kv").unwrap_or(heads);
        if embedding % heads != 0 || heads % kv_heads != 0 {
            return Err(LocalError::Metadata("attention.head_count"));
        }
        Ok(Self {
            architecture,
            layers: count("block_count")?,
            heads,
            kv_heads,
            embedding,
            head: embedding / heads,
            context: count("context_length")?.min(max_context),
            rope_base: float("rope.freq_base").unwrap_or(10_000.0),
            epsilon: float("attention.layer_norm_rms_epsilon")
                .ok_or(LocalError::Metadata("attention.layer_norm_rms_epsilon"))?,
        })
    }
}

pub(crate) fn text<'a>(content: &'a Content, key: &str) -> Option<&'a str> {
    content.metadata.get(key).and_then(|v| v.to_string().ok()).map(String::as_str)
}

pub(crate) fn number(value: &Value) -> Option<usize> {
    match value {
        Value::U8(n) => Some(usize::from(*n)),
        Value::U16(n) => Some(usize::from(*n)),
        Value::U32(n) => usize::try_from(*n).ok(),
        Value::U64(n) => usize::try_from(*n).ok(),
        Value::I32(n) => usize::try_from(*n).ok(),
        Value::I64(n) => usize::try_from(*n).ok(),
        _ => None,
    }
}
