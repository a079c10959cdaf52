//! What can be read of a run: its status, its events, its large bodies.

use restate_sdk::prelude::*;

use crate::{
    blob::Packed,
    keys::Keys,
    message::{BlobFrom, BlobPiece, EventsPage},
    names,
    status::RunStatus,
    worker::Shared,
};

pub(crate) const STATUS: &str = "status";
pub(crate) const EVENTS: &str = "events";
pub(crate) const BLOB: &str = "blob";

/// The most batches in a page: each is read by a step of its own.
const BATCHES: usize = 200;
/// A page ends once it has this many bytes.
const BYTES: usize = 4 * 1024 * 1024;

/// How far a run is; nothing where there is none or it has not begun.
pub(crate) async fn status<'s>(
    ctx: &'s SharedWorkflowContext<'s>,
) -> HandlerResult<Option<RunStatus>> {
    Ok(ctx.get::<Json<RunStatus>>(names::STATUS).await?.map(Json::into_inner))
}

/// The batches from the one on that holds the event `from`.
pub(crate) async fn events<'s>(
    ctx: &'s SharedWorkflowContext<'s>,
    keys: &'s Keys,
    from: u64,
) -> HandlerResult<EventsPage> {
    let mut firsts: Vec<u64> =
        ctx.get_keys().await?.iter().filter_map(|key| names::first_of(key)).collect();
    firsts.sort_unstable();
    let known = !firsts.is_empty();
    let begin = firsts.partition_point(|first| *first <= from).saturating_sub(1);
    let (mut batches, mut bytes) = (Vec::new(), 0);
    for first in &firsts[begin.min(firsts.len())..] {
        if batches.len() == BATCHES || bytes >= BYTES {
            return Ok(EventsPage { batches, next: Some(*first), known });
        }
        let key = keys.keep(names::events(*first));
        if let Some(Json(packed)) = ctx.get::<Json<Packed>>(key).await? {
            bytes += match &packed {
                Packed::Here(json) => json.get().len(),
                Packed::Blob(_) => 100,
            };
            batches.push(packed);
        }
    }
    Ok(EventsPage { batches, next: None, known })
}

/// A piece of a body, for whoever does not reach the store.
pub(crate) async fn blob(worker: &Shared, from: &BlobFrom) -> HandlerResult<BlobPiece> {
    if from.body.hash.len() != 64 || !from.body.hash.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(
            TerminalError::new_with_code(400, "a body's hash has 64 hexadecimal digits").into()
        );
    }
    let text =
        worker.blobs.get(&from.body.hash).await.map_err(|e| TerminalError::new(e.to_string()))?;
    let begin = usize::try_from(from.from).unwrap_or(usize::MAX);
    let Some(rest) = text.get(begin..) else {
        return Err(TerminalError::new_with_code(400, "the body does not go that far").into());
    };
    let end = rest.floor_char_boundary(BYTES);
    let next = (end < rest.len()).then_some((begin + end) as u64);
    Ok(BlobPiece { text: rest[..end].to_owned(), next })
}
