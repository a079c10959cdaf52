//! Anthropic Messages.
//!
//! - `read`: a request's body; `block`: the blocks of its messages; `tool`: its tools;
//! - `write`: whole messages, errors, and what both forms have in common; `stream`: events.
//!
//! Marks for the prompt cache are not carried over: the codec of the same name sets its own, at
//! the same places.

mod block;
mod read;
mod stream;
mod tool;
mod write;

use super::{Inbound, Misread, Received, Refusal, Stamp, StreamWriter};
use crate::Reply;

#[derive(Debug)]
pub(super) struct Messages;

impl Inbound for Messages {
    fn read(&self, body: &[u8]) -> Result<Received, Misread> {
        read::body(body)
    }

    fn reply(&self, _: &Received, reply: &Reply, stamp: &Stamp) -> Vec<u8> {
        write::whole(reply, stamp)
    }

    fn stream(&self, _: &Received, stamp: &Stamp) -> Box<dyn StreamWriter> {
        Box::new(stream::Writer::new(stamp))
    }

    fn refuse(&self, refusal: &Refusal) -> (u16, Vec<u8>) {
        write::refusal(refusal)
    }
}
