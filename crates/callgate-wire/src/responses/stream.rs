//! A streamed response: items that open, grow and close, each at its `output_index`.
//!
//! An item's own id is no key, since gateways change it from event to event. The closed item is
//! what counts; fragments are for showing, and for servers that do not close items. The reply has
//! ended with `response.completed`, `.incomplete` or `.failed`; without one of them nothing runs.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    item::{Content, Item, Kind, heading},
    wire::{self, Body, End},
};
use crate::{
    AssistantPart, Delta, ProviderError, Reply, ToolCall,
    events::{self, Trouble},
    finish::{self, Asked},
    json,
    raw::{Raw, number, string},
};

pub(super) struct Events {
    asked: Asked<'static>,
    slots: BTreeMap<u64, Slot>,
    calls: usize,
    end: Option<End>,
}

/// An item on its way.
#[derive(Default)]
struct Slot {
    /// As it opened, JSON.
    opened: Option<String>,
    /// As it closed, JSON.
    closed: Option<String>,
    text: String,
    refusal: String,
    reasoning: String,
    arguments: String,
    /// Arguments are said to be whole.
    whole: Option<String>,
    name: Option<String>,
    announced: bool,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow)]
    r#type: Raw<'a>,
    #[serde(borrow)]
    output_index: Raw<'a>,
    #[serde(borrow)]
    item: Raw<'a>,
    #[serde(borrow)]
    delta: Raw<'a>,
    #[serde(borrow)]
    arguments: Raw<'a>,
    #[serde(borrow)]
    input: Raw<'a>,
    #[serde(borrow)]
    name: Raw<'a>,
    #[serde(borrow)]
    response: Option<Body<'a>>,
    #[serde(borrow)]
    error: Raw<'a>,
}

impl Events {
    pub(super) fn new(asked: Asked<'static>) -> Self {
        Self { asked, slots: BTreeMap::new(), calls: 0, end: None }
    }

    fn slot(&mut self, at: Option<u64>) -> &mut Slot {
        let last = self.slots.last_key_value().map_or(0, |(at, _)| *at);
        self.slots.entry(at.unwrap_or(last)).or_default()
    }

    fn take_event(
        &mut self,
        event: Event<'_>,
        data: &str,
        out: &mut Vec<Delta>,
    ) -> Result<(), Trouble> {
        let kind = event.r#type.and_then(string).unwrap_or_default();
        let at = event.output_index.and_then(number);
        let delta = event.delta.and_then(string).unwrap_or_default();
        match &*kind {
            "error" => {
                // The error's fields are the event's own, or below `error`.
                let own = json::from_str(data).ok();
                return Err(wire::error(event.error.or(own)).into());
            }
            "response.output_item.added" => {
                if let Some(item) = event.item {
                    let next = self.slots.last_key_value().map_or(0, |(at, _)| *at + 1);
                    self.open(at.unwrap_or(next), item, out)?;
                }
            }
            "response.output_item.done" => {
                if let Some(item) = event.item {
                    self.close(at, item, out)?;
                }
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                self.slot(at).arguments.push_str(&delta);
            }
            "response.function_call_arguments.done" | "response.custom_tool_call_input.done" => {
                let slot = self.slot(at);
                slot.whole = event.arguments.or(event.input).and_then(string).map(Into::into);
                slot.name = event.name.and_then(string).map(Into::into).or(slot.name.take());
            }
            "response.output_text.delta" => {
                self.slot(at).text.push_str(&delta);
                tell(Delta::Text, &delta, out);
            }
            "response.refusal.delta" => {
                self.slot(at).refusal.push_str(&delta);
                tell(Delta::Text, &delta, out);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.slot(at).reasoning.push_str(&delta);
                tell(Delta::Reasoning, &delta, out);
            }
            "response.reasoning_summary_part.added" => {
                let slot = self.slot(at);
                if !slot.reasoning.is_empty() {
                    slot.reasoning.push_str("\n\n");
                    tell(Delta::Reasoning, "\n\n", out);
                }
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                let Some(body) = event.response else { return Err(wire::no_output().into()) };
                self.end(&body, out)?;
            }
            _ if event.error.is_some() => return Err(wire::error(event.error).into()),
            _ => {}
        }
        Ok(())
    }

    fn open(&mut self, at: u64, raw: &RawValue, out: &mut Vec<Delta>) -> Result<(), Trouble> {
        let item: Item<'_> = json::from_str(raw.get())?;
        let slot = self.slots.entry(at).or_default();
        slot.opened = Some(raw.get().to_owned());
        if item.kind() == Kind::Message {
            out.extend(heading(raw.get(), &self.asked).map(Delta::State));
        }
        announce(slot, &item, &mut self.calls, out);
        Ok(())
    }

    fn close(
        &mut self,
        at: Option<u64>,
        raw: &RawValue,
        out: &mut Vec<Delta>,
    ) -> Result<(), Trouble> {
        let item: Item<'_> = json::from_str(raw.get())?;
        let next = self.slots.last_key_value().map_or(0, |(at, _)| *at + 1);
        let slot = match at {
            Some(at) => self.slots.entry(at).or_default(),
            // By its id if it has opened, else one that comes whole.
            None => {
                let id = item.id.and_then(string);
                let same = |slot: &Slot| {
                    let opened = slot.opened.as_deref();
                    let opened = opened.and_then(|json| json::from_str::<Item<'_>>(json).ok());
                    id.is_some() && opened.and_then(|item| item.id).and_then(string) == id
                };
                let at = self.slots.iter().find(|(_, slot)| same(slot)).map(|(at, _)| *at);
                self.slots.entry(at.unwrap_or(next)).or_default()
            }
        };
        // What was not shown in fragments is shown now.
        match item.kind() {
            Kind::Message if slot.text.is_empty() && slot.refusal.is_empty() => {
                tell(Delta::Text, &item.shown(), out);
            }
            Kind::Reasoning if slot.reasoning.is_empty() => {
                tell(Delta::Reasoning, &item.shown(), out);
            }
            _ => {}
        }
        slot.closed = Some(raw.get().to_owned());
        out.extend(state(raw.get(), &item, &self.asked).map(Delta::State));
        announce(slot, &item, &mut self.calls, out);
        Ok(())
    }

    fn end(&mut self, body: &Body<'_>, out: &mut Vec<Delta>) -> Result<(), Trouble> {
        let end = body.end()?;
        // Servers that close no items say at least here what they came to. Where they stand is not
        // always where their events said, so each takes over the first of its kind.
        let output = body.output.iter().flatten();
        if self.slots.values().all(|slot| slot.closed.is_none()) && output.clone().next().is_some()
        {
            let mut open: Vec<_> = std::mem::take(&mut self.slots).into_values().collect();
            for (at, raw) in (0..).zip(output) {
                let item: Item<'_> = json::from_str(raw.get())?;
                let same = open.iter().position(|slot| slot.kind() == item.kind());
                self.slots.insert(at, same.map(|same| open.remove(same)).unwrap_or_default());
                self.close(Some(at), raw, out)?;
            }
        }
        self.end = Some(end);
        Ok(())
    }
}

fn tell(delta: fn(String) -> Delta, text: &str, out: &mut Vec<Delta>) {
    if !text.is_empty() {
        out.push(delta(text.to_owned()));
    }
}

/// What is kept of a closed item beyond its text.
fn state(json: &str, item: &Item<'_>, asked: &Asked<'_>) -> Option<AssistantPart> {
    match item.kind() {
        Kind::Reasoning => Some(AssistantPart::Reasoning {
            text: item.shown().into(),
            opaque: Some(asked.opaque(json)),
        }),
        Kind::Other => Some(AssistantPart::Opaque(asked.opaque(json))),
        Kind::Message | Kind::Call => None,
    }
}

fn announce(slot: &mut Slot, item: &Item<'_>, calls: &mut usize, out: &mut Vec<Delta>) {
    let name = item.name.and_then(string).unwrap_or_default();
    if item.kind() == Kind::Call && !slot.announced && !name.is_empty() {
        slot.announced = true;
        out.push(Delta::Call { index: *calls, name: name.into_owned() });
        *calls += 1;
    }
}

impl events::Events for Events {
    fn take(&mut self, data: &str, out: &mut Vec<Delta>) -> Result<(), Trouble> {
        let told = out.len();
        let event: Event<'_> = json::from_str(data)?;
        let taken = self.take_event(event, data, out);
        self.asked.restore(&mut out[told..]);
        taken
    }

    fn is_done(&self) -> bool {
        self.end.is_some()
    }

    fn reply(&mut self, _: &mut Vec<Delta>) -> Result<Reply, ProviderError> {
        let Some(end) = self.end.take() else { return Err(finish::incomplete()) };
        let mut content = Content::default();
        for slot in std::mem::take(&mut self.slots).into_values() {
            slot.finish(&mut content, &self.asked);
        }
        end.reply(content, &self.asked)
    }
}

impl Slot {
    fn kind(&self) -> Kind {
        let opened = self.opened.as_deref();
        match opened.and_then(|json| json::from_str::<Item<'_>>(json).ok()) {
            Some(item) => item.kind(),
            None if !self.text.is_empty() || !self.refusal.is_empty() => Kind::Message,
            None if !self.reasoning.is_empty() => Kind::Reasoning,
            None => Kind::Call,
        }
    }

    fn finish(self, content: &mut Content, asked: &Asked<'_>) {
        if let Some(closed) = &self.closed
            && content.take(closed, asked).is_ok()
        {
            return;
        }
        let opened = self.opened.as_deref();
        let item: Item<'_> = opened.and_then(|json| json::from_str(json).ok()).unwrap_or_default();
        let arguments = self.whole.unwrap_or(self.arguments);
        if item.kind() == Kind::Call || self.name.is_some() || !arguments.is_empty() {
            let text = |raw: Raw<'_>| raw.and_then(string).map(String::from);
            let call = ToolCall {
                id: text(item.call_id).unwrap_or_default().into(),
                name: text(item.name).or(self.name).unwrap_or_default().into(),
                arguments: arguments.into(),
                opaque: None,
            };
            content.call(call, asked);
            return;
        }
        // The encrypted part of reasoning that did not close may not be whole.
        if !self.reasoning.is_empty() {
            let text = self.reasoning.into();
            content.parts.push(AssistantPart::Reasoning { text, opaque: None });
        }
        content.refused |= !self.refusal.is_empty();
        content.text(self.text + &self.refusal);
    }
}
