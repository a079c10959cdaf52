//! The door from outside: who gets in, and what nobody gets away with.
#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic as its body may")]

mod limits;
mod pages;
mod site;
mod slow;
mod smuggling;
mod tls;
mod tokens;
