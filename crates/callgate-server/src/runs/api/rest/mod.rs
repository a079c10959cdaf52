//! A route is a function from what was asked to what is answered; its types say how both look, to
//! the router and to the document that describes it. So the two cannot differ.
//!
//! Why not one of the libraries that make OpenAPI documents: `aide` of the day stands on another
//! version of `schemars` than the types of events and contracts derive (its next one is in alpha),
//! and `utoipa` wants a derive of its own on all of these types, in crates that are to know
//! nothing of HTTP.

mod document;
mod input;
mod output;
mod problem;
mod route;

pub(super) use self::{
    document::{Operation, document},
    input::{Asked, Body, By, Header, Input, LargeBody, Lines, Path, Query},
    output::{File, Json, New, Output},
    route::{Info, Route, route, router},
};
pub use problem::Problem;
