//! OAuth for HTTP servers: tokens kept, refreshed, stepped up and, with a person at hand, obtained.
//!
//! The protocol parts are `rmcp`'s `auth` module: discovery (RFC 9728, RFC 8414, OpenID Connect),
//! PKCE, dynamic registration (RFC 7591), issuer checks (RFC 9207), resource indicators (RFC 8707).
//! What is here is what an SDK leaves to its host:
//!
//! - **A run never waits for a browser.** [`OAuth`] without a [`Browser`] uses what is stored and
//!   refreshes it; everything else ends in an error that names the command to run.
//! - **Tokens stay in one place.** A file per resource, readable by its owner alone ([`TokenStore`]);
//!   never in a journal, a log or a message (law 9).
//! - **Credentials belong to who issued them** (SEP-2352). When a resource names another
//!   authorization server than before, tokens and registrations of the earlier one are not used.
//! - **Scopes grow, and not for ever** (SEP-2350). A step-up asks for what was granted before and
//!   what is missing; a scope that the token has already is not asked for again.
//! - **Pages and tokens travel safely.** Endpoints are https, or http on this machine.

mod browser;
mod declared;
mod error;
mod flow;
mod identity;
mod loopback;
mod probe;
mod scopes;
mod store;
#[cfg(test)]
mod tests;

use std::{
    fmt,
    sync::Arc,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use tokio::sync::Mutex;
use url::Url;

pub use browser::{Browser, BrowserError, Opening};
pub use declared::authorizer;
pub use error::OAuthError;
pub use identity::Identity;
pub use loopback::Loopback;
pub use store::TokenStore;

use self::{
    flow::{Ask, Flow},
    scopes::{Bearer, missing},
    store::Entry,
};
use super::challenge::{Authorizer, Authorizing, Challenge};

/// What a login came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// Who issued the token, where the server's metadata names it.
    pub issuer: Option<String>,
    /// What it is good for; empty when nobody spoke of scopes.
    pub scopes: Vec<String>,
    /// Whether it can be renewed without a person.
    pub renewable: bool,
}

/// The credentials for one HTTP server.
pub struct OAuth {
    server: Arc<str>,
    resource: Url,
    identity: Identity,
    store: TokenStore,
    browser: Option<Arc<dyn Browser>>,
    /// Held while credentials are renewed: requests that were refused meanwhile wait for the
    /// outcome instead of starting their own.
    renewal: Mutex<Renewal>,
}

/// What is known of the last renewal.
#[derive(Debug, Default)]
struct Renewal {
    ended: Option<Instant>,
}

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuth")
            .field("server", &self.server)
            .field("resource", &self.resource.as_str())
            .field("browser", &self.browser.is_some())
            .finish_non_exhaustive()
    }
}

impl OAuth {
    /// Credentials for the server at `resource`, called `server` in the project.
    ///
    /// # Errors
    /// `resource` is not an http(s) URL.
    pub fn new(
        server: impl Into<Arc<str>>,
        resource: &str,
        identity: Identity,
        store: TokenStore,
    ) -> Result<Self, OAuthError> {
        let url = Url::parse(resource)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https"))
            .ok_or_else(|| OAuthError::NotAUrl { url: resource.to_owned() })?;
        Ok(Self {
            server: server.into(),
            resource: url,
            identity,
            store,
            browser: None,
            renewal: Mutex::default(),
        })
    }

    /// With a person at hand: what needs a login is asked of them at once.
    #[must_use]
    pub fn with_browser(mut self, browser: Arc<dyn Browser>) -> Self {
        self.browser = Some(browser);
        self
    }

    /// Lets a person log in, for `scopes` as well.
    ///
    /// # Errors
    /// There is no browser, the server's metadata cannot be used, or the person or the
    /// authorization server said no.
    pub async fn login(&self, scopes: &[String]) -> Result<Login, OAuthError> {
        let Some(browser) = &self.browser else {
            return Err(self.login_needed(scopes.to_vec()));
        };
        let mut renewal = self.renewal.lock().await;
        let challenge = probe::challenge(&self.resource).await;
        let ask = Ask { challenge: challenge.as_deref(), scopes: scopes.to_vec() };
        let entry = self.flow().authorize(browser.as_ref(), ask).await?;
        renewal.ended = Some(Instant::now());
        Ok(entry.login())
    }

    /// Forgets the stored token and registration; whether there was one.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn logout(&self) -> Result<bool, OAuthError> {
        self.store.remove(&self.resource)
    }

    fn flow(&self) -> Flow<'_> {
        Flow { resource: &self.resource, identity: &self.identity, store: &self.store }
    }

    fn login_needed(&self, scopes: Vec<String>) -> OAuthError {
        OAuthError::LoginNeeded { server: self.server.clone(), scopes }
    }

    async fn current(&self, now: u64) -> Result<Option<String>, OAuthError> {
        let Some(entry) = self.store.load(&self.resource)? else {
            return Ok(None);
        };
        if !entry.is_due(now) {
            return Ok(entry.bearer());
        }
        let asked = Instant::now();
        let mut renewal = self.renewal.lock().await;
        if renewal.ended.is_some_and(|ended| ended > asked) {
            return Ok(self.store.load(&self.resource)?.and_then(|entry| entry.bearer()));
        }
        let renewed = match self.flow().refresh(&entry).await {
            Ok(renewed) => renewed,
            // An issuer in trouble costs nothing while the token is good.
            Err(_) if !entry.is_over(now) => return Ok(entry.bearer()),
            Err(error) => return Err(error),
        };
        renewal.ended = Some(Instant::now());
        // Without one the server will say what it wants.
        Ok(renewed.and_then(|entry| entry.bearer()))
    }

    async fn answer(&self, challenge: Challenge) -> Result<bool, OAuthError> {
        let asked = Instant::now();
        let mut renewal = self.renewal.lock().await;
        if renewal.ended.is_some_and(|ended| ended > asked) {
            return Ok(true);
        }
        let header = challenge.www_authenticate.as_deref();
        let bearer = Bearer::parse(header);
        let entry = self.store.load(&self.resource)?;
        match challenge.status {
            401 => {
                if let Some(entry) =
                    entry.filter(|entry| challenge.attempt == 1 && entry.renewable())
                    && self.flow().refresh(&entry).await?.is_some()
                {
                    renewal.ended = Some(Instant::now());
                    return Ok(true);
                }
            }
            403 if bearer.insufficient_scope => {
                let have = entry.map(|entry| entry.scopes).unwrap_or_default();
                if !bearer.scopes.is_empty() && missing(&bearer.scopes, &have).is_empty() {
                    return Err(OAuthError::ScopeInVain {
                        server: self.server.clone(),
                        scopes: bearer.scopes,
                    });
                }
            }
            _ => return Ok(false),
        }
        let Some(browser) = &self.browser else {
            return Err(self.login_needed(bearer.scopes));
        };
        // A 401 is a fresh start, whose scopes are chosen from the challenge and the metadata; a 403
        // adds to what is there.
        let scopes = if challenge.status == 403 { bearer.scopes } else { Vec::new() };
        let ask = Ask { challenge: header, scopes };
        self.flow().authorize(browser.as_ref(), ask).await?;
        renewal.ended = Some(Instant::now());
        Ok(true)
    }
}

impl Authorizer for OAuth {
    fn authorization(&self) -> Authorizing<'_, Option<String>> {
        Box::pin(async { self.current(now()).await.map_err(|error| error.to_string()) })
    }

    fn challenged(&self, challenge: Challenge) -> Authorizing<'_, bool> {
        Box::pin(async { self.answer(challenge).await.map_err(|error| error.to_string()) })
    }
}

impl Entry {
    fn login(&self) -> Login {
        Login {
            issuer: self.issuer.clone(),
            scopes: self.scopes.clone(),
            renewable: self.renewable(),
        }
    }
}

/// Seconds since 1970, as token expiries are counted.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
