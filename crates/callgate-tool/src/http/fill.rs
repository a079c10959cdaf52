//! Filling templates: every text twice, as it is sent and as it may be shown.

use thiserror::Error;

use crate::{
    Env,
    arguments::{Arguments, as_text},
    call::misconfigured,
    secrets::Secrets,
    template::{Piece, Pointer, Template, Unset, Variable},
    text,
};
use callgate_contract::{ErrorKind, Executed, Failure};

/// A text as it is sent, and as it may be shown: with `${NAME}` where a variable's value is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filled {
    pub(crate) real: String,
    pub(crate) shown: String,
    /// Whether a value of the environment is in it.
    pub(crate) secret: bool,
}

impl Filled {
    pub(crate) fn plain(text: &str) -> Self {
        Self { real: text.to_owned(), shown: text.to_owned(), secret: false }
    }

    pub(crate) fn push(&mut self, text: &str) {
        self.real.push_str(text);
        self.shown.push_str(text);
    }

    pub(crate) fn push_secret(&mut self, value: &str, shown: &str) {
        self.real.push_str(value);
        self.shown.push_str(shown);
        self.secret = true;
    }

    pub(crate) fn append(&mut self, other: &Self) {
        self.real.push_str(&other.real);
        self.shown.push_str(&other.shown);
        self.secret |= other.secret;
    }

    pub(crate) fn mark(&self) -> (usize, usize) {
        (self.real.len(), self.shown.len())
    }

    pub(crate) fn back_to(&mut self, (real, shown): (usize, usize)) {
        self.real.truncate(real);
        self.shown.truncate(shown);
    }
}

/// What templates are filled from.
pub(crate) struct Fill<'a> {
    pub(crate) arguments: Arguments<'a>,
    pub(crate) env: &'a Env,
    pub(crate) secrets: &'a mut Secrets,
}

impl Fill<'_> {
    pub(crate) fn variable(
        &mut self,
        variable: &Variable,
        credential: bool,
    ) -> Result<String, Unfilled> {
        Ok(variable.resolve(self.env, self.secrets, credential)?)
    }

    /// A text from a template, each value changed by `encode`. `None` when an argument in it is
    /// absent or null.
    pub(crate) fn text(
        &mut self,
        template: &Template,
        encode: impl Fn(&str) -> String,
    ) -> Result<Option<Filled>, Unfilled> {
        let mut out = Filled::default();
        for piece in &template.0 {
            match piece {
                Piece::Text(text) => out.push(&encode(text)),
                Piece::Variable(variable) => {
                    let value = self.variable(variable, true)?;
                    out.push_secret(&encode(&value), &variable.shown());
                }
                Piece::Argument(pointer) => match self.argument(pointer) {
                    Some(json) => out.push(&encode(&as_text(json))),
                    None => return Ok(None),
                },
            }
        }
        Ok(Some(out))
    }

    /// The JSON of an argument that is there and not null.
    pub(crate) fn argument(&self, pointer: &Pointer) -> Option<&str> {
        self.arguments.get(pointer).filter(|json| *json != "null")
    }
}

/// Why a request could not be made. Nothing was sent.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum Unfilled {
    #[error("{name} is not set: the tool's request needs this environment variable")]
    Unset { name: String },
    #[error("{} needs the argument `{argument}`, which is not there", place)]
    Missing { argument: String, place: &'static str },
    #[error("`{value}` cannot stand in the path of a URL: it would lead to another place")]
    Climbs { value: String },
    #[error("an empty text cannot stand in the path of a URL: it would lead to another place")]
    EmptySegment,
    #[error("`{value}` cannot be part of a host name")]
    Host { value: String },
    #[error("the value for the header {name} has characters that no header takes")]
    Header { name: String },
    #[error(
        "`{value}` has the character `{separator}` in it, which separates values there: the service would read two"
    )]
    Separator { value: String, separator: &'static str },
    #[error("the cookie `{name}` has characters that no cookie takes: `{value}`")]
    Cookie { name: String, value: String },
    #[error("the text is no Base64")]
    Base64,
    #[error(
        "a file has either `text` or `base64`, each a text, and there is one file where one is sent"
    )]
    File,
    #[error("the tool's URL `{shown}` is not a URL")]
    Url { shown: String },
    #[error(transparent)]
    Denied(#[from] crate::guard::Denied),
}

impl Unfilled {
    pub(crate) fn missing(argument: Option<&Pointer>, place: &'static str) -> Self {
        let argument = argument.map(ToString::to_string).unwrap_or_default();
        Self::Missing { argument, place }
    }

    pub(crate) fn failure(&self) -> Failure {
        // It may quote an argument, and those have no bounds.
        let words = text::ends(&text::clean(&self.to_string()), text::QUOTED);
        match self {
            Self::Unset { .. } | Self::Url { .. } => misconfigured(words),
            Self::Missing { .. }
            | Self::EmptySegment
            | Self::Header { .. }
            | Self::Separator { .. }
            | Self::Cookie { .. }
            | Self::Base64
            | Self::File => Failure::new(ErrorKind::ToolError, words)
                .executed(Executed::No)
                .hint("Give a value and call again."),
            Self::Climbs { .. } | Self::Host { .. } | Self::Denied(_) => {
                Failure::new(ErrorKind::PolicyDenied, words)
            }
        }
    }
}

impl From<Unset> for Unfilled {
    fn from(unset: Unset) -> Self {
        Self::Unset { name: unset.name }
    }
}
