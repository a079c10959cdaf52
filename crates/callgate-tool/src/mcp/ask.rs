//! One request, and what came of it.

use super::{message::Members, pending::Reply, speech::Speech, wait::Limits};

/// One request, whatever carries it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ask<'a> {
    pub(super) method: &'static str,
    /// What `Mcp-Name` says over HTTP: the tool, or the task.
    pub(super) name: Option<&'a str>,
    pub(super) params: &'a Members,
    /// For `_meta`, beside what the protocol wants in it.
    pub(super) meta: &'a Members,
    /// Headers over HTTP: `Mcp-Param-*` in the new era, `traceparent` in both.
    pub(super) headers: &'a [(String, String)],
    pub(super) speech: &'a Speech,
    /// Whether to ask for signs of progress.
    pub(super) progress: bool,
    pub(super) limits: &'a Limits,
}

/// What came of a request.
#[derive(Debug)]
pub(super) struct Told {
    /// The parameters, as they were written.
    pub(super) params: String,
    /// Whether the server may have seen them.
    pub(super) sent: bool,
    pub(super) reply: Reply,
}

impl Ask<'_> {
    /// Parameters with `_meta`. The request's id is its progress token as well.
    pub(super) fn params(&self, id: u64) -> String {
        let mut meta = self.meta.clone();
        if self.progress {
            meta.push("progressToken", &id.to_string());
        }
        self.speech.dress(self.params, &meta)
    }
}
