//! Compatibility: pairs with known answers, a search for counterexamples, whole catalogs.
#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic as its body may")]

mod brute;
mod catalogs;
mod pairs;
mod real;
mod small;
