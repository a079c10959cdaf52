//! OpenAI Chat Completions.
//!
//! - `read`: a request's body; `message`: its messages;
//! - `write`: whole responses, errors, and what both forms have in common; `stream`: chunks.
//!
//! Reasoning is told as `reasoning_content`, as the compatible servers that have any do: OpenAI's
//! own API tells none, and its libraries leave it where it is. State of a model that answered goes
//! along as `reasoning_details` and, with a call, as `extra_content`, for clients that send these
//! back.

mod message;
mod read;
mod stream;
mod write;

use super::{Inbound, Misread, Received, Refusal, Stamp, StreamWriter};
use crate::Reply;

#[derive(Debug)]
pub(super) struct Chat;

impl Inbound for Chat {
    fn read(&self, body: &[u8]) -> Result<Received, Misread> {
        read::body(body)
    }

    fn reply(&self, received: &Received, reply: &Reply, stamp: &Stamp) -> Vec<u8> {
        write::whole(received, reply, stamp)
    }

    fn stream(&self, received: &Received, stamp: &Stamp) -> Box<dyn StreamWriter> {
        Box::new(stream::Writer::new(received, stamp))
    }

    fn refuse(&self, refusal: &Refusal) -> (u16, Vec<u8>) {
        super::refusal::openai(refusal)
    }
}
