//! What a person sees of a run while it goes on, on standard error.

pub(crate) mod json;
pub(crate) mod paint;
pub(crate) mod pretty;
pub(crate) mod screen;
pub(crate) mod view;
pub(crate) mod words;
