//! Beyond one machine: the same machine, its effects executed durably in Restate.
//!
//! A [`Worker`] serves one agent. Restate calls it to drive runs, keeps every step's outcome, and
//! after a crash has another worker replay them; nothing that is done is done again. A [`Client`]
//! asks for runs, waits for them, and answers for people.
//!
//! | the machine asks | in Restate |
//! |---|---|
//! | `CallModel` | a recorded step of the run; stopped by a token in the worker |
//! | `CallTool` | a call to the tool service of the run's own build, all of a reply at once |
//! | `AskPerson`, `AskUser`, `AskDoubt` | a durable promise, beside a durable timer where it expires |
//! | `Park` | a durable promise |
//! | `Abort` | cancellation of calls that have not begun, tokens for those that have |
//! | events | the run's state, one entry for what followed from one input |
//!
//! Where things are: [`mod@worker`] and `services` describe what is served, `run/` drives, `tools` makes calls,
//! `people` takes words, `pages` reads, `client/` is the other side. `docs/scale-out.md` tells how
//! it is set up and what was measured.
//!
//! Deliberately absent: a queue, a lease or a scheduler of our own; any decision (the machine's);
//! transcripts in Restate's journal.
//!
//! ```no_run
//! # async fn example(engine: std::sync::Arc<callgate_engine::Engine>) -> Result<(), Box<dyn std::error::Error>> {
//! use callgate_restate::{Client, Submit, Worker};
//!
//! let client = Client::new("http://127.0.0.1:8080")?.admin("http://127.0.0.1:9070")?;
//! let serving = Worker::new(engine).listen("127.0.0.1:9080".parse()?).await?;
//! client.register(&serving.url(None)).await?;
//!
//! let id = Client::new_id();
//! client.submit(&id, &Submit::new("Close ticket 7", serde_json::Value::Null)).await?;
//! let finish = client.attach(&id).await?;
//! println!("{}", finish.text.as_deref().unwrap_or_default());
//! # Ok(()) }
//! ```
#![forbid(unsafe_code)]

mod blob;
mod build;
pub mod client;
mod clock;
mod delta;
mod driver;
mod flight;
mod keys;
mod message;
mod names;
mod pages;
mod people;
mod run;
mod sdk;
mod serve;
mod services;
mod status;
mod tools;
mod watch;
pub mod worker;

pub use blob::{BlobError, BlobFuture, Blobs, FileBlobs, INLINE};
pub use client::{Admin, Client, ClientError, Deployment, Look, Sent};
pub use delta::{DeltaKey, DeltaSink, Deltas, NoDeltas};
pub use message::{Said, Say, Submit};
pub use names::{BadServiceName, SERVICE, ServiceName, is_run_id};
pub use serve::Serving;
pub use status::{Ended, Phase, RunStatus, Waits, WaitsOn};
pub use worker::{RETENTION, Worker, WorkerError};
