//! Logins at a project's HTTP servers.

use callgate_tool::mcp::{
    ClientOptions, Declared,
    auth::{OAuth, OAuthError, TokenStore, authorizer},
};

use super::{Opening, Project, ProjectBuilder, ProjectServer};

impl ProjectBuilder {
    /// Uses the logins that are kept there at the project's HTTP servers. A server that wants one
    /// that is not there is answered with an error that says so; nobody is asked.
    #[must_use]
    pub fn tokens(mut self, tokens: TokenStore) -> Self {
        self.opening.tokens = Some(tokens);
        self
    }
}

impl Project {
    /// The credentials for one of its servers, to log in or out with. None for a program, and for
    /// a server whose `headers` hold an `Authorization` of their own.
    ///
    /// # Errors
    /// The configuration needs a variable that is not set, or there is no folder for logins.
    pub fn oauth(&self, server: &ProjectServer) -> Result<Option<OAuth>, OAuthError> {
        let tokens = match &self.opening.tokens {
            Some(tokens) => tokens.clone(),
            None => TokenStore::user()?,
        };
        OAuth::of(server.declared(), &self.opening.env, tokens)
    }
}

/// What the client of one server does, with the logins that are kept.
pub(super) fn client_of(
    server: &Declared,
    opening: &Opening,
    tokens: &TokenStore,
) -> ClientOptions {
    let mut options = opening.clients.clone();
    if options.authorizer.is_none() {
        options.authorizer = authorizer(server, &opening.env, tokens.clone());
    }
    options
}
