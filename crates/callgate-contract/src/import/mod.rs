//! Contracts made of what a service already says about itself.
//!
//! Pure, like the rest of this crate: callers bring the document, callers write the files.

pub mod openapi;
