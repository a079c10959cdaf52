//! Who does the work?
//!
//! A [`Backend`] takes one admitted call and brings back an output or a typed failure. Which one a
//! tool has is the `backend` object of its contract, and [`Backends`] makes it:
//!
//! | kind | does | module |
//! |---|---|---|
//! | `{"command": ["python3", "weather.py"]}` | runs a program: arguments on stdin, result on stdout | [`command`] |
//! | `{"http": {"url": "${BASE_URL}/tickets/{id}"}}` | sends a request | [`http`] |
//! | `{"function": "name"}` | calls a Rust function of this program | [`function`] |
//! | `{"mcp": {"server": "time", "tool": "now"}}` | calls a tool of an MCP server | [`mcp`], pinned by [`lock`] |
//! | `{"a2a": {"url": "https://agents.example"}}` | hands a task to an agent elsewhere | [`a2a`] |
//!
//! What all kinds keep:
//!
//! - **Digits.** Arguments are text from the gate to the tool; no number passes through a float.
//! - **Secrets.** `${NAME}` is looked up inside the backend at the moment of use. Messages, wire
//!   records and raw bodies show the name.
//! - **An end.** At the timeout and at a cancellation a backend stops what it started and returns;
//!   programs are ended with everything they started.
//! - **Honest failures.** A [`Failure`](callgate_contract::Failure) says what happened, whether
//!   anything was done (`false`, `true`, `"unknown"`) and what to try; a server that asks to wait
//!   is quoted in milliseconds.
//!
//! [`guard`] keeps requests from private places, [`path`] keeps file tools in their folder.
//!
//! Deliberately absent: judging arguments (the gate did), judging results (the gate out does),
//! repeating a call (the machine decides, it knows the tool's annotations).
//!
//! ```
//! use callgate_tool::{Backends, Function, process_env};
//! use serde_json::json;
//!
//! # fn main() -> Result<(), callgate_tool::BackendError> {
//! let double = Function::typed(async |n: std::collections::BTreeMap<String, i64>| {
//!     Ok::<_, std::io::Error>(n.values().sum::<i64>() * 2)
//! });
//! let backends = Backends::builtin().function("double", double);
//!
//! let contract = json!({ "backend": { "function": "double" } });
//! let spec = contract["backend"].as_object().unwrap();
//! let backend = backends.build(spec, "tools".as_ref(), process_env())?;
//! # let _ = backend;
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

pub mod a2a;
mod arguments;
mod backend;
mod call;
pub mod command;
pub mod function;
pub mod guard;
pub mod http;
mod integral;
pub mod lock;
pub mod mcp;
pub mod path;
mod registry;
mod secrets;
mod template;
mod text;

pub use backend::{Backend, Invocation, InvokeFuture, Invoked, Reads};
pub use function::{CallContext, Function, ToolError};
pub use registry::{BackendError, BackendSpec, Backends, Problem};
pub use secrets::{Env, process_env};
pub use template::TemplateError;
