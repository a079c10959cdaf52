//! A2A, the protocol between agents: what is on the wire, for the server as well.

pub mod wire;
