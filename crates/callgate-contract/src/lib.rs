//! Is this JSON what was agreed?
//!
//! A [`Tool`] is a contract: what a tool takes, what it gives, who may call it. A [`Catalog`] is
//! contracts loaded together. Two gates hold them:
//!
//! - **in**: raw argument text becomes [`Admitted`] arguments or a [`Fault`] that tells the model
//!   what to do ([`Tool::admit`], then [`Tool::check_rules`], then [`tier`]);
//! - **out**: what a backend brought becomes a shaped result or a [`Fault`] ([`result::pass`]).
//!
//! Everything here is pure: no file, no socket, no clock. Callers pass texts with their names.
//!
//! ```
//! use callgate_contract::{Catalog, Mode, Verdict};
//!
//! let catalog = Catalog::load([("get_ticket.json", r#"{
//!     "name": "get_ticket",
//!     "description": "Looks up a ticket by its id.",
//!     "input": {
//!         "type": "object",
//!         "properties": {
//!             "id": {"type": "string", "pattern": "^T-[0-9]+$"},
//!             "limit": {"type": "integer"}
//!         },
//!         "required": ["id"]
//!     }
//! }"#)]).unwrap();
//! let tool = catalog.get("get_ticket").unwrap();
//!
//! // A number in quotes says the same thing: mended, and recorded by name.
//! let Verdict::Admitted { arguments, adjustments } =
//!     tool.admit(r#"{"id": "T-1042", "limit": "5"}"#, Mode::Lenient) else { panic!() };
//! assert_eq!(arguments.text(), r#"{"id": "T-1042", "limit": 5}"#);
//! assert_eq!(adjustments[0].to_string(), "string_to_number:/limit");
//!
//! // A wrong id is the model's to correct: it is told what, where and that nothing ran.
//! let Verdict::Refused(fault) = tool.admit(r#"{"id": "1042"}"#, Mode::Lenient) else { panic!() };
//! assert_eq!(fault.violations[0].path, "/id");
//! assert!(fault.message.contains("^T-[0-9]+$") && fault.message.contains("not called"));
//! ```
#![forbid(unsafe_code)]

mod adjustment;
mod admitted;
pub mod catalog;
mod coerce;
pub mod compat;
pub mod definition;
pub mod document;
pub mod envelope;
pub mod export;
pub mod fixture;
pub mod gate;
pub mod import;
pub mod lint;
pub mod listed;
mod outcome;
pub mod page;
mod repair;
pub mod result;
pub mod rules;
pub mod schema;
pub mod search;
pub mod shape;
mod suggest;
pub mod surface;
pub mod tier;
pub mod tool;
mod violation;

pub use adjustment::Adjustment;
pub use admitted::Admitted;
pub use catalog::{Catalog, Mistake};
pub use envelope::{Envelope, Fault};
pub use gate::{Mode, Verdict};
pub use outcome::{Content, ErrorKind, Executed, Failure, Output};
pub use rules::Facts;
pub use suggest::nearest;
pub use tool::{RuleVerdict, Tool};
pub use violation::Violation;
