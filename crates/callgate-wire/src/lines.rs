//! Newline-delimited JSON, taken in at any cut.

use memchr::memchr;

use crate::{
    raw::lossy,
    sse::{MAX_EVENT_BYTES, SseError},
};

/// The decoder. Keeps the line that is not whole yet.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    line: Vec<u8>,
    failed: bool,
}

impl Lines {
    pub(crate) fn push(
        &mut self,
        mut bytes: &[u8],
        mut on_line: impl FnMut(&str),
    ) -> Result<(), SseError> {
        while let Some(end) = memchr(b'\n', bytes) {
            self.take(&bytes[..end])?;
            bytes = &bytes[end + 1..];
            let mut line = std::mem::take(&mut self.line);
            on_line(&lossy(&line));
            line.clear();
            self.line = line;
        }
        self.take(bytes)
    }

    /// The last line, where nothing closed it.
    pub(crate) fn finish(&mut self, mut on_line: impl FnMut(&str)) -> Result<(), SseError> {
        self.take(&[])?;
        on_line(&lossy(&std::mem::take(&mut self.line)));
        Ok(())
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), SseError> {
        self.failed |= self.line.len() + bytes.len() > MAX_EVENT_BYTES;
        if self.failed {
            return Err(SseError::EventTooLarge { limit: MAX_EVENT_BYTES });
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }
}
