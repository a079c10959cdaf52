//! The gate proxy from outside: three APIs for clients, five of providers, right and wrong.
#![cfg(feature = "proxy")]
#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic as its body may")]

mod cases;
mod catalog;
mod client;
mod faults;
mod limits;
mod live;
mod models;
mod provider;
#[path = "../it/shop.rs"]
#[allow(dead_code, reason = "the tools of other tests")]
mod shop;
mod turns;
