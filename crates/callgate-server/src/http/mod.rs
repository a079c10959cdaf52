//! The door to the network: loopback unless a token is set, and checks before anything is routed.
//!
//! - [`HttpServer`]: one address, any router, a clean end.
//! - [`HttpOptions`]: who may come in, and how much of everything.
//! - `guard`: `Host`, `Origin` and token; what fails here reaches no handler.
//! - [`Scope`], [`Identity`]: who a request is from, and what it may do.
//! - `serve`: connections, their limits, and their end.

mod guard;
mod options;
mod scope;
mod serve;

pub use options::{HttpOptions, SHORTEST_TOKEN, Token};
pub use scope::{Identity, Scope, needs};
pub use serve::HttpServer;
