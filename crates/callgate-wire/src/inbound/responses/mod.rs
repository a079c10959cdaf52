//! OpenAI Responses, without state: every request brings its whole transcript.
//!
//! - `read`: a request's body; `item`: its items; `tool`: its tools;
//! - `write`: items and events; `object`: the response object.
//!
//! Nothing is stored, so there is nothing to refer to: `previous_response_id`, `conversation`,
//! `item_reference` and stored prompts are refused, and every response says `store: false`.
//! Reasoning that has to go back comes as `encrypted_content`, whether it is asked for or not.
//!
//! Ids of items are made of the stamp's; a reasoning item that comes back with such an id comes
//! without it to OpenAI, which does not know it.

mod item;
mod object;
mod read;
mod tool;
mod write;

use super::{Inbound, Misread, Received, Refusal, Stamp, StreamWriter};
use crate::Reply;

#[derive(Debug)]
pub(super) struct Responses;

impl Inbound for Responses {
    fn read(&self, body: &[u8]) -> Result<Received, Misread> {
        read::body(body)
    }

    fn reply(&self, received: &Received, reply: &Reply, stamp: &Stamp) -> Vec<u8> {
        write::whole(received, reply, stamp)
    }

    fn stream(&self, received: &Received, stamp: &Stamp) -> Box<dyn StreamWriter> {
        Box::new(write::Writer::new(received, stamp))
    }

    fn refuse(&self, refusal: &Refusal) -> (u16, Vec<u8>) {
        super::refusal::openai(refusal)
    }
}
