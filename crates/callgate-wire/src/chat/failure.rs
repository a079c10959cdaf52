//! Error bodies of the compatible servers, in all the places where they put them.

use super::wire::Body;
use crate::{
    ProviderError,
    failure::{self, Said, of_detail, of_message, says_something, status_of},
    json,
    raw::{string, text},
};

/// The failure that a status other than 2xx stands for.
pub(super) fn of_response(status: u16, retry_after_ms: Option<u64>, json: &str) -> ProviderError {
    let body = json::from_str::<Body<'_>>(json.trim_start_matches('\u{feff}'));
    let said = body.ok().and_then(|body| said(&body, true));
    failure::of_response(status, retry_after_ms, json, said)
}

/// The error object in a body or chunk that came under a 2xx status.
pub(super) fn in_band(body: &Body<'_>) -> Option<ProviderError> {
    said(body, body.choices.is_none()).map(Said::classify)
}

/// `bare`: no choices are there, so that a `detail` or a `message` alone is an error as well.
fn said(body: &Body<'_>, bare: bool) -> Option<Said> {
    let in_choice = || body.choice()?.error;
    let marked = [body.object, body.r#type]
        .into_iter()
        .flatten()
        .any(|raw| string(raw).is_some_and(|text| text == "error"));
    let mut said =
        if let Some(error) = body.error.or_else(in_choice).filter(|raw| says_something(raw)) {
            Said::of_error(error)
        } else if bare && let Some(detail) = body.detail {
            Said { message: of_detail(detail), ..Said::default() }
        } else if bare && let Some(message) = body.message {
            Said { message: of_message(message), ..Said::default() }
        } else if marked {
            Said::default()
        } else {
            return None;
        };
    // Beside an error object or instead of it.
    said.code = said.code.or_else(|| body.code.and_then(text).map(Into::into));
    said.r#type = said
        .r#type
        .or_else(|| body.r#type.and_then(string).map(Into::into).filter(|kind| kind != "error"));
    if said.message.is_empty() {
        said.message = body.message.map(of_message).unwrap_or_default();
    }
    said.status = said.status.or_else(|| said.code.as_deref().and_then(status_of));
    Some(said)
}
