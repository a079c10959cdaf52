//! The two ways to a token: through a person, and through the one before.

use rmcp::transport::auth::{
    AuthError, AuthorizationCallback, AuthorizationManager, AuthorizationMetadata,
    CredentialStore as _, InMemoryCredentialStore, OAuthClientConfig, OAuthTokenResponse,
    StoredCredentials,
};
use serde_json::{Value, json};
use tracing::{instrument::WithSubscriber as _, subscriber::NoSubscriber};
use url::Url;

use super::{
    browser::Browser,
    error::OAuthError,
    identity::Identity,
    now,
    scopes::{metadata_url, union},
    store::{Entry, Token, TokenStore},
};

/// What is asked of a person.
#[derive(Debug)]
pub(super) struct Ask<'a> {
    /// The `WWW-Authenticate` header that led here; discovery starts from it.
    pub(super) challenge: Option<&'a str>,
    /// Scopes beyond those granted before. Empty: as the challenge, then the server's metadata, say.
    pub(super) scopes: Vec<String>,
}

/// The way to a token for one resource.
#[derive(Debug)]
pub(super) struct Flow<'a> {
    pub(super) resource: &'a Url,
    pub(super) identity: &'a Identity,
    pub(super) store: &'a TokenStore,
}

impl Flow<'_> {
    /// Lets a person grant access, and keeps what was granted.
    pub(super) async fn authorize(
        &self,
        browser: &dyn Browser,
        ask: Ask<'_>,
    ) -> Result<Entry, OAuthError> {
        let (mut manager, metadata) = self.discover(ask.challenge).await?;
        let issuer = metadata.issuer.clone();
        let before = self.store.load(self.resource)?;
        if let (Some(before), Some(client_id)) = (&before, &self.identity.client_id) {
            same_issuer(before, client_id, issuer.as_deref())?;
        }
        // Credentials and grants of another issuer are none here.
        let before = before.filter(|entry| entry.issuer == issuer);

        let scopes = self.scopes(&manager, &metadata, &ask.scopes, before.as_ref()).await;
        let redirect = browser.redirect_uri();
        let (client, registered) =
            self.client(&mut manager, &metadata, before, &redirect, &scopes).await?;
        manager.configure_client(client.clone())?;
        let wanted: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let page = manager.get_authorization_url(&wanted).await?;

        let back = browser.open(&page).await?;
        refused(&back)?;
        let callback = AuthorizationCallback::from_redirect_url(&back)?;
        let exchange = manager.exchange_code_for_token_with_issuer(
            &callback.code,
            &callback.csrf_token,
            callback.issuer.as_deref(),
        );
        let token = untraced(exchange).await?;
        let entry = Entry {
            resource: self.resource.to_string(),
            issuer,
            client_id: client.client_id,
            client_secret: client.client_secret.filter(|_| registered),
            metadata_url: ask.challenge.and_then(|header| metadata_url(header, self.resource)),
            redirect_uri: redirect,
            scopes: manager.get_current_scopes().await,
            received_at: now(),
            token: Some(taken(&token)?),
        };
        self.store.save(self.resource, &entry)?;
        Ok(entry)
    }

    /// Renews the token of `seen` without a person. Nothing when that is no longer possible: it was
    /// refused, there is nothing to renew it with, or the resource names another issuer now.
    pub(super) async fn refresh(&self, seen: &Entry) -> Result<Option<Entry>, OAuthError> {
        let (store, resource) = (self.store.clone(), self.resource.clone());
        // Waiting for another process blocks a thread, so it is not one of the runtime's own.
        let guard = tokio::task::spawn_blocking(move || store.guard(&resource)).await;
        let _guard = guard.map_err(|error| AuthError::InternalError(error.to_string()))??;
        let Some(entry) = self.store.load(self.resource)? else {
            return Ok(None);
        };
        if entry.token != seen.token {
            // Another process was here first.
            return Ok(Some(entry).filter(|entry| entry.token.is_some()));
        }
        let Some(refresh) = entry.token.as_ref().and_then(|token| token.refresh_token.clone())
        else {
            return Ok(None);
        };

        let challenge =
            entry.metadata_url.as_ref().map(|url| format!("Bearer resource_metadata=\"{url}\""));
        let (mut manager, metadata) = self.discover(challenge.as_deref()).await?;
        if metadata.issuer != entry.issuer {
            return Ok(None);
        }
        let secret = match &self.identity.client_id {
            Some(id) if *id == entry.client_id => self.identity.client_secret.clone(),
            _ => entry.client_secret.clone(),
        };
        manager.configure_client(client(&entry.client_id, secret, &entry.redirect_uri))?;
        let kept = InMemoryCredentialStore::new();
        kept.save(StoredCredentials::new(
            entry.client_id.clone(),
            Some(renewing(&refresh)?),
            entry.scopes.clone(),
            None,
        ))
        .await?;
        manager.set_credential_store(kept);
        let renewed = match untraced(manager.refresh_token()).await {
            Ok(token) => Entry { token: Some(taken(&token)?), received_at: now(), ..entry },
            Err(AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_)) => {
                // The registration stays good for the next login.
                self.store.save(self.resource, &Entry { token: None, ..entry })?;
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        self.store.save(self.resource, &renewed)?;
        Ok(Some(renewed))
    }

    /// Finds the authorization server. Its endpoints may be sent credentials.
    async fn discover(
        &self,
        challenge: Option<&str>,
    ) -> Result<(AuthorizationManager, AuthorizationMetadata), OAuthError> {
        let mut manager = AuthorizationManager::new(self.resource.as_str()).await?;
        let metadata = manager.resolve_metadata_from_challenge(challenge).await?.metadata;
        secure("authorization endpoint", &metadata.authorization_endpoint)?;
        secure("token endpoint", &metadata.token_endpoint)?;
        if let Some(endpoint) = &metadata.registration_endpoint {
            secure("registration endpoint", endpoint)?;
        }
        manager.set_metadata(metadata.clone());
        Ok((manager, metadata))
    }

    /// The scopes to ask for: what was granted before is not given up (SEP-2350), and
    /// `offline_access` is added where the server has it, so that the token can be renewed
    /// (SEP-2207).
    async fn scopes(
        &self,
        manager: &AuthorizationManager,
        metadata: &AuthorizationMetadata,
        asked: &[String],
        before: Option<&Entry>,
    ) -> Vec<String> {
        let granted = before.map(|entry| entry.scopes.as_slice()).unwrap_or_default();
        let wanted = match (asked, self.identity.scopes.as_slice()) {
            ([], []) => manager.select_initial_scopes(&[]).await,
            ([], configured) => configured.to_vec(),
            (asked, _) => asked.to_vec(),
        };
        let mut scopes = union(granted, &wanted);
        let offline = "offline_access".to_owned();
        let supported = metadata.scopes_supported.as_deref().unwrap_or_default();
        if !scopes.is_empty() && !scopes.contains(&offline) && supported.contains(&offline) {
            scopes.push(offline);
        }
        scopes
    }

    /// Who we are to this server, and whether that was registered on the spot.
    async fn client(
        &self,
        manager: &mut AuthorizationManager,
        metadata: &AuthorizationMetadata,
        before: Option<Entry>,
        redirect: &str,
        scopes: &[String],
    ) -> Result<(OAuthClientConfig, bool), OAuthError> {
        if let Some(id) = &self.identity.client_id {
            return Ok((client(id, self.identity.client_secret.clone(), redirect), false));
        }
        let documents = metadata.additional_fields.get("client_id_metadata_document_supported");
        if let Some(url) = &self.identity.client_metadata_url
            && documents.and_then(Value::as_bool) == Some(true)
        {
            return Ok((client(url, None, redirect), false));
        }
        // The registration of the last login, as long as people come back to the same place.
        if let Some(before) = before.filter(|entry| entry.redirect_uri == redirect)
            && Some(&before.client_id) != self.identity.client_metadata_url.as_ref()
        {
            return Ok((client(&before.client_id, before.client_secret, redirect), true));
        }
        let wanted: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let client = manager.register_client(Identity::CLIENT_NAME, redirect, &wanted).await?;
        Ok((client, true))
    }
}

/// Keeps `rmcp`'s own log out: it writes codes and what else an issuer puts beside a token (law 9).
fn untraced<F: Future>(work: F) -> impl Future<Output = F::Output> {
    work.with_subscriber(NoSubscriber::new())
}

fn client(id: &str, secret: Option<String>, redirect: &str) -> OAuthClientConfig {
    let client = OAuthClientConfig::new(id, redirect);
    match secret {
        Some(secret) => client.with_client_secret(secret),
        None => client,
    }
}

/// A client that was registered by hand is the issuer's that it was first used with.
fn same_issuer(before: &Entry, client_id: &str, named: Option<&str>) -> Result<(), OAuthError> {
    match (before.issuer.as_deref(), named) {
        (Some(known), named) if before.client_id == client_id && Some(known) != named => {
            Err(OAuthError::OtherIssuer {
                known: known.to_owned(),
                named: named.unwrap_or("none").to_owned(),
            })
        }
        _ => Ok(()),
    }
}

/// What the authorization server said instead of giving a code (RFC 6749, section 4.1.2.1).
fn refused(back: &str) -> Result<(), OAuthError> {
    let url = Url::parse(back).map_err(AuthError::from)?;
    let find = |name: &str| {
        url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    };
    match find("error") {
        Some(error) => Err(OAuthError::Refused { error, description: find("error_description") }),
        None => Ok(()),
    }
}

/// https, or http on this machine.
fn secure(what: &'static str, endpoint: &str) -> Result<(), OAuthError> {
    let insecure = || OAuthError::Insecure { what, url: endpoint.to_owned() };
    let url = Url::parse(endpoint).map_err(|_| insecure())?;
    let here = match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    match url.scheme() {
        "https" if url.has_host() => Ok(()),
        "http" if here => Ok(()),
        _ => Err(insecure()),
    }
}

/// The token that was issued. `rmcp` shows its members through a trait of another crate only, so
/// they are read from its JSON, which is that of RFC 6749.
fn taken(issued: &OAuthTokenResponse) -> Result<Token, OAuthError> {
    let unusable = || AuthError::TokenExchangeFailed("the answer holds no token".to_owned());
    let json = serde_json::to_value(issued).map_err(|_| unusable())?;
    let text = |name: &str| json.get(name).and_then(Value::as_str).map(str::to_owned);
    match text("token_type") {
        Some(kind) if kind.eq_ignore_ascii_case("bearer") => {}
        kind => return Err(OAuthError::TokenType(kind.unwrap_or_default())),
    }
    Ok(Token {
        access_token: text("access_token").ok_or_else(unusable)?,
        refresh_token: text("refresh_token"),
        expires_in: json.get("expires_in").and_then(Value::as_u64),
    })
}

/// What `rmcp` takes a token to renew from.
fn renewing(refresh: &str) -> Result<OAuthTokenResponse, OAuthError> {
    // The old token itself is not sent, and is not needed.
    let json = json!({ "access_token": "", "token_type": "bearer", "refresh_token": refresh });
    serde_json::from_value(json)
        .map_err(|_| AuthError::InternalError("a token cannot be renewed".to_owned()).into())
}
