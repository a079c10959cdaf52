//! Where a provider is, and what it is shown.

use std::{fmt, net::IpAddr};

use callgate_wire::{ProviderError, ProviderErrorKind};
use reqwest::{
    Url,
    header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue},
};

use super::failure;

/// A base URL with the headers and the words that belong to it.
///
/// Its `Debug` form shows no credentials.
#[derive(Clone)]
pub struct Endpoint {
    base: Url,
    headers: HeaderMap,
    /// The key and where it came from: the one is kept out of every message, the other put in.
    key: Option<(String, String)>,
    hint: String,
}

/// An endpoint that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// Not an absolute `http` or `https` URL.
    #[error("{text:?} is no http or https URL{}", cause.as_ref().map(|e| format!(": {e}")).unwrap_or_default())]
    Url {
        /// What was given.
        text: String,
        /// Why it does not parse, where it does not.
        cause: Option<String>,
    },
    /// A header value with characters that HTTP does not carry, such as a line end.
    #[error(
        "the value of {name} has characters that cannot be sent, such as a line end or a quote mark that is not ASCII"
    )]
    Header {
        /// The header, or where its value came from.
        name: String,
    },
    /// The HTTP client could not be made.
    #[error("the HTTP client could not be set up: {}", failure::cause(.0))]
    Client(#[source] reqwest::Error),
}

impl Endpoint {
    /// An endpoint at this base URL, such as `https://api.openai.com/v1`.
    ///
    /// A closing `/` or the path of an API, such as `/chat/completions`, as people paste it, is taken
    /// off. A query stays.
    ///
    /// # Errors
    /// Not an absolute `http` or `https` URL.
    pub fn new(base_url: &str) -> Result<Self, EndpointError> {
        let text = base_url.trim();
        let bad = |cause| EndpointError::Url { text: text.to_owned(), cause };
        let mut base = Url::parse(text).map_err(|error| bad(Some(error.to_string())))?;
        if !matches!(base.scheme(), "http" | "https") || base.host_str().is_none() {
            return Err(bad(None));
        }
        let path = base.path().trim_end_matches('/');
        let pasted = ["/chat/completions", "/responses", "/messages", "/api/chat"];
        let path = pasted.iter().find_map(|api| path.strip_suffix(api)).unwrap_or(path).to_owned();
        base.set_path(&path);
        Ok(Self { base, headers: HeaderMap::new(), key: None, hint: String::new() })
    }

    /// Sends this key as a bearer token. `source` is what people call it, such as the name of an
    /// environment variable.
    ///
    /// # Errors
    /// A key that no header can carry.
    pub fn bearer(self, key: &str, source: &str) -> Result<Self, EndpointError> {
        self.credentials(AUTHORIZATION, &format!("Bearer {key}"), key, source)
    }

    /// Sends this key as it is in a header of that name, such as `x-api-key`.
    ///
    /// # Errors
    /// A name or a key that HTTP does not know.
    pub fn key_header(self, name: &str, key: &str, source: &str) -> Result<Self, EndpointError> {
        let header = HeaderName::try_from(name)
            .map_err(|_| EndpointError::Header { name: name.to_owned() })?;
        self.credentials(header, key, key, source)
    }

    fn credentials(
        mut self,
        header: HeaderName,
        value: &str,
        key: &str,
        source: &str,
    ) -> Result<Self, EndpointError> {
        let mut value = HeaderValue::from_str(value)
            .map_err(|_| EndpointError::Header { name: source.to_owned() })?;
        value.set_sensitive(true);
        self.headers.insert(header, value);
        self.key = Some((key.to_owned(), source.to_owned()));
        Ok(self)
    }

    /// Sends this header.
    ///
    /// # Errors
    /// A name or value that HTTP does not know.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, EndpointError> {
        let bad = || EndpointError::Header { name: name.to_owned() };
        let key = HeaderName::try_from(name).map_err(|_| bad())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
        value.set_sensitive(true);
        self.headers.insert(key, value);
        Ok(self)
    }

    /// What a person can do when nobody answers here: one or two sentences.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// The base URL, without credentials or query.
    pub fn shown(&self) -> String {
        failure::shown(&self.base)
    }

    pub(super) fn base(&self) -> &Url {
        &self.base
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The URL of a path below the base, with the query of both.
    pub(super) fn url(&self, path: &str) -> Url {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let mut url = self.base.clone();
        url.set_path(&format!("{}{path}", self.base.path().trim_end_matches('/')));
        match self.base.query() {
            _ if query.is_empty() => {}
            Some(own) => url.set_query(Some(&format!("{own}&{query}"))),
            None => url.set_query(Some(query)),
        }
        url
    }

    /// No TLS.
    pub(super) fn is_plain(&self) -> bool {
        self.base.scheme() == "http"
    }

    pub(super) fn is_loopback(&self) -> bool {
        let host = self.base.host_str().unwrap_or_default();
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    }

    /// Credentials within the URL.
    pub(super) fn has_userinfo(&self) -> bool {
        !self.base.username().is_empty() || self.base.password().is_some()
    }

    /// The key that is sent, to be kept out of what is kept.
    pub(super) fn secret(&self) -> Option<&str> {
        self.key.as_ref().map(|(key, _)| key.as_str())
    }

    pub(super) fn unreachable_hint(&self) -> &str {
        &self.hint
    }

    /// Takes the key out of what the provider said, and says which key it was where it was refused.
    pub(super) fn explain(&self, error: &mut ProviderError) {
        let Some((key, source)) = &self.key else { return };
        if error.message.contains(key.as_str()) {
            error.message = error.message.replace(key.as_str(), "[key]");
        }
        if error.kind == ProviderErrorKind::Auth {
            error.message = format!("{} (the key came from {source})", error.message);
        }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = self.key.as_ref().map(|(_, source)| source);
        f.debug_struct("Endpoint").field("base", &self.shown()).field("key_from", &source).finish()
    }
}
