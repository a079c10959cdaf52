//! And if there is no server? A GGUF model in this process.
//!
//! A [`LocalModel`] answers the same requests as a provider does, on the processor, without a key:
//!
//! - it *chooses* by a prompt that ends where a tool's name must follow. A grammar admits the names
//!   on offer and `answer`, nothing else; then the arguments, by the tool's schema. It cannot call what
//!   is not there or send what the schema refuses. Whether the values are right is up to the model. An
//!   optional member is sent only where it is clearly likelier than the end of its object, since small
//!   models fill what they could leave out;
//! - it *answers* by a second prompt, without tools, from what the calls brought: freely, or by the
//!   grammar of the answer's schema;
//! - what was read once is not read again: contexts are cut back to the common beginning, and the
//!   part that all runs share is kept on disk ([`store::Store::prefixes`]).
//!
//! [`store`] brings the models, checks them and knows where they are.
//!
//! Where it matters what a grammar changes, [`LocalModel::decoding`] gives a handle that decodes
//! [freely](Decoding::Free): the same prompt, and calls read as the model wrote them.
//!
//! Decoding is greedy but for optional members: the same request gives the same reply. A request's temperature is ignored.
//!
//! ```no_run
//! use callgate_local::store::Store;
//! use callgate_model::Model;
//! use callgate_wire::{Message, Request};
//!
//! # async fn f() -> Result<(), Box<dyn std::error::Error>> {
//! let model = Store::open()?.load("default")?;
//! let request = Request { messages: vec![Message::user("Hello!").into()], ..Request::default() };
//! println!("{}", model.reply(&request, None).await?.text());
//! # Ok(())
//! # }
//! ```
//!
//! Not here: judging. A schema beyond the grammar's means is held as far as it goes and a warning says
//! so; the gate judges by the whole of it, as it does for any model.
#![forbid(unsafe_code)]

mod bound;
mod cache;
mod decode;
mod error;
mod gguf;
mod grammar;
mod guidance;
mod local;
mod model;
mod optional;
mod options;
mod prompt;
mod session;
pub mod store;
mod template;
#[cfg(test)]
mod testing;
mod tokenizer;
mod turn;
mod written;

pub use error::{GrammarFault, LocalError};
pub use gguf::GgufFacts;
pub use local::{Decoding, LocalModel, LocalOptions};
pub use model::Architecture;
pub use template::Template;
