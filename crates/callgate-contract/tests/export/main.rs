//! Exports, over the tools of thirteen public servers and over schemas with every odd corner: that
//! other people's compilers and parsers take them, and what they look like.
#![allow(clippy::unwrap_used)]

mod checked;
mod facts;
mod golden;
mod support;
