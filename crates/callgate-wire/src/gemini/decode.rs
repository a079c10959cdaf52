//! A whole response.

use super::{
    parts::Gathered,
    wire::{self, Body, usage},
};
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
    let unreadable = |error| failure::unreadable(json, &error);
    let body: Body<'_> = json::from_str(json).map_err(unreadable)?;
    if let Some(error) = body.error {
        return Err(wire::error(error));
    }
    let usage = body.usage_metadata.as_ref().map(usage);
    let model = body.model_version.and_then(string).map(Into::into);
    let Some(candidate) = body.candidate() else {
        if body.is_blocked() {
            return Ok(asked.reply(Ended {
                content: Vec::new(),
                stop: Stop::Refusal,
                usage,
                model,
            }));
        }
        let message = "the server answered without any candidate";
        return Err(ProviderError::new(ProviderErrorKind::BadReply, message, Retry::Backoff));
    };
    let stop = candidate.stop()?.unwrap_or(Stop::End);
    let mut gathered = Gathered::default();
    for part in candidate.parts() {
        gathered.take(part, asked, &mut Vec::new()).map_err(unreadable)?;
    }
    Ok(asked.reply(Ended { content: gathered.finish(), stop, usage, model }))
}
