//! A transcript as it is read, message by message.

use std::{collections::HashMap, sync::Arc};

use super::{Misread, body::refused};
use crate::{AssistantPart, Message, Note, Opaque, Part, Request, ToolCall, ToolResult};

/// What was read so far.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    instructions: Vec<String>,
    messages: Vec<Arc<Message>>,
    /// The reply that is being read.
    said: Option<Vec<AssistantPart>>,
    /// State that belongs to the call that comes next.
    pub(super) of_next_call: Option<Opaque>,
    /// Names by call id, since results have no name.
    names: HashMap<Arc<str>, Arc<str>>,
    /// Instructions that came after the first message.
    moved: usize,
}

impl Transcript {
    /// Instructions, wherever they stand.
    pub(super) fn instruct(&mut self, text: String) {
        self.moved += usize::from(!self.messages.is_empty() || self.said.is_some());
        if !text.is_empty() {
            self.instructions.push(text);
        }
    }

    pub(super) fn user(&mut self, content: Vec<Part>) {
        self.close();
        self.messages.push(Message::User { content }.into());
    }

    /// A reply begins.
    pub(super) fn begin(&mut self) {
        self.close();
        self.said = Some(Vec::new());
    }

    /// More of the reply, or of a new one.
    pub(super) fn say(&mut self, part: AssistantPart) {
        self.said.get_or_insert_default().push(part);
    }

    pub(super) fn call(&mut self, mut call: ToolCall) {
        call.opaque = call.opaque.or(self.of_next_call.take());
        self.names.insert(Arc::clone(&call.id), Arc::clone(&call.name));
        self.say(AssistantPart::Call(call));
    }

    pub(super) fn result(&mut self, call_id: &str, content: Vec<Part>, is_error: bool) {
        self.close();
        let name = self.names.get(call_id).cloned().unwrap_or_else(|| "".into());
        let result = ToolResult { call_id: call_id.into(), name, content, is_error };
        self.messages.push(Message::Tool(result).into());
    }

    /// The reply is whole.
    pub(super) fn close(&mut self) {
        self.of_next_call = None;
        if let Some(content) = self.said.take() {
            self.messages.push(Message::Assistant { content }.into());
        }
    }

    /// The id of the last call of this name.
    pub(super) fn last_call(&self, name: &str) -> Option<Arc<str>> {
        let calls = self.messages.iter().rev().filter_map(|message| match &**message {
            Message::Assistant { content } => Some(content),
            _ => None,
        });
        let mut calls = calls.flat_map(|content| content.iter().rev());
        calls.find_map(|part| match part {
            AssistantPart::Call(call) if &*call.name == name => Some(Arc::clone(&call.id)),
            _ => None,
        })
    }

    /// How many messages came.
    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    pub(super) fn finish(mut self, request: &mut Request, notes: &mut Vec<Note>) {
        self.close();
        if self.moved > 0 {
            notes.push(Note::InstructionsMoved { count: self.moved });
        }
        if !self.instructions.is_empty() {
            request.instructions = Some(self.instructions.join("\n\n").into());
        }
        request.messages = self.messages;
    }
}

pub(super) fn text(text: impl Into<Arc<str>>) -> Part {
    Part::Text { text: text.into() }
}

/// An image by its address, which has to hold it.
pub(super) fn image(url: &str, path: &str) -> Result<Part, Misread> {
    let Some(rest) = url.strip_prefix("data:") else {
        return Err(refused(
            path,
            "images are not fetched from elsewhere by this server; send the image itself, as \
             `data:image/png;base64,…`",
        ));
    };
    let parts = rest.split_once(',').and_then(|(head, data)| {
        let head = head.strip_suffix(";base64")?;
        let media_type = head.split(';').next().filter(|kind| !kind.is_empty())?;
        Some((media_type, data))
    });
    let Some((media_type, data)) = parts else {
        return Err(refused(path, "not of the form `data:image/png;base64,…`"));
    };
    Ok(Part::Image { media_type: media_type.into(), data: data.into() })
}
