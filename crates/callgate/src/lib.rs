//! Agents whose tool calls are right.
//!
//! A model decides, tools act, and between them stand gates: no call reaches a tool, and no
//! result reaches the model, that its contract does not admit.
//!
//! ```
//! use callgate::prelude::*;
//!
//! /// Looks up the current weather in a city. Use it for questions about today, not forecasts.
//! #[tool(read_only)]
//! async fn get_weather(
//!     /// The city's English name, such as Oslo
//!     city: String,
//! ) -> Result<String, ToolError> {
//!     match city.as_str() {
//!         "Oslo" => Ok("4 °C, rain".to_owned()),
//!         other => Err(ToolError::new(format!("no station in {other}"))),
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), callgate::Error> {
//! # let script = r#"{"replies": [
//! #     {"calls": [{"name": "get_weather", "arguments": {"city": "Oslo"}}]},
//! #     {"text": "It rains in Oslo, at 4 °C."}]}"#;
//! # let model = callgate::model::scripted(script)?;
//! let agent = Agent::builder().model(model).tool(get_weather).build()?;
//! let answer = agent.run("Do I need an umbrella in Oslo?").await?;
//! assert_eq!(answer.text(), "It rains in Oslo, at 4 °C.");
//! # Ok(())
//! # }
//! ```
//!
//! - [`Agent`]: tools, model, instructions, bounds; [`Agent::run`] gives a [`Run`] to await, to
//!   watch ([`Run::watch`]) or to ask for a typed answer ([`Run::answer`]).
//! - [`tool`](macro@tool): makes a contract of an async function, its doc comments and its types.
//! - [`Project`]: an agent in files, as the `callgate` command runs it.
//! - [`model`]: providers, scripts, and (feature `local`) a model in this process.
//! - `server` (feature `server`): a project's [`Toolset`] for MCP clients, over stdio and HTTP.
//! - [`engine`]: journals ([`AgentBuilder::journal`]; feature `sqlite`: one in a folder, that runs
//!   are resumed from), sessions, run files.
//!
//! The crates below are re-exported whole where their types are meant to be seen:
//! [`contract`], [`machine`], [`wire`].
#![forbid(unsafe_code)]

mod agent;
mod call;
mod closed;
mod error;
pub mod model;
mod project;
mod run;
mod tool;

pub use agent::{Agent, AgentBuilder};
pub use callgate_contract as contract;
pub use callgate_engine as engine;
pub use callgate_engine::{Called, SingleCall, Toolset};
pub use callgate_machine as machine;
pub use callgate_macros::tool;
#[cfg(feature = "server")]
pub use callgate_server as server;
pub use callgate_tool as backend;
pub use callgate_tool::{CallContext, ToolError};
pub use callgate_wire as wire;
pub use error::Error;
pub use project::{
    AgentFirstUse, FirstUse, Project, ProjectBuilder, ProjectError, ProjectServer, Target,
};
pub use run::{Answer, Run, Typed};
pub use tool::{FunctionTool, IntoTool};

/// What an agent's program usually needs.
pub mod prelude {
    pub use crate::{Agent, Answer, Error, Project, ToolError, tool};
}

/// For the code that `#[tool]` writes.
#[doc(hidden)]
pub mod __private {
    pub use crate::tool::{Returned, described};
    pub use schemars;
    pub use serde;
}
