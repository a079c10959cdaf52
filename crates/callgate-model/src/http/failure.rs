//! What went wrong below the provider's own words. URLs are as they are [`shown`].

use std::{error::Error, time::Duration};

use callgate_wire::{ProviderError, ProviderErrorKind, Retry};
use reqwest::Url;

use super::endpoint::Endpoint;

/// A URL without credentials and query.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // These fail only for URLs that cannot have them.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.into()
}

/// A request or a response that was lost on its way.
#[derive(Debug)]
pub(super) struct Lost {
    /// There was no connection yet.
    pub(super) connecting: bool,
    /// A time limit was up.
    pub(super) late: bool,
    pub(super) cause: String,
}

/// The innermost cause, which is the one that says something.
pub(super) fn cause(error: &(dyn Error + 'static)) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

/// No response at all.
pub(super) fn unanswered(lost: Lost, endpoint: &Endpoint, url: &str) -> ProviderError {
    let what = match lost.late && lost.connecting {
        true => "no connection within the time limit".to_owned(),
        false => lost.cause,
    };
    let message = if lost.connecting {
        let hint = endpoint.unreachable_hint();
        let hint =
            if hint.is_empty() { "Is the address right, and is the server up?" } else { hint };
        format!("cannot reach {url}: {what}. {hint}")
    } else {
        format!("no answer from {url}: {what}")
    };
    transport(message)
}

/// A response that broke off.
pub(super) fn broken_off(lost: &Lost, url: &str) -> ProviderError {
    transport(format!("the answer from {url} broke off: {}", lost.cause))
}

pub(super) fn silent(url: &str, limit: Duration) -> ProviderError {
    transport(format!("nothing came from {url} for {} s", limit.as_secs_f64()))
}

pub(super) fn too_large(url: &str, limit: usize) -> ProviderError {
    let message = format!("the answer from {url} is larger than {limit} bytes");
    ProviderError::new(ProviderErrorKind::BadReply, message, Retry::Never)
}

/// A redirect, which is not followed.
pub(super) fn moved(url: &str, location: &str, status: u16) -> ProviderError {
    let to = Url::parse(location).map_or_else(|_| location.to_owned(), |location| shown(&location));
    let message = format!("{url} redirects to {to}; set the base URL to where it really is");
    let mut error = ProviderError::new(ProviderErrorKind::NotFound, message, Retry::Never);
    error.status = Some(status);
    error
}

fn transport(message: String) -> ProviderError {
    ProviderError::new(ProviderErrorKind::Transport, message, Retry::Backoff)
}
