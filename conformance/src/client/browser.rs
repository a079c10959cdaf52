//! A browser without a person: the suite's authorization server grants at once, by a redirect.

use callgate_tool::mcp::auth::{Browser, BrowserError, Opening};
use reqwest::{header, redirect};

/// Asks for the page and returns where it leads, without going there: nobody listens.
pub(super) struct Following;

impl Browser for Following {
    fn redirect_uri(&self) -> String {
        "http://localhost:3000/callback".to_owned()
    }

    fn open<'a>(&'a self, url: &'a str) -> Opening<'a> {
        Box::pin(async move {
            let failed = |error: reqwest::Error| BrowserError::Page(error.to_string());
            let client = reqwest::Client::builder().redirect(redirect::Policy::none());
            let answer = client.build().map_err(failed)?.get(url).send().await.map_err(failed)?;
            let location = answer.headers().get(header::LOCATION);
            let location = location.and_then(|value| value.to_str().ok()).map(str::to_owned);
            location.ok_or_else(|| {
                BrowserError::Page(format!("it answers {} and leads nowhere", answer.status()))
            })
        })
    }
}
