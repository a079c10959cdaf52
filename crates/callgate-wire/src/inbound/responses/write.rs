//! Items as they open, grow and close. A whole response is the same without the events.

use super::object::Frame;
use crate::{
    AssistantPart, Delta, Opaque, Reply, Stop, ToolCall, Usage,
    inbound::{
        Dialect, Received, Refusal, Stamp, StreamWriter,
        json::{self, Object},
        refusal,
        sealed::{self, Of},
    },
    raw::{Fields, string},
};

pub(super) fn whole(received: &Received, reply: &Reply, stamp: &Stamp) -> Vec<u8> {
    let mut writer = Writer { quiet: true, ..Writer::new(received, stamp) };
    let mut nothing = Vec::new();
    writer.whole(reply, &mut nothing);
    let mut out = Vec::new();
    json::object(&mut out, |o| writer.ended(o, reply.stop, &reply.usage));
    out
}

pub(super) struct Writer {
    frame: Frame,
    /// Items that are closed, JSON.
    items: Vec<String>,
    open: Option<Open>,
    /// State that belongs to the next message.
    phase: Option<String>,
    next: u64,
    begun: bool,
    /// Only the items are wanted.
    quiet: bool,
}

/// The item that is growing; it is the one after those that are closed.
struct Open {
    kind: Kind,
    id: String,
    text: String,
    phase: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Message,
    Reasoning,
}

/// Whether an item's id is one of ours: OpenAI's have one underscore.
pub(super) fn is_ours(id: &str) -> bool {
    let number = id.rsplit_once('_').map(|(_, number)| number);
    id.matches('_').count() == 2 && number.is_some_and(|number| number.parse::<u64>().is_ok())
}

impl Writer {
    pub(super) fn new(received: &Received, stamp: &Stamp) -> Self {
        Self {
            frame: Frame::new(received, stamp),
            items: Vec::new(),
            open: None,
            phase: None,
            next: 0,
            begun: false,
            quiet: false,
        }
    }

    fn id(&self, prefix: &str) -> String {
        format!("{prefix}_{}_{}", self.frame.stamp.id, self.items.len())
    }

    fn event(&mut self, out: &mut Vec<u8>, name: &str, fields: impl FnOnce(&mut Object<'_>)) {
        if self.quiet {
            return;
        }
        let number = self.next;
        self.next += 1;
        json::event(out, Some(name), |o| {
            o.string("type", name);
            o.number("sequence_number", number);
            fields(o);
        });
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.begun, true) || self.quiet {
            return;
        }
        for name in ["response.created", "response.in_progress"] {
            let response = json::text_of(|o| self.frame.write(o, "in_progress", None, [], None));
            self.event(out, name, |o| o.raw("response", &response));
        }
    }

    fn ended(&self, o: &mut Object<'_>, stop: Stop, usage: &Usage) {
        let (status, incomplete) = status(stop);
        let items = self.items.iter().map(String::as_str);
        self.frame.write(o, status, incomplete, items, Some(usage));
    }

    /// The item that grows, of this kind.
    fn opened(&mut self, kind: Kind, out: &mut Vec<u8>) {
        self.begin(out);
        if self.open.as_ref().is_some_and(|open| open.kind == kind) {
            return;
        }
        self.close(None, out);
        let index = self.items.len() as u64;
        let prefix = if kind == Kind::Message { "msg" } else { "rs" };
        let phase = if kind == Kind::Message { self.phase.take() } else { None };
        let open = Open { kind, id: self.id(prefix), text: String::new(), phase };
        let item = open.item("in_progress");
        self.event(out, "response.output_item.added", |o| {
            o.number("output_index", index);
            o.raw("item", &item);
        });
        let (name, place) = match kind {
            Kind::Message => ("response.content_part.added", "content_index"),
            Kind::Reasoning => ("response.reasoning_summary_part.added", "summary_index"),
        };
        self.event(out, name, |o| {
            o.string("item_id", &open.id);
            o.number("output_index", index);
            o.number(place, 0);
            o.object("part", |o| part(o, kind, ""));
        });
        self.open = Some(open);
    }

    fn grow(&mut self, kind: Kind, text: &str, out: &mut Vec<u8>) {
        self.opened(kind, out);
        let index = self.items.len() as u64;
        let Some(mut open) = self.open.take() else { return };
        open.text.push_str(text);
        let (name, place) = match kind {
            Kind::Message => ("response.output_text.delta", "content_index"),
            Kind::Reasoning => ("response.reasoning_summary_text.delta", "summary_index"),
        };
        self.event(out, name, |o| {
            o.string("item_id", &open.id);
            o.number("output_index", index);
            o.number(place, 0);
            o.string("delta", text);
            if kind == Kind::Message {
                o.raw("logprobs", "[]");
            }
        });
        self.open = Some(open);
    }

    /// Closes what is open; reasoning with its state.
    fn close(&mut self, state: Option<&Opaque>, out: &mut Vec<u8>) {
        let Some(open) = self.open.take() else { return };
        let Open { kind, id, text, .. } = &open;
        let (kind, index) = (*kind, self.items.len() as u64);
        let [done, part_done, place] = match kind {
            Kind::Message => {
                ["response.output_text.done", "response.content_part.done", "content_index"]
            }
            Kind::Reasoning => [
                "response.reasoning_summary_text.done",
                "response.reasoning_summary_part.done",
                "summary_index",
            ],
        };
        self.event(out, done, |o| {
            o.string("item_id", id);
            o.number("output_index", index);
            o.number(place, 0);
            o.string("text", text);
            if kind == Kind::Message {
                o.raw("logprobs", "[]");
            }
        });
        self.event(out, part_done, |o| {
            o.string("item_id", id);
            o.number("output_index", index);
            o.number(place, 0);
            o.object("part", |o| part(o, kind, text));
        });
        let item = match state {
            Some(state) if is_own(state) => self.own_item(state, id),
            Some(state) => reasoning(id, text, Some(&sealed::seal(Of::Reasoning, state))),
            None => open.item("completed"),
        };
        self.done(item, out);
    }

    /// OpenAI's own item. In a stream it has the id under which it was begun.
    fn own_item(&self, state: &Opaque, id: &str) -> String {
        let quoted = crate::json::to_string(&id);
        let named = crate::json::from_str(&quoted).ok().zip(Fields::of(&state.json));
        match named {
            Some((id, mut fields)) if !self.quiet => {
                fields.set("id", id);
                fields.json()
            }
            _ => (*state.json).to_owned(),
        }
    }

    fn done(&mut self, item: String, out: &mut Vec<u8>) {
        let index = self.items.len() as u64;
        self.event(out, "response.output_item.done", |o| {
            o.number("output_index", index);
            o.raw("item", &item);
        });
        self.items.push(item);
    }

    /// An item that comes at once.
    fn item(&mut self, item: String, out: &mut Vec<u8>) {
        self.begin(out);
        self.close(None, out);
        let index = self.items.len() as u64;
        self.event(out, "response.output_item.added", |o| {
            o.number("output_index", index);
            o.raw("item", &item);
        });
        self.done(item, out);
    }

    fn state(&mut self, part: &AssistantPart, out: &mut Vec<u8>) {
        match part {
            AssistantPart::Reasoning { opaque: Some(opaque), .. } => {
                if self.open.as_ref().is_some_and(|open| open.kind == Kind::Reasoning) {
                    self.close(Some(opaque), out);
                } else if is_own(opaque) {
                    self.item((*opaque.json).to_owned(), out);
                } else {
                    let sealed = sealed::seal(Of::Reasoning, opaque);
                    self.item(reasoning(&self.id("rs"), "", Some(&sealed)), out);
                }
            }
            AssistantPart::Opaque(opaque) if is_own(opaque) => {
                let fields = Fields::of(&opaque.json).unwrap_or_default();
                if fields.get("type").and_then(string).as_deref() == Some("message") {
                    // The message that it belongs to comes next.
                    self.close(None, out);
                    self.phase = fields.get("phase").map(|phase| phase.get().to_owned());
                } else {
                    self.item((*opaque.json).to_owned(), out);
                }
            }
            AssistantPart::Opaque(opaque) => {
                self.close(None, out);
                let sealed = sealed::seal(Of::State, opaque);
                self.item(reasoning(&self.id("rs"), "", Some(&sealed)), out);
            }
            _ => {}
        }
    }
}

impl Open {
    fn item(&self, status: &str) -> String {
        let Self { kind, id, text, phase } = self;
        if *kind == Kind::Reasoning {
            return reasoning(id, text, None);
        }
        let content = json::text_of(|o| part(o, Kind::Message, text));
        json::text_of(|o| {
            o.string("id", id);
            o.string("type", "message");
            o.string("status", status);
            o.string("role", "assistant");
            if let Some(phase) = phase {
                o.raw("phase", phase);
            }
            // It opens empty.
            o.list("content", (status == "completed").then_some(&*content));
        })
    }
}

fn part(o: &mut Object<'_>, kind: Kind, text: &str) {
    match kind {
        Kind::Message => {
            o.string("type", "output_text");
            o.raw("annotations", "[]");
            o.raw("logprobs", "[]");
        }
        Kind::Reasoning => o.string("type", "summary_text"),
    }
    o.string("text", text);
}

fn reasoning(id: &str, text: &str, encrypted: Option<&str>) -> String {
    let summary = json::text_of(|o| part(o, Kind::Reasoning, text));
    json::text_of(|o| {
        o.string("id", id);
        o.string("type", "reasoning");
        o.list("summary", (!text.is_empty()).then_some(&*summary));
        if let Some(encrypted) = encrypted {
            o.string("encrypted_content", encrypted);
        }
    })
}

fn is_own(opaque: &Opaque) -> bool {
    &*opaque.provider == Dialect::Responses.codec()
}

fn status(stop: Stop) -> (&'static str, Option<&'static str>) {
    match stop {
        Stop::End | Stop::Paused => ("completed", None),
        Stop::Length => ("incomplete", Some("max_output_tokens")),
        Stop::Refusal => ("incomplete", Some("content_filter")),
        Stop::Incomplete => ("incomplete", None),
    }
}

fn function_call(call: &ToolCall, id: &str, status: &str, arguments: &str) -> String {
    let own = call.opaque.as_ref().filter(|opaque| is_own(opaque));
    let own = own.and_then(|opaque| Fields::of(&opaque.json)).unwrap_or_default();
    json::text_of(|o| {
        o.string("id", id);
        o.string("type", "function_call");
        o.string("status", status);
        o.string("call_id", &call.id);
        o.string("name", &call.name);
        o.string("arguments", arguments);
        for name in ["namespace", "caller"] {
            own.get(name).iter().for_each(|raw| o.raw(name, raw.get()));
        }
    })
}

impl StreamWriter for Writer {
    fn delta(&mut self, delta: &Delta, out: &mut Vec<u8>) {
        match delta {
            Delta::Text(text) => self.grow(Kind::Message, text, out),
            Delta::Reasoning(text) => self.grow(Kind::Reasoning, text, out),
            Delta::State(part) => self.state(part, out),
            Delta::Call { .. } => {}
        }
    }

    fn call(&mut self, call: &ToolCall, out: &mut Vec<u8>) {
        self.begin(out);
        self.close(None, out);
        if let Some(opaque) = call.opaque.as_ref().filter(|opaque| !is_own(opaque)) {
            let sealed = sealed::seal(Of::Call, opaque);
            self.item(reasoning(&self.id("rs"), "", Some(&sealed)), out);
        }
        let (id, index) = (self.id("fc"), self.items.len() as u64);
        let item = function_call(call, &id, "in_progress", "");
        self.event(out, "response.output_item.added", |o| {
            o.number("output_index", index);
            o.raw("item", &item);
        });
        self.event(out, "response.function_call_arguments.delta", |o| {
            o.string("item_id", &id);
            o.number("output_index", index);
            o.string("delta", &call.arguments);
        });
        self.event(out, "response.function_call_arguments.done", |o| {
            o.string("item_id", &id);
            o.number("output_index", index);
            o.string("name", &call.name);
            o.string("arguments", &call.arguments);
        });
        self.done(function_call(call, &id, "completed", &call.arguments), out);
    }

    fn finish(&mut self, reply: &Reply, out: &mut Vec<u8>) {
        self.begin(out);
        self.close(None, out);
        let name = match status(reply.stop).0 {
            "completed" => "response.completed",
            _ => "response.incomplete",
        };
        let response = json::text_of(|o| self.ended(o, reply.stop, &reply.usage));
        self.event(out, name, |o| o.raw("response", &response));
    }

    fn fail(&mut self, refusal: &Refusal, out: &mut Vec<u8>) {
        self.event(out, "error", |o| {
            // Old clients read these, newer ones what is below `error`.
            o.optional("code", refusal.code.as_deref());
            o.string("message", &refusal.message);
            o.optional("param", refusal.param.as_deref());
            o.object("error", |o| refusal::openai_error(o, refusal));
        });
    }

    fn keep_alive(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b": keep-alive\n\n");
    }
}
