//! Runs over HTTP, and the host that drives them.
