//! A request as it was received.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::{Misread, body::Object};
use crate::{Extra, Note, Request, json};

/// A request, and what its answer has to know.
#[derive(Debug, Clone)]
pub struct Received {
    /// What is asked, in no provider's dialect. The model's name is the client's.
    pub request: Request,
    /// Whether the answer is to be streamed.
    pub stream: bool,
    /// What was read otherwise than it was said, such as marks for a provider's prompt cache.
    pub notes: Vec<Note>,
    /// What only the provider of this dialect can do: its own tools and content, each by its
    /// place in the body. [`Received::check`] tells whether another can be asked.
    pub bound: Vec<Arc<str>>,
    /// The [name](crate::Codec::name) of this dialect's codec.
    pub codec: &'static str,
    pub(super) echo: Echo,
}

/// What goes into the answer as it came.
#[derive(Debug, Clone, Default)]
pub(super) struct Echo {
    /// Chat: whether a last chunk tells the usage of a stream.
    pub(super) include_usage: bool,
    /// Chat: whether the client knows only `function_call`, the predecessor of `tool_calls`.
    pub(super) legacy: bool,
    /// Responses: fields of the request that the response repeats, in order.
    pub(super) fields: Vec<(&'static str, Arc<RawValue>)>,
}

impl Received {
    pub(super) fn new(codec: &'static str) -> Self {
        Self {
            request: Request::default(),
            stream: false,
            notes: Vec::new(),
            bound: Vec::new(),
            codec,
            echo: Echo::default(),
        }
    }

    /// Something that only this dialect's provider can do.
    pub(super) fn bind(&mut self, path: impl Into<Arc<str>>) {
        self.bound.push(path.into());
    }

    /// What of the body is nobody's goes on as it is, and with it the fields of `more`.
    pub(super) fn extra(&mut self, rest: Object<'_>, more: Vec<(&'static str, String)>) {
        let own = rest.rest().map(|(name, value)| (name.into_owned(), value.get().to_owned()));
        let more = more.into_iter().map(|(name, json)| (name.to_owned(), json));
        let mut fields = String::new();
        for (name, json) in own.chain(more) {
            fields.push(if fields.is_empty() { '{' } else { ',' });
            fields.push_str(&json::to_string(&name));
            fields.push(':');
            fields.push_str(&json);
        }
        if !fields.is_empty() {
            fields.push('}');
            self.request.extra = Some(Extra { provider: self.codec.into(), fields: fields.into() });
        }
    }

    /// Whether the codec of this [name](crate::Codec::name) can be asked for all of it.
    ///
    /// # Errors
    /// Something is in the request that only this dialect's own provider can do.
    pub fn check(&self, codec: &str) -> Result<(), Misread> {
        if codec == self.codec {
            return Ok(());
        }
        let Some(first) = self.bound.first() else { return Ok(()) };
        let more = match self.bound.len() - 1 {
            0 => String::new(),
            n => format!(" (and {n} more)"),
        };
        Err(Misread {
            message: format!(
                "`{first}`{more} is something that only a provider of this API can do itself, and \
                 this model's provider speaks another one: leave it out, or name a model of a \
                 provider that speaks this API"
            ),
            param: Some((**first).to_owned()),
        })
    }
}

/// What an answer is stamped with. The same stamp and reply give the same bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// Of which all ids in the answer are made: unique, of `[A-Za-z0-9]`, some twenty of them.
    pub id: Arc<str>,
    /// When the answer began, seconds since 1970.
    pub created: u64,
    /// The model's name as the client is told it.
    pub model: Arc<str>,
}
