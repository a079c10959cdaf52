//! What can go wrong between a GGUF file and a reply.

use std::path::PathBuf;

/// A failure of the engine in this process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LocalError {
    /// The file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The model's file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no GGUF, or a torn one.
    #[error("{} is no usable GGUF file: {}", path.display(), first_line(source))]
    Gguf {
        /// The model's file.
        path: PathBuf,
        /// What the reader stumbled over.
        source: candle_core::Error,
    },
    /// A metadata entry that the model needs.
    #[error("the GGUF file has no usable `{0}`")]
    Metadata(&'static str),
    /// An architecture without a model file here.
    #[error(
        "architecture `{0}` is not supported; this engine runs {known}",
        known = crate::model::Architecture::NAMES.join(" and ")
    )]
    Architecture(String),
    /// A tokenizer whose ids would come out wrong.
    #[error(
        "tokenizer `{0}` is not supported; this engine reads byte-level BPE (`gpt2`) vocabularies"
    )]
    Tokenizer(String),
    /// A chat template whose turns we cannot write.
    #[error("the model's chat template is none that this engine writes (ChatML, Llama 3)")]
    Template,
    /// The tokenizer refused a text.
    #[error("cannot tokenize: {0}")]
    Tokenize(#[source] tokenizers::Error),
    /// Arithmetic failed: wrong shapes in the file, or memory.
    #[error("the model cannot be evaluated: {}", first_line(.0))]
    Evaluate(#[from] candle_core::Error),
    /// Prompt and reply do not fit the context.
    #[error("{needed} tokens do not fit the context of {limit}")]
    Context {
        /// Tokens asked for.
        needed: usize,
        /// Tokens that fit.
        limit: usize,
    },
    /// The grammar library refused its input or lost its way.
    #[error("constrained decoding failed: {0}")]
    Grammar(GrammarFault),
    /// A schema or arguments text that is no JSON.
    #[error("no JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// Nobody waits for the reply any more.
    #[error("cancelled")]
    Cancelled,
    /// The thread that runs the model could not be started.
    #[error("cannot start the model's thread: {0}")]
    Thread(#[source] std::io::Error),
}

/// The library's words without the backtrace that it appends where backtraces are on.
fn first_line(error: &candle_core::Error) -> String {
    error.to_string().lines().next().unwrap_or_default().trim().to_owned()
}

/// The grammar library's own words; it has no typed errors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct GrammarFault(pub(crate) String);

impl LocalError {
    pub(crate) fn grammar(words: impl std::fmt::Display) -> Self {
        Self::Grammar(GrammarFault(words.to_string()))
    }
}
