//! Who does the work?
//!
//! A [`Backend`] takes one admitted call and brings back an output or a typed failure.
#![forbid(unsafe_code)]

mod backend;

pub use backend::{Backend, Invocation, InvokeFuture, Invoked};
