//! From a response to an output.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use callgate_contract::{Content, ErrorKind, Failure, Output};
use reqwest::{
    Response, StatusCode,
    header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderName, LOCATION, RETRY_AFTER},
};
use serde_json::value::RawValue;

use crate::{secrets::Secrets, text};

/// What stands before the body.
pub(crate) struct Head {
    pub(crate) status: StatusCode,
    pub(crate) retry_after: Option<String>,
    pub(crate) location: Option<String>,
    /// Lower case, without parameters.
    media_type: String,
    latin1: bool,
    coding: Option<String>,
}

impl Head {
    pub(crate) fn of(response: &Response) -> Self {
        let header = |name: HeaderName| {
            let value = response.headers().get(name)?;
            Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let content_type = header(CONTENT_TYPE).unwrap_or_default().to_ascii_lowercase();
        let (media_type, parameters) = content_type.split_once(';').unwrap_or((&content_type, ""));
        Self {
            status: response.status(),
            retry_after: header(RETRY_AFTER),
            location: header(LOCATION),
            media_type: media_type.trim().to_owned(),
            latin1: parameters.replace(['"', ' '], "").contains("charset=iso-8859-1"),
            coding: header(CONTENT_ENCODING)
                .map(|coding| coding.trim().to_ascii_lowercase())
                .filter(|coding| !coding.is_empty() && coding != "identity"),
        }
    }

    pub(crate) fn is_html(&self) -> bool {
        matches!(self.media_type.as_str(), "text/html" | "application/xhtml+xml")
    }

    fn is_json(&self) -> bool {
        let subtype = self.media_type.rsplit('/').next().unwrap_or_default();
        subtype == "json" || subtype.ends_with("+json")
    }

    /// The body as text, if it is any.
    pub(crate) fn text(&self, body: &[u8]) -> Option<String> {
        if self.coding.is_some() {
            return None;
        }
        if self.latin1 {
            return Some(body.iter().copied().map(char::from).collect());
        }
        let text = std::str::from_utf8(body).ok().filter(|text| !text.contains('\0'))?;
        Some(text.strip_prefix('\u{feff}').unwrap_or(text).to_owned())
    }
}

pub(crate) enum Unread {
    TooLarge,
    Lost(reqwest::Error),
}

/// The body, as long as it keeps within its limit.
pub(crate) async fn read(mut response: Response, limit: usize) -> Result<Vec<u8>, Unread> {
    let announced = response.content_length().unwrap_or(0);
    if announced > u64::try_from(limit).unwrap_or(u64::MAX) {
        return Err(Unread::TooLarge);
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(Unread::Lost)? {
        if body.len() + chunk.len() > limit {
            return Err(Unread::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

pub(crate) fn too_large(limit: usize, safe: bool) -> Failure {
    Failure::new(ErrorKind::ToolError, format!("the server's answer is larger than {limit} bytes"))
        .retryable(safe)
        .hint("Ask for less: a narrower filter, a smaller page.")
}

/// The output that a successful response stands for.
pub(crate) fn output(head: &Head, body: &[u8], secrets: &Secrets) -> Result<Output, Failure> {
    if body.is_empty() {
        return Ok(Output::json("null"));
    }
    if let Some(coding) = &head.coding {
        let coding = text::ends(&text::clean(coding), 50);
        return Err(unusable(format!(
            "the server's answer is compressed ({coding}), which was not asked for"
        )));
    }
    if head.media_type.starts_with("image/") {
        let data = BASE64_STANDARD.encode(body);
        let media_type = head.media_type.as_str().into();
        return Ok(Output {
            content: vec![Content::Image { media_type, data: data.into() }],
            ..Output::default()
        });
    }
    let Some(text) = head.text(body) else {
        let kind = match head.media_type.as_str() {
            "" => "bytes of no stated type".to_owned(),
            media_type => text::ends(&text::clean(media_type), 100),
        };
        return Err(unusable(format!(
            "the server's answer ({kind}, {} bytes) is neither JSON nor text nor an image",
            body.len()
        )));
    };
    let text = secrets.scrub_output(&text);
    if (head.is_json() || head.media_type.is_empty())
        && let Ok(json) = serde_json::from_str::<&RawValue>(text.trim())
    {
        return Ok(Output::json(json.get()));
    }
    Ok(Output::text(text.as_ref()))
}

/// The tool did its work; nobody can read the result.
fn unusable(message: String) -> Failure {
    Failure::new(ErrorKind::ToolError, message).retryable(false)
}
