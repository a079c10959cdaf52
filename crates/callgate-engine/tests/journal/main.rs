//! The journal in a folder: what it promises, and what it does when things go wrong.
#![allow(clippy::unwrap_used)]

mod crash;
mod damage;
mod group;
mod lists;
mod messages;
mod processes;
mod store;
mod support;
