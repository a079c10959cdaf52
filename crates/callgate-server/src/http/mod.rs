//! The door to the network: loopback unless a token is set, and checks before anything is routed.
//!
//! - [`HttpServer`]: one address, any router, a clean end.
//! - [`HttpOptions`]: who may come in, and how much of everything.
//! - `door`: the order of the checks; what fails here reaches no handler. `guard`: `Host` and
//!   `Origin`. `bodies`: read whole, within their limits. `origin`: what pages are told. [`Refusal`]: how a refusal is worded.
//! - [`Token`], [`TokensFile`]: secrets, kept as hashes. [`Rate`]: how often.
//! - [`Scope`], [`Identity`], [`needs`]: who a request is from, and what it may do.
//! - [`Ready`]: what `/readyz` says. [`Watch`]: who hears of requests. [`TraceContext`]: the trace
//!   that a request belongs to.
//! - `serve`: connections, their limits, and their end. `timed`: clients that read nothing.
//!   [`TlsFiles`]: TLS.

mod bodies;
mod door;
mod guard;
mod options;
mod origin;
mod rate;
mod ready;
mod refusal;
mod scope;
mod serve;
mod timed;
mod tls;
mod tokens;
mod trace;

pub use options::{HttpOptions, Passed, Watch};
pub use rate::Rate;
pub use ready::Ready;
pub use refusal::Refusal;
pub(crate) use scope::lacks;
pub use scope::{Identity, Scope, needs};
pub use serve::HttpServer;
pub use tls::TlsFiles;
pub use tokens::{SHORTEST_TOKEN, Token, TokenEntry, TokensError, TokensFile};
pub use trace::TraceContext;
