//! The seam to a person: a page is shown, and the page that they are sent back to is returned.

use std::{future::Future, io, pin::Pin, time::Duration};

use thiserror::Error;

/// The whole URL that the person was sent back to, on its way.
pub type Opening<'a> = Pin<Box<dyn Future<Output = Result<String, BrowserError>> + Send + 'a>>;

/// Shows a person the authorization server's page.
pub trait Browser: Send + Sync {
    /// Where they are sent back to: `redirect_uri` of RFC 6749.
    fn redirect_uri(&self) -> String;

    /// Shows the page at `url`, and waits until the person is sent back to [`Self::redirect_uri`].
    ///
    /// # Errors
    /// The page cannot be shown, or nobody came back in time.
    fn open<'a>(&'a self, url: &'a str) -> Opening<'a>;
}

/// The person could not be asked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BrowserError {
    /// Nothing can listen for the way back.
    #[error("cannot listen on {address} for the browser's way back: {source}")]
    Listen {
        /// Host and port.
        address: String,
        /// The system's words.
        source: io::Error,
    },
    /// Nobody came back.
    #[error("nobody came back from the login page within {} s; run the login again", .after.as_secs())]
    TimedOut {
        /// How long was waited.
        after: Duration,
    },
    /// The page led nowhere.
    #[error("the login page cannot be used: {0}")]
    Page(String),
}
