//! Events.

use super::write;
use crate::{
    AssistantPart, Delta, Opaque, Reply, ToolCall,
    inbound::{
        Refusal, Stamp, StreamWriter,
        json::{self, Object},
        sealed::{self, Of},
    },
};

pub(super) struct Writer {
    stamp: Stamp,
    begun: bool,
    /// The block that is open.
    open: Option<Kind>,
    /// Blocks that are closed.
    closed: u64,
    called: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thinking,
}

impl Writer {
    pub(super) fn new(stamp: &Stamp) -> Self {
        Self { stamp: stamp.clone(), begun: false, open: None, closed: 0, called: false }
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        json::event(out, Some("message_start"), |o| {
            o.string("type", "message_start");
            o.object("message", |o| {
                write::heading(o, &self.stamp);
                o.raw("content", "[]");
                o.raw("stop_reason", "null");
                o.raw("stop_sequence", "null");
                // Known at the end.
                o.raw("usage", r#"{"input_tokens":0,"output_tokens":0}"#);
            });
        });
    }

    fn start(&self, block: &str, out: &mut Vec<u8>) {
        json::event(out, Some("content_block_start"), |o| {
            o.string("type", "content_block_start");
            o.number("index", self.closed);
            o.raw("content_block", block);
        });
    }

    fn grow(&self, out: &mut Vec<u8>, delta: impl FnOnce(&mut Object<'_>)) {
        json::event(out, Some("content_block_delta"), |o| {
            o.string("type", "content_block_delta");
            o.number("index", self.closed);
            o.object("delta", delta);
        });
    }

    fn stop(&mut self, out: &mut Vec<u8>) {
        json::event(out, Some("content_block_stop"), |o| {
            o.string("type", "content_block_stop");
            o.number("index", self.closed);
        });
        self.closed += 1;
    }

    fn opened(&mut self, kind: Kind, out: &mut Vec<u8>) {
        self.begin(out);
        if self.open == Some(kind) {
            return;
        }
        self.close(None, out);
        let block = json::text_of(|o| match kind {
            Kind::Text => {
                o.string("type", "text");
                o.string("text", "");
            }
            Kind::Thinking => write::thinking(o, "", ""),
        });
        self.start(&block, out);
        self.open = Some(kind);
    }

    /// Closes what is open; thinking with its signature.
    fn close(&mut self, state: Option<&Opaque>, out: &mut Vec<u8>) {
        let Some(kind) = self.open.take() else { return };
        let signature = write::signature(state);
        if kind == Kind::Thinking && !signature.is_empty() {
            self.grow(out, |o| {
                o.string("type", "signature_delta");
                o.string("signature", &signature);
            });
        }
        self.stop(out);
    }

    /// A block that comes at once.
    fn block(&mut self, block: &str, out: &mut Vec<u8>) {
        self.begin(out);
        self.close(None, out);
        self.start(block, out);
        self.stop(out);
    }

    fn state(&mut self, part: &AssistantPart, out: &mut Vec<u8>) {
        match part {
            AssistantPart::Reasoning { opaque: Some(opaque), .. } => {
                if self.open == Some(Kind::Thinking) {
                    self.close(Some(opaque), out);
                } else if write::is_own(opaque) {
                    // Thinking that is not shown, only signed.
                    self.opened(Kind::Thinking, out);
                    self.close(Some(opaque), out);
                } else {
                    let sealed = sealed::seal(Of::Reasoning, opaque);
                    self.block(&write::redacted(&sealed), out);
                }
            }
            AssistantPart::Opaque(opaque) => self.block(&write::state(opaque), out),
            _ => {}
        }
    }
}

impl StreamWriter for Writer {
    fn delta(&mut self, delta: &Delta, out: &mut Vec<u8>) {
        match delta {
            Delta::Text(text) => {
                self.opened(Kind::Text, out);
                self.grow(out, |o| {
                    o.string("type", "text_delta");
                    o.string("text", text);
                });
            }
            Delta::Reasoning(text) => {
                self.opened(Kind::Thinking, out);
                self.grow(out, |o| {
                    o.string("type", "thinking_delta");
                    o.string("thinking", text);
                });
            }
            Delta::State(part) => self.state(part, out),
            Delta::Call { .. } => {}
        }
    }

    fn call(&mut self, call: &ToolCall, out: &mut Vec<u8>) {
        self.called = true;
        self.begin(out);
        self.close(None, out);
        if let Some(before) = write::before_call(call) {
            self.block(&before, out);
        }
        self.start(&json::text_of(|o| write::tool_use(o, call, "{}")), out);
        let input = write::input(call);
        self.grow(out, |o| {
            o.string("type", "input_json_delta");
            o.string("partial_json", &input);
        });
        self.stop(out);
    }

    fn finish(&mut self, reply: &Reply, out: &mut Vec<u8>) {
        self.begin(out);
        self.close(None, out);
        json::event(out, Some("message_delta"), |o| {
            o.string("type", "message_delta");
            o.object("delta", |o| {
                o.string("stop_reason", write::stop_reason(reply.stop, self.called));
                o.raw("stop_sequence", "null");
            });
            o.object("usage", |o| write::usage(o, &reply.usage));
        });
        json::event(out, Some("message_stop"), |o| o.string("type", "message_stop"));
    }

    fn fail(&mut self, refusal: &Refusal, out: &mut Vec<u8>) {
        json::event(out, Some("error"), |o| write::error(o, refusal));
    }

    fn keep_alive(&mut self, out: &mut Vec<u8>) {
        self.begin(out);
        json::event(out, Some("ping"), |o| o.string("type", "ping"));
    }
}
