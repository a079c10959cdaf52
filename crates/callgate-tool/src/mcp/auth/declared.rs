//! From a declared server to its credentials.

use std::sync::Arc;

use super::{Identity, OAuth, OAuthError, TokenStore};
use crate::{
    Env,
    mcp::{Authorizer, Authorizing, Challenge, Declared, OAuthSettings, Transport},
    secrets::Secrets,
    template::Template,
};

impl OAuth {
    /// The credentials for a server as a project declares it. None for a program, and for a server
    /// whose `headers` hold an `Authorization` of their own: that one counts.
    ///
    /// # Errors
    /// A variable is not set, or the URL is none.
    pub fn of(
        declared: &Declared,
        env: &Env,
        store: TokenStore,
    ) -> Result<Option<Self>, OAuthError> {
        let Transport::Http { url, headers } = &declared.config.transport else { return Ok(None) };
        if headers.keys().any(|name| name.eq_ignore_ascii_case("authorization")) {
            return Ok(None);
        }
        let url = resolved(url, env, "the server's URL")?;
        let identity = match &declared.oauth {
            Some(settings) => identity(settings, env)?,
            None => Identity::default(),
        };
        Self::new(declared.config.name.clone(), &url, identity, store).map(Some)
    }
}

/// The same for the server's client, which needs an answer only once the server asks: what is
/// wrong with the configuration is told then.
pub fn authorizer(
    declared: &Declared,
    env: &Env,
    store: TokenStore,
) -> Option<Arc<dyn Authorizer>> {
    match OAuth::of(declared, env, store) {
        Ok(oauth) => oauth.map(|oauth| Arc::new(oauth) as _),
        Err(error) => Some(Arc::new(Misconfigured(error.to_string()))),
    }
}

/// Has no credentials, and says why.
struct Misconfigured(String);

impl Authorizer for Misconfigured {
    fn authorization(&self) -> Authorizing<'_, Option<String>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    fn challenged(&self, _: Challenge) -> Authorizing<'_, bool> {
        Box::pin(std::future::ready(Err(self.0.clone())))
    }
}

fn identity(settings: &OAuthSettings, env: &Env) -> Result<Identity, OAuthError> {
    let secret = settings.client_secret.as_deref();
    let secret = secret.map(|secret| resolved(secret, env, "oauth.clientSecret")).transpose()?;
    Ok(Identity {
        client_id: settings.client_id.clone(),
        client_secret: secret,
        client_metadata_url: settings.client_metadata_url.clone(),
        scopes: settings.scopes.clone(),
    })
}

/// The text with its variables looked up. One that cannot be read was refused with its file.
fn resolved(text: &str, env: &Env, what: &'static str) -> Result<String, OAuthError> {
    let Ok(template) = Template::parse_variables(text) else { return Ok(text.to_owned()) };
    // The value goes into a request and nowhere else, so that there is nothing to mask.
    let resolved = template.resolve(env, &mut Secrets::default());
    resolved.map_err(|unset| OAuthError::Unset { name: unset.name, what })
}
