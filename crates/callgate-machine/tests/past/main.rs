//! What can be done with a run that is over: fork it, judge it by other contracts, look it over.
#![allow(clippy::unwrap_used)]

mod doctor;
mod forks;
#[path = "../play/mod.rs"]
mod play;
mod provenance;
mod rejudged;
