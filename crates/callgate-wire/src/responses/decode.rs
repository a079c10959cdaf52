//! A whole response.

use super::{
    item::Content,
    wire::{self, Body},
};
use crate::{ProviderError, Reply, failure, finish::Asked, json, raw::lossy};

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
    let end = body.end()?;
    let Some(items) = &body.output else { return Err(wire::no_output()) };
    let mut content = Content::default();
    for item in items {
        content.take(item.get(), asked).map_err(unreadable)?;
    }
    end.reply(content, asked)
}
