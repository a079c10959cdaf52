//! Why there are no credentials for a server.

use std::{io, path::PathBuf, sync::Arc};

use rmcp::transport::auth::AuthError;
use thiserror::Error;

use super::browser::BrowserError;

/// Why there are no credentials for a server. No text holds a secret.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OAuthError {
    /// The server's address is no http(s) URL.
    #[error("`{url}` is not an http(s) URL, so nobody can log in there")]
    NotAUrl {
        /// What came.
        url: String,
    },
    /// A variable of the configuration is not set.
    #[error("the environment variable {name} is not set, and {what} needs it")]
    Unset {
        /// The variable.
        name: String,
        /// What names it.
        what: &'static str,
    },
    /// A person has to log in first.
    #[error("the server asks for a login: run `callgate mcp login {server}{}`", scope_option(.scopes))]
    LoginNeeded {
        /// The server's name in the project.
        server: Arc<str>,
        /// What the server asks for, where it says so.
        scopes: Vec<String>,
    },
    /// The server asks for what the token was granted.
    #[error(
        "the server `{server}` refuses a token that has the scopes it asks for ({}); logging in \
         again will not help: its operator has to say why",
        .scopes.join(" ")
    )]
    ScopeInVain {
        /// The server's name in the project.
        server: Arc<str>,
        /// What it asks for.
        scopes: Vec<String>,
    },
    /// An endpoint that tokens or people must not be sent to.
    #[error(
        "the authorization server's {what} is `{url}`; credentials are sent over https only (http \
         on this machine)"
    )]
    Insecure {
        /// Which endpoint.
        what: &'static str,
        /// Where it is.
        url: String,
    },
    /// The configured client belongs to another authorization server.
    #[error(
        "the client id of the configuration was used with the authorization server {known}, and the \
         server now names {named}; a client id is not sent to another authorization server. If the \
         change is right, run `callgate mcp logout` for this server, and check the client id"
    )]
    OtherIssuer {
        /// Who issued before.
        known: String,
        /// Who is named now.
        named: String,
    },
    /// Discovery, registration or an exchange of tokens failed.
    #[error("authorization failed: {}", chain(.0))]
    Protocol(#[from] AuthError),
    /// The authorization server, or the person there, said no.
    #[error(
        "the authorization server refused: {error}{}",
        .description.as_deref().map(|text| format!(" ({text})")).unwrap_or_default()
    )]
    Refused {
        /// The code of RFC 6749, section 4.1.2.1.
        error: String,
        /// The server's words.
        description: Option<String>,
    },
    /// A token that is presented in another way.
    #[error(
        "the authorization server issued a token of type `{0}`; only bearer tokens can be used"
    )]
    TokenType(String),
    /// The person could not be asked.
    #[error(transparent)]
    Browser(#[from] BrowserError),
    /// The file of a token cannot be read or written.
    #[error("the token file {path} cannot be used: {source}")]
    Store {
        /// Which file.
        path: PathBuf,
        /// The system's words.
        source: io::Error,
    },
    /// No folder for tokens.
    #[error(
        "there is no folder to keep tokens in: set CALLGATE_CONFIG_DIR (or XDG_CONFIG_HOME, or HOME)"
    )]
    NoFolder,
}

fn scope_option(scopes: &[String]) -> String {
    if scopes.is_empty() { String::new() } else { format!(" --scope \"{}\"", scopes.join(" ")) }
}

/// An error with its sources, which `rmcp` leaves out of its own texts.
fn chain(error: &AuthError) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}
