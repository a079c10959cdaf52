//! Lines to a server, whole ones only.

use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering},
};

use tokio::{io::AsyncWriteExt as _, process::ChildStdin, sync::mpsc};
use tokio_util::sync::CancellationToken;

/// A line on its way.
#[derive(Debug, Clone)]
pub(super) struct Outgoing(Arc<Line>);

#[derive(Debug)]
struct Line {
    text: String,
    state: AtomicU8,
}

const QUEUED: u8 = 0;
/// From the moment on at which the server may see it.
const WRITTEN: u8 = 1;
const TAKEN_BACK: u8 = 2;

impl Outgoing {
    pub(super) fn new(text: String) -> Self {
        Self(Arc::new(Line { text, state: AtomicU8::new(QUEUED) }))
    }

    /// Whether it will never be written.
    pub(super) fn take_back(&self) -> bool {
        self.move_on(TAKEN_BACK) || self.0.state.load(Ordering::Acquire) == TAKEN_BACK
    }

    pub(super) fn was_written(&self) -> bool {
        self.0.state.load(Ordering::Acquire) == WRITTEN
    }

    fn move_on(&self, to: u8) -> bool {
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        self.0.state.compare_exchange(QUEUED, to, success, failure).is_ok()
    }
}

/// Lines that go out in one write.
const BATCH: usize = 64;

/// Writes lines until the connection closes or ends; stdin is closed then.
pub(super) async fn write(
    stdin: Option<ChildStdin>,
    mut queue: mpsc::Receiver<Outgoing>,
    closing: CancellationToken,
    ended: CancellationToken,
) {
    let Some(mut stdin) = stdin else { return };
    let mut batch = Vec::new();
    let mut bytes = Vec::new();
    loop {
        batch.clear();
        tokio::select! {
            biased;
            () = ended.cancelled() => return,
            received = queue.recv_many(&mut batch, BATCH) => if received == 0 { return },
            // What was asked before the close still goes out.
            () = closing.cancelled() => return,
        }
        bytes.clear();
        for line in batch.iter().filter(|line| line.move_on(WRITTEN)) {
            bytes.extend_from_slice(line.0.text.as_bytes());
            bytes.push(b'\n');
        }
        let written = tokio::select! {
            biased;
            () = ended.cancelled() => return,
            written = stdin.write_all(&bytes) => written,
        };
        if written.is_err() {
            // The server closed its stdin: what was taken from the queue may or may not have been
            // read, what is still in it has not. The supervisor sees the end of the process.
            return;
        }
        bytes.shrink_to(64 << 10);
    }
}
