//! Definitions that servers tell: what is read, what is set aside, what they are called, what is
//! flagged, and what a change of one means.
#![allow(clippy::unwrap_used)]

mod changes;
mod flagged;
mod named;
mod read;
mod real;
