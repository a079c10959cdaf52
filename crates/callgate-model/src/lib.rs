//! Who thinks?
//!
//! A [`Model`] takes a neutral request and gives a whole reply, telling deltas on the way.
//!
//! - [`Registry`]: from `provider:model`, as people write it, to a model, by the environment
//!   variables that the ecosystem uses;
//! - [`HttpModel`]: a provider over HTTP, with timeouts, limits and retries, whole or streamed;
//! - [`ScriptedModel`]: replies from a JSON file, for tests and examples.
//!
//! What a provider's bytes mean is the codec's affair, in `callgate-wire`. A model within this
//! process is `callgate-local`'s; it joins the registry by [`Registry::with_provider`].
//!
//! ```
//! use callgate_model::{Model, ScriptedModel};
//! use callgate_wire::{Message, Request};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let model = ScriptedModel::from_json(
//!     r#"{ "replies": [ { "calls": [ { "name": "get_weather", "arguments": {"city":"Paris"} } ] },
//!                       { "text": "Sunny." } ] }"#,
//! )?;
//! let request = Request { messages: vec![Message::user("Weather?").into()], ..Request::default() };
//! let first = model.reply(&request, None).await?;
//! assert_eq!(&*first.calls().next().unwrap().arguments, r#"{"city":"Paris"}"#);
//! assert_eq!(model.reply(&request, None).await?.text(), "Sunny.");
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod http;
mod keep;
mod model;
mod registry;
mod scripted;

pub use http::{Endpoint, EndpointError, HttpModel, HttpOptions};
pub use keep::{Keep, Kept};
pub use model::{Model, OnDelta, ReplyFuture};
pub use registry::{PROVIDERS, Provider, Registry, RegistryError, Resolved};
pub use scripted::{ScriptError, ScriptedModel};
