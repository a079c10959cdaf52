//! And if there is no server? A GGUF model in this process.
#![forbid(unsafe_code)]

mod bound;
mod cache;
mod decode;
mod error;
mod gguf;
mod grammar;
mod local;
mod model;
mod prompt;
mod session;
pub mod store;
mod template;
#[cfg(test)]
mod testing;
mod tokenizer;
mod turn;

pub use error::{GrammarFault, LocalError};
pub use gguf::GgufFacts;
pub use local::{LocalModel, LocalOptions};
pub use model::Architecture;
pub use template::Template;
