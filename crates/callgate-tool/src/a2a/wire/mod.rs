//! A2A on the wire: what both sides read and write, without a socket.
//!
//! Two versions in one set of types: 1.0 (`specification/a2a.proto`, package `lf.a2a.v1`, JSON by
//! ProtoJSON) and 0.3. They differ in names and in wrapping, not in what they can say, so [`Version`]
//! is an argument of every writer, and readers take either.
//!
//! - **Tolerant in**: unknown members are ignored, `null` is absence, what a peer forgot and nobody
//!   needs is made up. What cannot be understood is a [`Violation`] with its path.
//! - **Exact out**: every required member is there, and no empty one that `REQUIRED` forbids.
//! - **Digits**: `data` and `metadata` are [`Json`], text from end to end. `google.protobuf.Value`
//!   would make doubles of them.

mod card;
mod dialect;
mod error;
mod json;
mod message;
mod part;
mod request;
mod task;
mod update;

pub use card::{Binding, Card, Interface, SKILL_SCHEMAS, Skill};
pub use dialect::{Method, Version};
pub use error::{Kind, WireError};
pub use json::{Array, Json, Members, Object, Violation};
pub use message::{Message, Role};
pub use part::{Content, Part};
pub use request::{CancelParams, GetParams, ListParams, SendParams, SubscribeParams};
pub use task::{Artifact, State, Status, Task, TaskPage, timestamp};
pub use update::{ArtifactUpdate, Reply, StatusUpdate, Update};
