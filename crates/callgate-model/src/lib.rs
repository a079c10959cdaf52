//! Who thinks?
//!
//! A [`Model`] takes a neutral request and gives a whole reply, telling deltas on the way.
#![forbid(unsafe_code)]

mod model;

pub use model::{Model, OnDelta, ReplyFuture};
