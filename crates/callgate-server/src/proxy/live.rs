//! A streamed answer on its way: words at once, calls once they are judged.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use callgate_wire::{
    AssistantPart, Delta, Reply,
    inbound::{Refusal, StreamWriter},
};
use tokio::sync::mpsc::UnboundedSender;

use super::{
    told::Told,
    turn::{BETWEEN, leans_on_what_follows, needs_gap},
};

/// What goes to the client's connection.
#[derive(Debug)]
pub(super) enum Piece {
    /// More of the stream.
    Bytes(Bytes),
    /// There is no stream: nothing of it had been sent. With what was done.
    Refused((Refusal, Told)),
}

/// The stream of one answer. Clones are the same stream.
#[derive(Clone)]
pub(super) struct Live(Arc<Mutex<Stream>>);

struct Stream {
    writer: Box<dyn StreamWriter>,
    out: UnboundedSender<Piece>,
    buffer: Vec<u8>,
    /// Whether anything was sent.
    begun: bool,
    /// Whether anything was sent since it was last asked.
    spoke: bool,
    /// State that waits for what follows it.
    states: Vec<AssistantPart>,
    /// The words of this attempt.
    words: String,
    /// The last words of the attempts before, until there are new ones.
    before: Option<String>,
}

impl Live {
    pub(super) fn new(writer: Box<dyn StreamWriter>, out: UnboundedSender<Piece>) -> Self {
        Self(Arc::new(Mutex::new(Stream {
            writer,
            out,
            buffer: Vec::new(),
            begun: false,
            spoke: false,
            states: Vec::new(),
            words: String::new(),
            before: None,
        })))
    }

    fn stream(&self) -> MutexGuard<'_, Stream> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// More of a reply.
    pub(super) fn delta(&self, delta: Delta) {
        let mut stream = self.stream();
        match delta {
            Delta::Text(text) if !text.is_empty() => stream.text(text),
            Delta::Reasoning(text) if !text.is_empty() => {
                stream.flush_states();
                stream.write(&Delta::Reasoning(text));
            }
            Delta::State(part) => stream.states.push(part),
            // Held until it is judged.
            Delta::Call { .. } | Delta::Text(_) | Delta::Reasoning(_) => {}
        }
        stream.send();
    }

    /// The words of this attempt, as far as they came.
    pub(super) fn words(&self) -> String {
        self.stream().words.clone()
    }

    /// The reply went back to the model; another attempt begins.
    pub(super) fn again(&self) {
        let mut stream = self.stream();
        // State that may not stand without the calls that followed it is not handed on.
        stream.states.retain(|part| !leans_on_what_follows(part));
        stream.flush_states();
        let words = std::mem::take(&mut stream.words);
        if !words.is_empty() {
            stream.before = Some(words);
        }
        stream.send();
    }

    /// The connection has been silent for a while.
    pub(super) fn keep_alive(&self) {
        let mut stream = self.stream();
        if !std::mem::take(&mut stream.spoke) {
            let Stream { writer, buffer, .. } = &mut *stream;
            writer.keep_alive(buffer);
            stream.send();
            stream.spoke = false;
        }
    }

    /// The answer: its calls, what was done, and the end.
    pub(super) fn finish(&self, reply: &Reply, told: &Told) {
        let mut stream = self.stream();
        stream.flush_states();
        let Stream { writer, buffer, .. } = &mut *stream;
        for call in reply.calls() {
            writer.call(call, buffer);
        }
        told.comment(buffer);
        writer.finish(reply, buffer);
        stream.send();
    }

    /// There is no answer.
    pub(super) fn fail(&self, refusal: Refusal, told: &Told) {
        let mut stream = self.stream();
        if !stream.begun {
            let _ = stream.out.send(Piece::Refused((refusal, told.clone())));
            return;
        }
        let Stream { writer, buffer, .. } = &mut *stream;
        told.comment(buffer);
        writer.fail(&refusal, buffer);
        stream.send();
    }
}

impl Stream {
    fn text(&mut self, text: String) {
        self.flush_states();
        if let Some(before) = self.before.take()
            && needs_gap(&before)
        {
            self.write(&Delta::Text(BETWEEN.to_owned()));
        }
        self.words.push_str(&text);
        self.write(&Delta::Text(text));
    }

    fn write(&mut self, delta: &Delta) {
        self.writer.delta(delta, &mut self.buffer);
    }

    fn flush_states(&mut self) {
        for part in std::mem::take(&mut self.states) {
            self.write(&Delta::State(part));
        }
    }

    /// Nobody may be there any more; whoever holds the other end stops the rest.
    fn send(&mut self) {
        if !self.buffer.is_empty() {
            self.begun = true;
            self.spoke = true;
            let bytes = std::mem::take(&mut self.buffer).into();
            let _ = self.out.send(Piece::Bytes(bytes));
        }
    }
}
