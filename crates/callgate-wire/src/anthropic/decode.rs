//! A whole response.

use super::wire::{self, Body, Tally};
use crate::{
    ProviderError, ProviderErrorKind, Reply, Retry, Stop, failure,
    finish::{Asked, Ended},
    json,
    raw::{lossy, string},
};

pub(super) fn reply(
    asked: &Asked<'_>,
    status: u16,
    retry_after_ms: Option<u64>,
    body: &[u8],
) -> Result<Reply, ProviderError> {
    let json = lossy(body);
    let json = json.trim_start_matches('\u{feff}');
    if !(200..300).contains(&status) {
        return Err(wire::error_of_response(status, retry_after_ms, json));
    }
    let body: Body<'_> = json::from_str(json).map_err(|error| failure::unreadable(json, &error))?;
    if body.error.is_some() || body.r#type.and_then(string).as_deref() == Some("error") {
        return Err(wire::error(body.error));
    }
    let Some(blocks) = body.content else {
        let message = "the server answered without any content";
        return Err(ProviderError::new(ProviderErrorKind::BadReply, message, Retry::Backoff));
    };
    let mut content = Vec::new();
    for block in blocks {
        wire::take(block, asked, &mut content);
    }
    let mut tally = Tally::default();
    if let Some(counts) = &body.usage {
        tally.take(counts);
    }
    Ok(asked.reply(Ended {
        content,
        stop: body.stop_reason.and_then(string).map_or(Stop::End, |reason| wire::stop(&reason)),
        usage: tally.usage(),
        model: body.model.and_then(string).map(Into::into),
    }))
}
