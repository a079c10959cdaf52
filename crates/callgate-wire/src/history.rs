//! A transcript made right for an API.
//!
//! Transcripts come from a run, from another provider, from a compaction or a person's editor.
//! Every API refuses one whose calls and results do not fit, each in its own words; so here, once:
//!
//! - every call is answered exactly once: a missing result is told as a cancelled call, a second
//!   one and one without a call are left out;
//! - results follow their reply at once and in the order of its calls; what stood between comes
//!   after them;
//! - ids are unique in the conversation and of the form that the API takes, the same for a call and
//!   its result;
//! - state that another provider or another model made is left out.
//!
//! Whatever is left out or made up is a [`Note`].

use std::{borrow::Cow, collections::hash_map::Entry, iter, sync::Arc};

use foldhash::{HashMap, HashMapExt as _};
use serde_json::value::RawValue;

use crate::{
    AssistantPart, Message, Note, Opaque, Part, ToolCall, ToolResult,
    ids::{IdRule, Ids},
    names::Names,
    raw,
};

/// What the model reads of a call that was never answered: the envelope of a cancelled call.
pub(crate) const NEVER_ANSWERED: &str = r#"{"ok":false,"error":{"kind":"cancelled","message":"This call has no result: it was cancelled, or its result was lost.","retryable":false,"executed":"unknown"}}"#;

/// What one API wants of a transcript.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// Whose opaque state goes back.
    pub(crate) codec: &'static str,
    pub(crate) ids: IdRule,
    /// Assistant messages in a row become one.
    pub(crate) merge: bool,
}

/// What the model said at once, the results of its calls, and what the user said then.
#[derive(Debug, Default)]
pub(crate) struct Turn<'a> {
    /// Empty for what comes before the first reply.
    pub(crate) said: Vec<Said<'a>>,
    /// One for each call, in their order.
    pub(crate) answers: Vec<Answer<'a>>,
    /// The contents of user messages.
    pub(crate) user: Vec<&'a [Part]>,
}

/// A part of a reply.
#[derive(Debug)]
pub(crate) enum Said<'a> {
    Text(&'a str),
    Reasoning {
        text: &'a str,
        /// This API's own state, JSON.
        own: Option<&'a str>,
    },
    Call(Call<'a>),
    /// This API's own state, JSON.
    Own(&'a str),
}

#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) id: Cow<'a, str>,
    pub(crate) name: Cow<'a, str>,
    /// As it stands in the transcript, JSON or not.
    pub(crate) arguments: &'a str,
    /// The same as an object's text; nothing where it is none, or none that every parser takes.
    pub(crate) object: Option<&'a RawValue>,
    /// This API's own state, JSON.
    pub(crate) own: Option<&'a str>,
}

#[derive(Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) id: Cow<'a, str>,
    pub(crate) name: Cow<'a, str>,
    /// `None` for a call that was never answered.
    pub(crate) result: Option<&'a ToolResult>,
}

impl<'a> Call<'a> {
    /// The arguments for an API that takes them as text: those that are no object fail whole
    /// requests with servers that parse them.
    pub(crate) fn text(&self) -> &'a str {
        match self.object {
            Some(_) if !self.arguments.trim().is_empty() => self.arguments,
            _ => "{}",
        }
    }
}

impl<'a> Answer<'a> {
    pub(crate) fn is_error(&self) -> bool {
        self.result.is_none_or(|result| result.is_error)
    }

    pub(crate) fn texts(&self) -> impl Iterator<Item = &'a str> + Clone + use<'a> {
        let given = self.result.into_iter().flat_map(|result| texts(&result.content));
        given.chain(self.result.is_none().then_some(NEVER_ANSWERED))
    }

    /// All text, line by line.
    pub(crate) fn text(&self) -> Cow<'a, str> {
        joined(self.texts(), "\n")
    }

    pub(crate) fn images(&self) -> impl Iterator<Item = Image<'a>> + Clone + use<'a> {
        self.result.into_iter().flat_map(|result| images(&result.content))
    }
}

/// An image, borrowed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Image<'a> {
    pub(crate) media_type: &'a str,
    /// Base64.
    pub(crate) data: &'a str,
}

impl Image<'_> {
    pub(crate) fn url(self) -> String {
        format!("data:{};base64,{}", self.media_type, self.data)
    }
}

pub(crate) fn texts(parts: &[Part]) -> impl Iterator<Item = &str> + Clone {
    parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(&**text),
        Part::Image { .. } => None,
    })
}

pub(crate) fn images(parts: &[Part]) -> impl Iterator<Item = Image<'_>> + Clone {
    parts.iter().filter_map(|part| match part {
        Part::Text { .. } => None,
        Part::Image { media_type, data } => Some(Image { media_type, data }),
    })
}

/// Texts as one, borrowed where there is only one.
pub(crate) fn joined<'a>(mut texts: impl Iterator<Item = &'a str>, by: &str) -> Cow<'a, str> {
    let mut all = Cow::Borrowed(texts.next().unwrap_or_default());
    for text in texts {
        let all = all.to_mut();
        all.push_str(by);
        all.push_str(text);
    }
    all
}

/// Notes the reasoning that came without state of this API's: there is no place to send it.
pub(crate) fn note_reasoning(turns: &[Turn<'_>], notes: &mut Vec<Note>) {
    let said = turns.iter().flat_map(|turn| &turn.said);
    let count = said
        .filter(|said| matches!(said, Said::Reasoning { text, own: None } if !text.is_empty()))
        .count();
    if count > 0 {
        notes.push(Note::ReasoningLeftOut { count });
    }
}

/// The turns of a transcript that is sent to this model; the first has nothing said.
pub(crate) fn turns<'a>(
    model: &'a str,
    messages: &'a [Arc<Message>],
    rules: Rules,
    names: &mut Names<'a>,
    notes: &mut Vec<Note>,
) -> Vec<Turn<'a>> {
    let mut reader = Reader {
        rules,
        model,
        names,
        notes,
        ids: Ids::new(rules.ids),
        turns: opening(messages.len()),
        calls: HashMap::new(),
        left_out: Vec::new(),
    };
    for message in messages {
        reader.take(message);
    }
    reader.finish()
}

/// The turn before any reply, and room for those that follow: a reply and its results take two messages.
fn opening<'a>(messages: usize) -> Vec<Turn<'a>> {
    let mut turns = Vec::with_capacity(1 + messages / 2);
    turns.push(Turn::default());
    turns
}

/// Where the calls of an id are: turn, and place among its answers. One, but for ids that come back.
#[derive(Debug)]
struct Places {
    first: (usize, usize),
    more: Vec<(usize, usize)>,
}

impl Places {
    fn all(&self) -> impl DoubleEndedIterator<Item = (usize, usize)> + Clone + '_ {
        iter::once(self.first).chain(self.more.iter().copied())
    }
}

struct Reader<'a, 'r> {
    rules: Rules,
    model: &'a str,
    names: &'r mut Names<'a>,
    notes: &'r mut Vec<Note>,
    ids: Ids<'a>,
    turns: Vec<Turn<'a>>,
    calls: HashMap<&'a str, Places>,
    left_out: Vec<(&'a str, usize)>,
}

impl<'a> Reader<'a, '_> {
    fn take(&mut self, message: &'a Message) {
        match message {
            Message::User { content } => self.last().user.push(content),
            Message::Assistant { content } => {
                let last = self.last();
                let goes_on =
                    !last.said.is_empty() && last.answers.is_empty() && last.user.is_empty();
                if !(self.rules.merge && goes_on) {
                    let said = Vec::with_capacity(content.len());
                    self.turns.push(Turn { said, ..Turn::default() });
                }
                for part in content {
                    self.take_part(part);
                }
            }
            Message::Tool(result) => self.take_result(result),
        }
    }

    fn last(&mut self) -> &mut Turn<'a> {
        // There is the opening at least.
        let last = self.turns.len() - 1;
        &mut self.turns[last]
    }

    fn take_part(&mut self, part: &'a AssistantPart) {
        let said = match part {
            AssistantPart::Text { text } => Said::Text(text),
            AssistantPart::Reasoning { text, opaque } => {
                let own = opaque.as_ref().and_then(|opaque| self.own(opaque));
                Said::Reasoning { text, own }
            }
            AssistantPart::Opaque(opaque) => match self.own(opaque) {
                Some(own) => Said::Own(own),
                None => return,
            },
            AssistantPart::Call(call) => self.take_call(call),
        };
        self.last().said.push(said);
    }

    fn take_call(&mut self, call: &'a ToolCall) -> Said<'a> {
        let given_id = &*call.id;
        let id = self.ids.next(given_id);
        if *id != *call.id {
            let wire = Arc::from(&*id);
            self.notes.push(Note::CallRenamed { call_id: Arc::clone(&call.id), wire });
        }
        let name = self.names.wire(&call.name);
        let own = call.opaque.as_ref().and_then(|opaque| self.own(opaque));
        let object = match call.arguments.trim() {
            "" => raw::object("{}"),
            text if raw::has_lone_surrogate(text) => None,
            text => raw::object(text),
        };
        let call = Call { id, name, arguments: &call.arguments, object, own };
        if object.is_none() {
            self.notes.push(Note::ArgumentsReplaced { call_id: given_id.into() });
        }
        let answer = Answer { id: call.id.clone(), name: call.name.clone(), result: None };
        let turn = self.turns.len() - 1;
        let place = (turn, self.turns[turn].answers.len());
        match self.calls.entry(given_id) {
            Entry::Vacant(entry) => drop(entry.insert(Places { first: place, more: Vec::new() })),
            Entry::Occupied(entry) => entry.into_mut().more.push(place),
        }
        self.turns[turn].answers.push(answer);
        Said::Call(call)
    }

    fn take_result(&mut self, result: &'a ToolResult) {
        let places = self.calls.get(&*result.call_id);
        let is_open = |&(turn, at): &(usize, usize)| -> bool {
            self.turns[turn].answers[at].result.is_none()
        };
        // Ids come back in later turns, and twice in one: the latest turn, its first open call.
        let all = || places.into_iter().flat_map(Places::all);
        let turn = all().rfind(is_open).map(|(turn, _)| turn);
        let open = all().filter(is_open).find(|(of, _)| Some(*of) == turn);
        match open {
            Some((turn, at)) => self.turns[turn].answers[at].result = Some(result),
            None => self.notes.push(Note::ResultLeftOut {
                call_id: Arc::clone(&result.call_id),
                duplicate: places.is_some(),
            }),
        }
    }

    /// The state if it is this codec's and of this model.
    fn own(&mut self, opaque: &'a Opaque) -> Option<&'a str> {
        let of_model = opaque.model.as_deref().is_none_or(|model| model == self.model);
        if *opaque.provider == *self.rules.codec && of_model {
            return Some(&opaque.json);
        }
        match self.left_out.iter_mut().find(|(provider, _)| *provider == &*opaque.provider) {
            Some((_, count)) => *count += 1,
            None => self.left_out.push((&opaque.provider, 1)),
        }
        None
    }

    fn finish(self) -> Vec<Turn<'a>> {
        let Self { notes, turns, left_out, .. } = self;
        for answer in turns.iter().flat_map(|turn| &turn.answers) {
            if answer.result.is_none() {
                notes.push(Note::ResultMissing { call_id: Arc::from(&*answer.id) });
            }
        }
        for (provider, count) in left_out {
            notes.push(Note::StateLeftOut { provider: provider.into(), count });
        }
        turns
    }
}
