//! A whole response.

use super::{
    stream::Gathered,
    wire::{self, Body},
};
use crate::{
    ProviderError, ProviderErrorKind, Reply, Retry, Stop, failure, finish::Asked, json, raw::lossy,
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
    if let Some(error) = body.error() {
        return Err(error);
    }
    if body.message.is_none() {
        let message = "the server answered without any message";
        return Err(ProviderError::new(ProviderErrorKind::BadReply, message, Retry::Backoff));
    }
    let mut gathered = Gathered::default();
    gathered.take(&body, &mut Vec::new());
    gathered.reply(asked, Stop::End, &mut Vec::new())
}
