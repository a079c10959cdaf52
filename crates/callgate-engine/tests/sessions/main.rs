//! Runs that wait, go on elsewhere, and hand work to others: on the memory journal, with backends
//! that count what they did.
#![allow(clippy::unwrap_used)]

mod delegates;
mod export;
mod handover;
mod offered;
mod people;
mod resume;
mod world;
