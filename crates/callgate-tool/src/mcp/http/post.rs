//! Sending one HTTP request, with credentials, and again where they were refused.

use std::sync::atomic::{AtomicBool, Ordering};

use reqwest::{
    Method, Response,
    header::{AUTHORIZATION, HeaderMap, HeaderValue, WWW_AUTHENTICATE},
};

use super::Http;
use crate::mcp::{
    challenge::{Challenge, MAX_CHALLENGES},
    error::McpError,
};

/// One HTTP request.
pub(super) struct Post {
    pub(super) method: Method,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<String>,
}

impl Http {
    /// Sends it. `sent` tells afterwards whether a server may have acted on it.
    pub(super) async fn send(&self, post: &Post, sent: &AtomicBool) -> Result<Response, McpError> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            let response = self.send_once(post, sent).await?;
            let status = response.status().as_u16();
            if !matches!(status, 401 | 403) {
                return Ok(response);
            }
            // Whoever refuses a request has not executed it.
            sent.store(false, Ordering::Relaxed);
            let refused = |why| Err(McpError::Unauthorized { status, why });
            let www_authenticate = challenge_of(&response);
            let Some(authorizer) = &self.endpoint.authorizer else {
                let said = super::answer::short_body(response).await;
                return refused(said.or(www_authenticate));
            };
            if attempt > MAX_CHALLENGES {
                return refused(Some("it refuses every credential that was got for it".to_owned()));
            }
            let challenge = Challenge { status, www_authenticate, attempt };
            match authorizer.challenged(challenge).await {
                Ok(true) => {}
                Ok(false) => return refused(super::answer::short_body(response).await),
                Err(why) => return refused(Some(why)),
            }
        }
    }

    async fn send_once(&self, post: &Post, sent: &AtomicBool) -> Result<Response, McpError> {
        let mut headers = self.endpoint.headers.clone();
        headers.extend(post.headers.clone());
        if let Some(authorizer) = &self.endpoint.authorizer {
            let refused = |why| McpError::Unauthorized { status: 401, why: Some(why) };
            if let Some(value) = authorizer.authorization().await.map_err(refused)? {
                let mut value = HeaderValue::from_str(&value).map_err(|_| {
                    refused("the credential holds characters that no header can".to_owned())
                })?;
                value.set_sensitive(true);
                headers.insert(AUTHORIZATION, value);
            }
        }
        let mut request =
            self.client.request(post.method.clone(), self.endpoint.url.clone()).headers(headers);
        if let Some(body) = &post.body {
            request = request.body(body.clone());
        }
        sent.store(true, Ordering::Relaxed);
        request.send().await.map_err(|error| {
            if error.is_connect() || error.is_builder() {
                sent.store(false, Ordering::Relaxed);
                McpError::NotReached(crate::http::cause(error))
            } else {
                McpError::Lost { why: crate::http::cause(error), sent: true }
            }
        })
    }
}

fn challenge_of(response: &Response) -> Option<String> {
    let values: Vec<_> = response
        .headers()
        .get_all(WWW_AUTHENTICATE)
        .iter()
        .map(|value| String::from_utf8_lossy(value.as_bytes()))
        .collect();
    (!values.is_empty()).then(|| values.join(", "))
}
