//! Chunks.

use super::write;
use crate::{
    Delta, Reply, ToolCall,
    inbound::{
        Received, Refusal, Stamp, StreamWriter,
        json::{self, Object},
        refusal,
    },
};

pub(super) struct Writer {
    stamp: Stamp,
    include_usage: bool,
    legacy: bool,
    begun: bool,
    calls: u64,
}

impl Writer {
    pub(super) fn new(received: &Received, stamp: &Stamp) -> Self {
        Self {
            stamp: stamp.clone(),
            include_usage: received.echo.include_usage,
            legacy: received.echo.legacy,
            begun: false,
            calls: 0,
        }
    }

    fn chunk(&mut self, out: &mut Vec<u8>, delta: impl FnOnce(&mut Object<'_>)) {
        if !std::mem::replace(&mut self.begun, true) {
            self.choice(out, None, |o| {
                o.string("role", "assistant");
                o.string("content", "");
                o.raw("refusal", "null");
            });
        }
        self.choice(out, None, delta);
    }

    fn choice(
        &self,
        out: &mut Vec<u8>,
        finish_reason: Option<&str>,
        delta: impl FnOnce(&mut Object<'_>),
    ) {
        let choice = json::text_of(|o| {
            o.number("index", 0);
            o.object("delta", delta);
            o.raw("logprobs", "null");
            o.optional("finish_reason", finish_reason);
        });
        json::event(out, None, |o| {
            write::heading(o, &self.stamp, "chat.completion.chunk");
            o.list("choices", [&*choice]);
        });
    }
}

impl StreamWriter for Writer {
    fn delta(&mut self, delta: &Delta, out: &mut Vec<u8>) {
        match delta {
            Delta::Text(text) => self.chunk(out, |o| o.string("content", text)),
            Delta::Reasoning(text) => self.chunk(out, |o| o.string("reasoning_content", text)),
            Delta::State(part) => {
                let mut details = Vec::new();
                write::details(part, &mut details);
                let details = details.iter().map(String::as_str);
                self.chunk(out, |o| o.list("reasoning_details", details));
            }
            Delta::Call { .. } => {}
        }
    }

    fn call(&mut self, call: &ToolCall, out: &mut Vec<u8>) {
        let index = self.calls;
        self.calls += 1;
        if !self.legacy {
            let call = write::call(call, Some(index));
            self.chunk(out, |o| o.list("tool_calls", [&*call]));
        } else if index == 0 {
            // There is place for one; the request asked for no more.
            self.chunk(out, |o| o.object("function_call", |o| write::function(o, call)));
        }
    }

    fn finish(&mut self, reply: &Reply, out: &mut Vec<u8>) {
        if !self.begun {
            self.chunk(out, |o| o.string("content", ""));
        }
        let reason = write::finish_reason(reply.stop, self.calls > 0, self.legacy);
        self.choice(out, Some(reason), |_| {});
        if self.include_usage {
            json::event(out, None, |o| {
                write::heading(o, &self.stamp, "chat.completion.chunk");
                o.list("choices", []);
                o.object("usage", |o| write::usage(o, &reply.usage));
            });
        }
        out.extend_from_slice(b"data: [DONE]\n\n");
    }

    fn fail(&mut self, refusal: &Refusal, out: &mut Vec<u8>) {
        json::event(out, None, |o| o.object("error", |o| refusal::openai_error(o, refusal)));
    }

    fn keep_alive(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b": keep-alive\n\n");
    }
}
