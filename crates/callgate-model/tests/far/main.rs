//! The tests of the HTTP model once more, over the client that asks servers elsewhere.

#[path = "../http/main.rs"]
mod http;
