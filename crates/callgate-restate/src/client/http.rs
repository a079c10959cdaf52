//! Requests and answers.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::ClientError;

/// The first pause between tries; each later one is twice as long, up to [`LONGEST`].
const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(5);
/// How long an answer may take that is not waited for on purpose.
const ANSWER: Duration = Duration::from_secs(60);

/// A server of Restate's. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Http {
    client: reqwest::Client,
    base: Arc<str>,
}

impl Http {
    pub(super) fn new(base: &str) -> Result<Self, ClientError> {
        // Restate stands in the same network; a proxy for the internet is none for it.
        let client = reqwest::Client::builder()
            .no_proxy()
            .connect_timeout(Duration::from_secs(5))
            .build()
            .map_err(|e| ClientError::Setup(told(&e)))?;
        Ok(Self { client, base: base.trim_end_matches('/').into() })
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    pub(super) fn base(&self) -> &str {
        &self.base
    }

    /// A GET whose answer may take as long as it takes.
    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        let url = self.url(path);
        self.answer(url.clone(), self.client.get(url)).await
    }

    pub(super) async fn post<B: Serialize, T: DeserializeOwned>(
        &self,
        path: &str,
        body: &B,
    ) -> Result<T, ClientError> {
        let url = self.url(path);
        let json = serde_json::to_vec(body)
            .map_err(|e| ClientError::Setup(format!("a request has no JSON: {e}")))?;
        let request = self
            .client
            .post(url.clone())
            .timeout(ANSWER)
            .header("content-type", "application/json")
            .header("accept", "application/json")
            .body(json);
        self.answer(url, request).await
    }

    pub(super) async fn patch(&self, path: &str) -> Result<(), ClientError> {
        let url = self.url(path);
        let request = self.client.patch(url.clone()).timeout(ANSWER);
        self.answer::<serde::de::IgnoredAny>(url, request).await.map(drop)
    }

    async fn answer<T: DeserializeOwned>(
        &self,
        url: String,
        request: reqwest::RequestBuilder,
    ) -> Result<T, ClientError> {
        let unreachable = |e: reqwest::Error| ClientError::Unreachable {
            url: url.clone(),
            detail: told(&e.without_url()),
        };
        let response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let body = response.bytes().await.map_err(unreachable)?;
        if !status.is_success() {
            let message = message(&body);
            return Err(ClientError::Refused { url, status: status.as_u16(), message });
        }
        let body = if body.is_empty() { b"null".as_slice() } else { &body };
        serde_json::from_slice(body).map_err(|e| ClientError::Answer { url, detail: e.to_string() })
    }

    /// Tries again while the server cannot be reached or is not ready, for `patience` at a time.
    pub(super) async fn patiently<T, F: Future<Output = Result<T, ClientError>>>(
        &self,
        patience: Duration,
        ask: impl Fn() -> F,
    ) -> Result<T, ClientError> {
        let (mut pause, mut since) = (FIRST, None::<Instant>);
        loop {
            let asked = Instant::now();
            let error = match ask().await {
                Ok(answer) => return Ok(answer),
                Err(error) if is_passing(&error) => error,
                Err(error) => return Err(error),
            };
            // An answer that was waited for was no outage until it broke off.
            if asked.elapsed() > LONGEST {
                (pause, since) = (FIRST, None);
            }
            if since.get_or_insert_with(Instant::now).elapsed() > patience {
                return Err(error);
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST);
        }
    }
}

/// Whether an error may be gone when the same is asked again.
pub(super) fn is_passing(error: &ClientError) -> bool {
    match error {
        ClientError::Unreachable { .. } => true,
        ClientError::Refused { status, .. } => matches!(status, 408 | 429 | 502 | 503 | 504),
        _ => false,
    }
}

/// The words in an error's body: `{"message": …}`, or the beginning of it as it is.
fn message(body: &[u8]) -> String {
    if let Ok(json) = serde_json::from_slice::<Value>(body)
        && let Some(words) = json["message"].as_str()
    {
        return words.to_owned();
    }
    let text = String::from_utf8_lossy(body);
    text[..text.floor_char_boundary(500)].trim().to_owned()
}

/// An error with what caused it.
fn told(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_words = cause.to_string();
        if !words.contains(&cause_words) {
            words.push_str(": ");
            words.push_str(&cause_words);
        }
        source = cause.source();
    }
    words
}
