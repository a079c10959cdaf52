//! Is this JSON what was agreed?
#![forbid(unsafe_code)]

mod admitted;
mod outcome;

pub use admitted::Admitted;
pub use outcome::{Content, ErrorKind, Executed, Failure, Output};
