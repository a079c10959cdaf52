//! A streamed response: blocks that open, grow and close, each at its index.
//!
//! The reply has ended when a stop reason or `message_stop` came. Gateways put a call's whole input in its opening
//! and send no fragments; a call without arguments has neither.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::wire::{self, Block, Body, Counts, Kind, Tally};
use crate::{
    AssistantPart, Delta, ProviderError, Reply, Stop,
    events::{self, Trouble},
    finish::{Asked, Ended, push_text},
    json,
    raw::{Fields, Raw, number, object, string},
};

pub(super) struct Events {
    asked: Asked<'static>,
    blocks: BTreeMap<u64, Open>,
    calls: usize,
    tally: Tally,
    model: Option<String>,
    stop: Option<Stop>,
    done: bool,
}

/// A block on its way.
struct Open {
    kind: Kind,
    /// As it opened, JSON.
    start: String,
    /// Its text, thinking or input as far as it came in fragments.
    grown: String,
    signature: String,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow)]
    r#type: Raw<'a>,
    #[serde(borrow)]
    index: Raw<'a>,
    #[serde(borrow)]
    message: Option<Body<'a>>,
    #[serde(borrow)]
    content_block: Raw<'a>,
    #[serde(borrow)]
    delta: Option<Change<'a>>,
    #[serde(borrow)]
    usage: Option<Counts<'a>>,
    #[serde(borrow)]
    error: Raw<'a>,
}

/// Of a block, or of the message.
#[derive(Deserialize)]
struct Change<'a> {
    #[serde(borrow)]
    text: Raw<'a>,
    #[serde(borrow)]
    partial_json: Raw<'a>,
    #[serde(borrow)]
    thinking: Raw<'a>,
    #[serde(borrow)]
    signature: Raw<'a>,
    #[serde(borrow)]
    stop_reason: Raw<'a>,
}

impl Events {
    pub(super) fn new(asked: Asked<'static>) -> Self {
        Self {
            asked,
            blocks: BTreeMap::new(),
            calls: 0,
            tally: Tally::default(),
            model: None,
            stop: None,
            done: false,
        }
    }

    fn open(&mut self, at: u64, raw: &RawValue, out: &mut Vec<Delta>) -> Result<(), Trouble> {
        let block: Block<'_> = json::from_str(raw.get())?;
        let kind = block.kind();
        let mut open = Open {
            kind,
            start: raw.get().to_owned(),
            grown: String::new(),
            signature: String::new(),
        };
        let text = |raw: Raw<'_>| raw.and_then(string).unwrap_or_default().into_owned();
        match kind {
            Kind::Text => {
                open.grown = text(block.text);
                tell(Delta::Text, &open.grown, out);
            }
            Kind::Thinking => {
                open.grown = text(block.thinking);
                open.signature = text(block.signature);
                tell(Delta::Reasoning, &open.grown, out);
            }
            Kind::ToolUse => {
                let name = text(block.name);
                out.push(Delta::Call { index: self.calls, name });
                self.calls += 1;
            }
            Kind::Other => {}
        }
        self.blocks.insert(at, open);
        Ok(())
    }

    fn grow(&mut self, at: u64, change: &Change<'_>, out: &mut Vec<Delta>) {
        let Some(open) = self.blocks.get_mut(&at) else { return };
        if let Some(text) = change.text.and_then(string) {
            open.grown.push_str(&text);
            tell(Delta::Text, &text, out);
        }
        if let Some(thinking) = change.thinking.and_then(string) {
            open.grown.push_str(&thinking);
            tell(Delta::Reasoning, &thinking, out);
        }
        if let Some(json) = change.partial_json.and_then(string) {
            open.grown.push_str(&json);
        }
        if let Some(signature) = change.signature.and_then(string) {
            open.signature.push_str(&signature);
        }
    }
}

fn tell(delta: fn(String) -> Delta, text: &str, out: &mut Vec<Delta>) {
    if !text.is_empty() {
        out.push(delta(text.to_owned()));
    }
}

impl events::Events for Events {
    fn take(&mut self, data: &str, out: &mut Vec<Delta>) -> Result<(), Trouble> {
        let told = out.len();
        let event: Event<'_> = json::from_str(data)?;
        let last = self.blocks.last_key_value().map(|(at, _)| *at);
        let index = event.index.and_then(number);
        match event.r#type.and_then(string).as_deref() {
            Some("error") => return Err(wire::error(event.error).into()),
            Some("message_start") => {
                if let Some(message) = event.message {
                    self.model = message.model.and_then(string).map(Into::into);
                    message.usage.iter().for_each(|counts| self.tally.take(counts));
                }
            }
            Some("content_block_start") => {
                if let Some(block) = event.content_block {
                    let at = index.unwrap_or_else(|| last.map_or(0, |last| last + 1));
                    self.open(at, block, out)?;
                }
            }
            Some("content_block_delta") => {
                if let (Some(at), Some(change)) = (index.or(last), &event.delta) {
                    self.grow(at, change, out);
                }
            }
            Some("content_block_stop") => {
                let open = index.or(last).and_then(|at| self.blocks.get(&at));
                out.extend(open.and_then(|open| open.state(&self.asked)).map(Delta::State));
            }
            Some("message_delta") => {
                event.usage.iter().for_each(|counts| self.tally.take(counts));
                let reason = event.delta.and_then(|delta| delta.stop_reason).and_then(string);
                self.stop = reason.map(|reason| wire::stop(&reason)).or(self.stop);
            }
            Some("message_stop") => self.done = true,
            // Pings and what may come later.
            _ if event.error.is_some() => return Err(wire::error(event.error).into()),
            _ => {}
        }
        self.asked.restore(&mut out[told..]);
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn is_ending(&self) -> bool {
        self.done || self.stop.is_some()
    }

    fn reply(&mut self, _: &mut Vec<Delta>) -> Result<Reply, ProviderError> {
        let mut content = Vec::new();
        for open in std::mem::take(&mut self.blocks).into_values() {
            open.close(&self.asked, &mut content);
        }
        Ok(self.asked.reply(Ended {
            content,
            stop: self.stop.unwrap_or(Stop::End),
            usage: self.tally.usage(),
            model: self.model.take(),
        }))
    }
}

impl Open {
    fn close(self, asked: &Asked<'_>, content: &mut Vec<AssistantPart>) {
        content.extend(self.state(asked));
        let Self { kind, start, grown, .. } = self;
        match kind {
            Kind::Text => push_text(content, &grown),
            Kind::Thinking | Kind::Other => {}
            Kind::ToolUse => {
                let block: Block<'_> = json::from_str(&start).unwrap_or_default();
                let text = |raw: Raw<'_>| raw.and_then(string).unwrap_or_default().into_owned();
                let input =
                    if grown.is_empty() { block.input.map(RawValue::get) } else { Some(&*grown) };
                content.push(wire::call(text(block.id), text(block.name), input));
            }
        }
    }

    /// What is kept of it beyond its text.
    fn state(&self, asked: &Asked<'_>) -> Option<AssistantPart> {
        let Self { kind, start, grown, signature } = self;
        match kind {
            Kind::Text | Kind::ToolUse => None,
            Kind::Thinking => {
                // In the order in which it comes whole.
                let [text, signature] = [grown, signature].map(to_json_str);
                let json =
                    format!(r#"{{"type":"thinking","thinking":{text},"signature":{signature}}}"#);
                let opaque = Some(asked.opaque(json));
                Some(AssistantPart::Reasoning { text: grown.as_str().into(), opaque })
            }
            Kind::Other => {
                // The input of Anthropic's own tools comes in fragments too.
                let json = match (Fields::of(start), object(grown)) {
                    (Some(mut fields), Some(input)) => {
                        fields.set("input", input);
                        fields.json()
                    }
                    _ => start.clone(),
                };
                Some(AssistantPart::Opaque(asked.opaque(json)))
            }
        }
    }
}

fn to_json_str(text: &String) -> String {
    json::to_string(text)
}
