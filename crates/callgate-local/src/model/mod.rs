//! One dense transformer for two families: `llama` (SmolLM2, Llama 3) and `qwen2` (Qwen2, Qwen2.5).
//!
//! Our own file rather than `candle-transformers`' because a session needs what those models do
//! not give: weights shared by `&self`, a cache that belongs to the caller and can be cut back to a
//! common prefix, and an embedding table that stays quantised (half a gigabyte less at 0.5B).

mod config;
mod kv;
mod weights;

pub use config::Architecture;
pub(crate) use config::{Config, number, text};
pub(crate) use kv::Kv;
pub(crate) use weights::Weights;
