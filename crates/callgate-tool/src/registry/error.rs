//! What can be wrong with a `backend` object, in words for whoever wrote it.

use thiserror::Error;

use crate::template::TemplateError;

/// A `backend` object that describes no backend.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BackendError {
    /// Empty, or none of its members is a kind.
    #[error("a backend is one of {}{}", list(kinds), did_you_mean(suggestion.as_deref()))]
    NoKind {
        /// The member that stands for the kind, if any stands there.
        found: Option<String>,
        /// The kinds there are.
        kinds: Vec<&'static str>,
        /// The nearest kind.
        suggestion: Option<String>,
    },
    /// More than one kind.
    #[error("a backend has exactly one kind, not {}", list(kinds))]
    SeveralKinds {
        /// Those found.
        kinds: Vec<&'static str>,
    },
    /// A member that the kind does not have.
    #[error("`{field}` is no member of a {kind} backend{}; it has {}", did_you_mean(suggestion.as_deref()), list(known))]
    UnknownField {
        /// Where it stands in the backend object.
        pointer: String,
        /// The kind.
        kind: &'static str,
        /// The member.
        field: String,
        /// The nearest one.
        suggestion: Option<String>,
        /// Those there are.
        known: Vec<String>,
    },
    /// A value of the wrong form.
    #[error("{source}")]
    Shape {
        /// Where it stands in the backend object.
        pointer: String,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// A text with a mistaken placeholder.
    #[error("{source}")]
    Template {
        /// Where it stands in the backend object.
        pointer: String,
        /// What is wrong.
        source: TemplateError,
    },
    /// A value that can be read, but cannot work.
    #[error("{problem}")]
    Invalid {
        /// Where it stands in the backend object.
        pointer: String,
        /// What is wrong.
        problem: Problem,
    },
    /// No server of that name is configured.
    #[error("there is no MCP server `{server}`{}", did_you_mean(suggestion.as_deref()))]
    NoServer {
        /// The name.
        server: String,
        /// The nearest one.
        suggestion: Option<String>,
    },
    /// The server has no pinned tool of that name.
    #[error("the server `{server}` has no accepted tool `{tool}`{}", did_you_mean(suggestion.as_deref()))]
    NotPinned {
        /// The server.
        server: String,
        /// The tool's name there.
        tool: String,
        /// The nearest one.
        suggestion: Option<String>,
    },
    /// No function of that name was registered.
    #[error("the program registered no function `{name}`{}", did_you_mean(suggestion.as_deref()))]
    NoFunction {
        /// The name.
        name: String,
        /// The nearest one registered.
        suggestion: Option<String>,
    },
}

/// What is wrong with a value that can be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// Something else where an object is meant.
    #[error("expected an object")]
    NotAnObject,
    /// `"command": []`.
    #[error("a command needs a program: [\"python3\", \"weather.py\"]")]
    EmptyCommand,
    /// An environment variable's name that no system takes.
    #[error("`{name}` cannot be the name of an environment variable")]
    VariableName {
        /// The name.
        name: String,
    },
    /// Not a method that tools use.
    #[error("`{method}` is no method: GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS")]
    Method {
        /// What stands there.
        method: String,
    },
    /// A body on a method that has none.
    #[error("{method} requests have no body; use POST, PUT or PATCH, or put it in `query`")]
    BodyOnGet {
        /// The method.
        method: String,
    },
    /// A header that is not the contract's to set.
    #[error("the header `{name}` is set by the HTTP client itself")]
    ReservedHeader {
        /// Its name.
        name: String,
    },
    /// Not a header's name.
    #[error("`{name}` cannot be the name of a header")]
    HeaderName {
        /// What stands there.
        name: String,
    },
    /// Not a cookie's name.
    #[error("`{name}` cannot be the name of a cookie")]
    CookieName {
        /// What stands there.
        name: String,
    },
    /// A query value, header or field that is not text, number, boolean, styled value or a list of
    /// them.
    #[error(
        "a query parameter, a header or a field is a text, a number, a boolean, {{\"value\", \"style\"}} or, where it can be repeated, a list of them"
    )]
    QueryValue,
    /// A style that is of no use where it stands.
    #[error("the style `{style}` has no form there: {}", list(known))]
    Style {
        /// What stands there.
        style: &'static str,
        /// Those that have.
        known: Vec<&'static str>,
    },
    /// A text where one argument has to be.
    #[error("`{found}` is not one placeholder such as {{name}}")]
    NoSoleArgument {
        /// What stands there.
        found: String,
    },
    /// A style for something that is not in the URL.
    #[error("the URL has no {{{name}}} in its path, so nothing can be written there")]
    NoPlaceholder {
        /// The name.
        name: String,
    },
    /// More than one body.
    #[error(
        "a request has one of `body`, `form`, `multipart` and `raw`; there is `{first}` already"
    )]
    SeveralBodies {
        /// The one that comes first.
        first: &'static str,
    },
    /// Content from several sources, or from none.
    #[error("content has exactly one of `text`, `base64` and `file`")]
    Content,
    /// A file name without a part.
    #[error("only a part of `multipart` has a file name")]
    Filename,
    /// A URL whose scheme is neither http nor https.
    #[error("`{url}` does not begin with http://, https:// or a variable such as ${{BASE_URL}}")]
    Url {
        /// What stands there.
        url: String,
    },
}

impl BackendError {
    /// Where the mistake is: a JSON Pointer (RFC 6901) into the backend object.
    pub fn pointer(&self) -> String {
        match self {
            Self::NoKind { found: Some(found), .. } => pointer_to(found),
            Self::NoKind { .. } | Self::SeveralKinds { .. } => String::new(),
            Self::NoFunction { .. } => "/function".to_owned(),
            Self::NoServer { .. } => "/mcp/server".to_owned(),
            Self::NotPinned { .. } => "/mcp/tool".to_owned(),
            Self::UnknownField { pointer, .. }
            | Self::Shape { pointer, .. }
            | Self::Template { pointer, .. }
            | Self::Invalid { pointer, .. } => pointer.clone(),
        }
    }

    pub(crate) fn invalid(pointer: impl Into<String>, problem: Problem) -> Self {
        Self::Invalid { pointer: pointer.into(), problem }
    }

    pub(crate) fn template(pointer: impl Into<String>) -> impl FnOnce(TemplateError) -> Self {
        let pointer = pointer.into();
        |source| Self::Template { pointer, source }
    }

    /// The same mistake, one level further down.
    pub(crate) fn below(mut self, parent: &str) -> Self {
        match &mut self {
            Self::UnknownField { pointer, .. }
            | Self::Shape { pointer, .. }
            | Self::Template { pointer, .. }
            | Self::Invalid { pointer, .. } => pointer.insert_str(0, parent),
            Self::NoKind { .. }
            | Self::SeveralKinds { .. }
            | Self::NoFunction { .. }
            | Self::NoServer { .. }
            | Self::NotPinned { .. } => {}
        }
        self
    }
}

fn list<S: AsRef<str>>(names: &[S]) -> String {
    names.iter().map(|n| format!("`{}`", n.as_ref())).collect::<Vec<_>>().join(", ")
}

fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map(|s| format!("; did you mean `{s}`?")).unwrap_or_default()
}

/// One step of a JSON Pointer.
pub(crate) fn pointer_to(key: &str) -> String {
    format!("/{}", key.replace('~', "~0").replace('/', "~1"))
}
