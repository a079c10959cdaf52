//! The bytes of a run's last request, for the next one to begin with.
//!
//! A run asks with a transcript that only grows, so a body is mostly what was sent one hop before.
//! A [`Prefix`] that goes from request to request lets a codec write what came since and copy the
//! rest. No byte depends on it: where anything but the end of the transcript is different, or the
//! end is not plain, the whole is written anew.

use std::{
    any::Any,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use foldhash::HashSet;

use crate::{AssistantPart, Message, Note, Request, ToolDefinition};

/// What was written of a transcript, shared by the requests of one run. The default keeps nothing.
///
/// ```
/// use callgate_wire::{Codec, Message, Prefix, Request, chat::Chat};
///
/// let mut request = Request { prefix: Prefix::new(), ..Request::default() };
/// request.messages.push(Message::user("Hello!").into());
/// let first = Chat::openai().encode(&request, false);
/// request.messages.push(Message::assistant("Hello! What can I do?").into());
/// let second = Chat::openai().encode(&request, false);
///
/// request.prefix = Prefix::default();
/// assert_eq!(second.body, Chat::openai().encode(&request, false).body);
/// ```
#[derive(Clone, Default)]
pub struct Prefix(Option<Arc<Mutex<Option<Kept>>>>);

impl Prefix {
    /// One that keeps, for a run.
    pub fn new() -> Self {
        Self(Some(Arc::default()))
    }

    pub(crate) fn keeps(&self) -> bool {
        self.0.is_some()
    }

    fn take(&self) -> Option<Kept> {
        self.0.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn keep(&self, kept: Kept) {
        if let Some(place) = &self.0 {
            *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
        }
    }
}

impl fmt::Debug for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prefix").finish_non_exhaustive()
    }
}

/// A body that another may begin with.
struct Kept {
    /// The codec, with all that it writes by.
    dialect: Box<dyn Any + Send>,
    stream: bool,
    /// Without its transcript.
    request: Request,
    messages: Vec<Arc<Message>>,
    /// The ids of its calls.
    calls: HashSet<Arc<str>>,
    written: Written,
}

/// A body, and where its transcript ends.
#[derive(Clone)]
pub(crate) struct Written {
    pub(crate) body: Bytes,
    /// Before the bracket that closes the list of messages, of which there is one at least.
    pub(crate) end: usize,
    pub(crate) notes: Vec<Note>,
}

/// The body of a request that goes on where the last one of its run ended.
///
/// `write` appends messages as a list of at least one, as they would stand at the end of the whole;
/// it says no where they are not written as they are. Their calls have ids that none before has.
pub(crate) fn go_on<D: PartialEq + Send + 'static>(
    dialect: &D,
    request: &Request,
    stream: bool,
    write: impl FnOnce(&mut Vec<u8>, &[Arc<Message>]) -> bool,
) -> Option<Written> {
    let mut kept = request.prefix.take()?;
    if kept.dialect.downcast_ref() != Some(dialect) || kept.stream != stream {
        return None;
    }
    let new = kept.beyond(request)?;
    if !new.is_empty() {
        if !calls(new).all(|id| kept.calls.insert(Arc::clone(id))) {
            return None;
        }
        kept.messages.extend_from_slice(new);
        let written = kept.written.with(new, write)?;
        kept = Kept { written, ..kept };
    }
    let written = kept.written.clone();
    request.prefix.keep(kept);
    Some(written)
}

impl Written {
    /// The same body with more messages, in the same memory where nobody else reads it any more.
    fn with(
        self,
        new: &[Arc<Message>],
        write: impl FnOnce(&mut Vec<u8>, &[Arc<Message>]) -> bool,
    ) -> Option<Self> {
        let Self { body, end, notes } = self;
        let after = body[end..].to_vec();
        let mut body = Vec::from(body);
        body.truncate(end);
        if !write(&mut body, new) {
            return None;
        }
        // The bracket that opens the list stands where a comma belongs; the other is there already.
        body[end] = b',';
        body.pop();
        let end = body.len();
        body.extend_from_slice(&after);
        Some(Self { body: body.into(), end, notes })
    }
}

/// Keeps a body whose messages were all written as they are.
pub(crate) fn keep<D: Send + 'static>(
    dialect: D,
    request: &Request,
    stream: bool,
    written: &Written,
) {
    if !request.prefix.keeps() || request.messages.is_empty() {
        return;
    }
    let messages = request.messages.clone();
    let calls = calls(&messages).map(Arc::clone).collect();
    // Field by field, so that a new one is thought of.
    let Request {
        model,
        instructions,
        messages: _,
        tools,
        tool_choice,
        parallel_tool_calls,
        answer,
        max_output_tokens,
        temperature,
        sampling,
        effort,
        extra,
        trace: _,
        prefix: _,
    } = request;
    let alone = Request {
        model: model.clone(),
        instructions: instructions.clone(),
        messages: Vec::new(),
        tools: tools.clone(),
        tool_choice: tool_choice.clone(),
        parallel_tool_calls: *parallel_tool_calls,
        answer: answer.clone(),
        max_output_tokens: *max_output_tokens,
        temperature: *temperature,
        sampling: sampling.clone(),
        effort: effort.clone(),
        extra: extra.clone(),
        trace: None,
        prefix: Prefix::default(),
    };
    request.prefix.keep(Kept {
        dialect: Box::new(dialect),
        stream,
        request: alone,
        messages,
        calls,
        written: written.clone(),
    });
}

fn calls(messages: &[Arc<Message>]) -> impl Iterator<Item = &Arc<str>> {
    messages
        .iter()
        .flat_map(|message| match &**message {
            Message::Assistant { content } => &content[..],
            _ => &[],
        })
        .filter_map(|part| match part {
            AssistantPart::Call(call) => Some(&call.id),
            _ => None,
        })
}

impl Kept {
    /// The messages that the request has beyond those written; nothing where it is different in
    /// anything else that a body is made of.
    fn beyond<'r>(&self, request: &'r Request) -> Option<&'r [Arc<Message>]> {
        let (old, new) = request.messages.split_at_checked(self.messages.len())?;
        let is_same = std::iter::zip(old, &self.messages).all(|(old, new)| Arc::ptr_eq(old, new));
        (is_same && is_same_but_messages(&self.request, request)).then_some(new)
    }
}

fn is_same_but_messages(one: &Request, other: &Request) -> bool {
    one.model == other.model
        && one.instructions == other.instructions
        && are_same_tools(&one.tools, &other.tools)
        && one.tool_choice == other.tool_choice
        && one.parallel_tool_calls == other.parallel_tool_calls
        && match (&one.answer, &other.answer) {
            (None, None) => true,
            (Some(one), Some(other)) => {
                one.name == other.name
                    && Arc::ptr_eq(&one.schema, &other.schema)
                    && one.strict == other.strict
            }
            _ => false,
        }
        && one.max_output_tokens == other.max_output_tokens
        && one.temperature == other.temperature
        && one.sampling == other.sampling
        && one.effort == other.effort
        && one.extra == other.extra
}

fn are_same_tools(one: &Arc<[ToolDefinition]>, other: &Arc<[ToolDefinition]>) -> bool {
    let is_same = |(one, other): (&ToolDefinition, &ToolDefinition)| {
        one.name == other.name
            && one.description == other.description
            && Arc::ptr_eq(&one.parameters, &other.parameters)
            && one.strict == other.strict
            && Arc::ptr_eq(&one.examples, &other.examples)
            && one.defer == other.defer
    };
    Arc::ptr_eq(one, other)
        || (one.len() == other.len() && std::iter::zip(&**one, &**other).all(is_same))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Codec as _, Part, ToolCall, ToolResult, chat::Chat};

    fn hop(id: &str) -> [Arc<Message>; 2] {
        let call =
            ToolCall { id: id.into(), name: "get".into(), arguments: "{}".into(), opaque: None };
        let result = ToolResult {
            call_id: id.into(),
            name: "get".into(),
            content: vec![Part::Text { text: "fine".into() }],
            is_error: false,
        };
        let said = Message::Assistant { content: vec![AssistantPart::Call(call)] };
        [said.into(), Message::Tool(result).into()]
    }

    /// Whether the request's body begins with one that was kept: its first byte is made another one.
    fn goes_on(request: &Request) -> bool {
        if let Some(mut kept) = request.prefix.take() {
            let mut body = Vec::from(kept.written.body);
            body[0] = b'!';
            kept.written.body = body.into();
            request.prefix.keep(kept);
        }
        let body = Chat::openai().encode(request, false).body;
        request.prefix.take();
        Chat::openai().encode(request, false);
        body[0] == b'!'
    }

    #[test]
    fn what_only_grew_is_not_written_again() {
        let mut request = Request { prefix: Prefix::new(), ..Request::default() };
        request.messages.push(Message::user("Look!").into());
        assert!(!goes_on(&request), "nothing was kept");
        assert!(goes_on(&request), "the same once more");
        for id in ["a", "b"] {
            request.messages.extend(hop(id));
            assert!(goes_on(&request), "{id}");
        }
        request.model = "x".into();
        assert!(!goes_on(&request), "another model");
        request.messages.extend(hop("a"));
        assert!(!goes_on(&request), "an id that was there");
        request.messages.truncate(3);
        assert!(!goes_on(&request), "another transcript");
    }
}
