//! Agents elsewhere, over A2A (1.0, and peers that speak 0.3).
//!
//! `{"a2a": {"url": "https://agents.example"}}` hands a call to the agent whose card is there. The
//! card is fetched when it is first needed, through the destination [`guard`](crate::guard), and
//! names the way: JSON-RPC or HTTP+JSON, streaming or not.
//!
//! What a call can count on:
//!
//! - **It is sent once.** After its bytes have left, a lost answer is `transport_lost`, executed
//!   `unknown`, until the task's id is known: then the task is looked at instead. Every attempt has
//!   the same `messageId`, for agents that keep them.
//! - **It ends.** Without a sign of progress for `idleSeconds`, at the contract's timeout, and when
//!   the run is cancelled; the agent is told then (`CancelTask`).
//! - **A question is a result.** `input_required` comes with the task's id, and a later call with
//!   that `taskId` goes on; nothing loops by itself.
//! - **The card is the accepted one**, where a project pinned it ([`lock`](crate::lock)): another one
//!   is `definition_changed`, and nothing is sent.
//! - **Digits.** Data parts are text from end to end ([`wire`]).
//!
//! Where things are: [`wire`] (both sides' messages, pure), `spec.rs` (as people write it),
//! `agent.rs` (card and requests), `stream.rs`, `assembly.rs` (items to a task, pure), `talk.rs`
//! (one turn), `outcome.rs` (what it means, pure), `tool.rs` (the backend).

mod agent;
mod assembly;
mod look;
mod outcome;
mod spec;
mod stream;
mod talk;
mod tool;
mod trouble;
pub mod wire;

pub(crate) use look::look;
pub use look::url_of;
pub(crate) use spec::KIND;
pub use spec::{A2aBackendSpec, A2aSpec};
