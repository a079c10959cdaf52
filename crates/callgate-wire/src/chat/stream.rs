//! A streamed response.
//!
//! The reply has ended when a finish reason came, or the end marker `[DONE]`; a stream that closes
//! before either was cut, and nothing in it may run. What follows a finish reason is still read,
//! as usage comes after it and with some servers the last fragments too.

use super::{
    asked,
    assemble::{Assembly, Fragment},
    failure,
    finish::{Parts, kept},
    wire::{Body, Choice, Content, Function, Message},
};
use crate::{
    Delta, ProviderError, ProviderErrorKind, Reply, Request, Retry, StreamDecoder, events,
    failure::unreadable,
    finish::{self, Asked, Told},
    json,
    raw::{string, text},
    sse::{Decoder, SseError},
    think::{Piece, Think},
};

pub(super) struct Stream {
    sse: Decoder,
    state: State,
}

struct State {
    asked: Asked<'static>,
    parts: Parts,
    think: Think,
    /// Reasoning came in a field of plain text.
    plain: bool,
    calls: Assembly,
    /// A call by the predecessor of `tool_calls`; counts only where there are none of those.
    legacy: Assembly,
    /// `[DONE]` came.
    done: bool,
    failed: Option<ProviderError>,
}

impl Stream {
    pub(super) fn new(request: &Request) -> Self {
        Self {
            sse: Decoder::default(),
            state: State {
                asked: asked(request).kept(),
                parts: Parts::default(),
                think: Think::default(),
                plain: false,
                calls: Assembly::default(),
                legacy: Assembly::default(),
                done: false,
                failed: None,
            },
        }
    }
}

impl StreamDecoder for Stream {
    fn push(&mut self, bytes: &[u8], out: &mut Vec<Delta>) {
        let Self { sse, state } = self;
        let told = out.len();
        let pushed = sse.push(bytes, |event| state.take_event(event.data, true, out));
        state.note(pushed);
        state.asked.restore(&mut out[told..]);
    }

    fn is_done(&self) -> bool {
        self.state.is_done()
    }

    fn is_ending(&self) -> bool {
        self.is_done() || self.state.parts.finish_reason.is_some()
    }

    fn finish(&mut self, out: &mut Vec<Delta>) -> Result<Reply, ProviderError> {
        let Self { sse, state } = self;
        let told = out.len();
        let pushed = sse.finish(|event| state.take_event(event.data, false, out));
        state.note(pushed);
        let reply = state.finish(out);
        state.asked.restore(&mut out[told..]);
        if let Ok(reply) = &reply {
            Told::default().rest(reply, out);
        }
        reply
    }
}

impl State {
    fn is_done(&self) -> bool {
        self.done || self.failed.is_some()
    }

    fn note(&mut self, pushed: Result<(), SseError>) {
        if let Err(error) = pushed
            && !self.is_done()
        {
            let message = error.to_string();
            self.failed =
                Some(ProviderError::new(ProviderErrorKind::BadReply, message, Retry::Never));
        }
    }

    /// `whole` is false for the last event of a stream that did not close it: it may be cut.
    fn take_event(&mut self, data: &str, whole: bool, out: &mut Vec<Delta>) {
        let data = data.trim();
        if self.is_done() || data.is_empty() {
            return;
        }
        if data == "[DONE]" {
            self.done = true;
            return;
        }
        match json::from_str::<Body<'_>>(data) {
            Ok(body) => self.take_body(&body, out),
            // A cut event is no event; whether it is missed, the finish reason decides.
            Err(error) if !whole && events::is_cut(data, &error) => {}
            Err(error) => self.failed = Some(unreadable(data, &error)),
        }
    }

    fn take_body(&mut self, body: &Body<'_>, out: &mut Vec<Delta>) {
        if let Some(error) = failure::in_band(body) {
            self.failed = Some(error);
            return;
        }
        if let Some(usage) = body.usage() {
            // Some servers count on every chunk: the last count is the whole.
            self.parts.usage = Some(usage);
        }
        if self.parts.model.is_none() {
            self.parts.model =
                body.model.and_then(string).filter(|model| !model.is_empty()).map(Into::into);
        }
        if let Some(choice) = body.choice() {
            self.take_choice(choice, out);
        }
    }

    fn take_choice(&mut self, choice: &Choice<'_>, out: &mut Vec<Delta>) {
        if let Some(delta) = &choice.delta {
            self.take_delta(delta, out);
        } else if let Some(message) = &choice.message
            && self.is_blank()
        {
            // A server that does not really stream; beside deltas it would be a repetition.
            self.take_delta(message, out);
        }
        if let Some(reason) = choice.finish_reason() {
            self.parts.finish_reason = Some(kept(reason));
        }
    }

    fn is_blank(&self) -> bool {
        self.parts.text.is_empty() && self.calls.is_empty() && self.legacy.is_empty()
    }

    fn take_delta(&mut self, delta: &Message<'_>, out: &mut Vec<Delta>) {
        let plain = delta.plain_reasoning();
        self.plain |= plain.is_some();
        // Details may follow in a chunk of their own, and say the same once more.
        let detailed = if self.plain { None } else { delta.detailed_reasoning() };
        self.reasoning(&plain.or(detailed).unwrap_or_default(), out);
        self.parts.push_details(delta.reasoning_details.as_deref().unwrap_or_default());
        if let Some(content) = delta.content {
            if let Some(text) = text(content) {
                self.text(&text, out);
            } else {
                let list = Content::from_list(content);
                self.reasoning(&list.reasoning, out);
                self.text(&list.text, out);
                self.refusal(&list.refusal, out);
            }
        }
        self.refusal(&delta.refusal().unwrap_or_default(), out);
        for call in delta.tool_calls.iter().flatten().flatten() {
            let mut fragment = fragment(call.function.as_ref());
            fragment.index = call.index();
            fragment.id = call.id();
            fragment.extra = call.extra_content.map(|extra| extra.get());
            self.calls.push(&fragment);
        }
        self.calls.announce(false, out);
        if let Some(function) = &delta.function_call {
            // Told of at the end, when it is known to count.
            self.legacy.push(&Fragment { index: Some(0), ..fragment(Some(function)) });
        }
    }

    fn text(&mut self, text: &str, out: &mut Vec<Delta>) {
        let parts = &mut self.parts;
        self.think.push(text, |piece| parts.take_piece(&piece, out));
    }

    fn refusal(&mut self, text: &str, out: &mut Vec<Delta>) {
        if !text.is_empty() {
            self.parts.refusal.push_str(text);
            out.push(Delta::Text(text.to_owned()));
        }
    }

    fn reasoning(&mut self, text: &str, out: &mut Vec<Delta>) {
        if !text.is_empty() {
            self.parts.reasoning.push_str(text);
            out.push(Delta::Reasoning(text.to_owned()));
        }
    }

    fn finish(&mut self, out: &mut Vec<Delta>) -> Result<Reply, ProviderError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        if self.parts.finish_reason.is_none() && !self.done {
            return Err(finish::incomplete());
        }
        let mut calls = std::mem::take(&mut self.calls);
        if calls.is_empty() {
            calls = std::mem::take(&mut self.legacy);
        }
        let parts = &mut self.parts;
        self.think.finish(|piece| parts.take_piece(&piece, out));
        calls.announce(true, out);
        std::mem::take(&mut self.parts).reply(&self.asked, calls.finish())
    }
}

impl Parts {
    fn take_piece(&mut self, piece: &Piece<'_>, out: &mut Vec<Delta>) {
        match *piece {
            Piece::Reasoning(text) => {
                self.reasoning.push_str(text);
                out.push(Delta::Reasoning(text.to_owned()));
            }
            Piece::Text(text) => {
                self.text.push_str(text);
                out.push(Delta::Text(text.to_owned()));
            }
        }
    }
}

fn fragment<'a>(function: Option<&Function<'a>>) -> Fragment<'a> {
    Fragment {
        name: function.and_then(Function::name),
        arguments: function.and_then(Function::arguments),
        ..Fragment::default()
    }
}
