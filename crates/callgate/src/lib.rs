//! Agents whose tool calls are right: what Rust people import
