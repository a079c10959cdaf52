//! The laws of `docs/ARCHITECTURE.md` that concern a run, by number, and random runs against all of
//! them. What holds for every run is checked by [`play`] itself.
#![allow(clippy::unwrap_used)]

mod approval;
mod cut;
mod digits;
mod offered;
mod order;
#[path = "../play/mod.rs"]
mod play;
mod pure;
mod random;
mod reading;
mod told;
