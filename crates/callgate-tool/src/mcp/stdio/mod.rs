//! A server that is a program: one JSON message a line, on its stdin and stdout.
//!
//! Four tasks keep it: a writer (so that a caller who leaves cannot leave half a line), a reader, a
//! keeper of the end of stderr, and a supervisor that sees to the end of the process group. When the
//! connection is dropped they are, and the group is killed.

mod lines;
mod process;
mod reader;
mod writer;

use std::{sync::Arc, time::Duration};

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{
    ask::{Ask, Told},
    error::McpError,
    hub::Hub,
    message::{Members, notification, request},
    pending::Pending,
    wait::{Stopped, within},
};
pub(super) use process::Program;
use process::Tail;
pub(super) use reader::progress_of;
use writer::Outgoing;

/// A running server.
pub(super) struct Stdio {
    hub: Arc<Hub>,
    pending: Arc<Pending>,
    out: mpsc::Sender<Outgoing>,
    closing: CancellationToken,
    ended: CancellationToken,
    supervisor: tokio::task::AbortHandle,
    stderr: Arc<Tail>,
    grace: Duration,
}

/// Lines that wait for a server which does not read.
const QUEUE: usize = 256;

impl Stdio {
    /// Starts the program. It has not been asked anything yet.
    ///
    /// # Errors
    /// It cannot be started.
    pub(super) fn start(
        program: &Program,
        hub: Arc<Hub>,
        max_message: usize,
        grace: Duration,
    ) -> Result<Self, McpError> {
        let mut started = program.start()?;
        let pending = Pending::new();
        let closing = CancellationToken::new();
        let ended = CancellationToken::new();
        let stderr = started.stderr.clone();
        let (out, queue) = mpsc::channel(QUEUE);
        tokio::spawn(writer::write(started.stdin.take(), queue, closing.clone(), ended.clone()));
        let reader = reader::Reader {
            hub: hub.clone(),
            pending: pending.clone(),
            out: out.clone(),
            max_message,
        };
        let reading = tokio::spawn(reader.read(started.stdout.take()));
        let supervised = process::supervise(
            started,
            reading,
            pending.clone(),
            closing.clone(),
            ended.clone(),
            grace,
        );
        let supervisor = tokio::spawn(supervised).abort_handle();
        Ok(Self { hub, pending, out, closing, ended, supervisor, stderr, grace })
    }

    /// Why the connection is no more, if it is.
    pub(super) fn ended(&self) -> Option<McpError> {
        self.pending.ended()
    }

    /// The end of what the program wrote to stderr.
    pub(super) fn stderr(&self) -> Option<String> {
        self.stderr.text()
    }

    pub(super) async fn ask(&self, ask: &Ask<'_>) -> Told {
        let mut ticket = match self.pending.enter(ask.method != "subscriptions/listen") {
            Ok(ticket) => ticket,
            Err(dead) => {
                return Told { params: ask.params(0), sent: false, reply: Err(dead) };
            }
        };
        let id = ticket.id;
        let params = ask.params(id);
        let outgoing = Outgoing::new(request(id, ask.method, &params));
        // Whoever leaves takes back what is not written yet, and calls off what is.
        let mut leaving = Leaving {
            id,
            line: outgoing.clone(),
            out: &self.out,
            // "The initialize request MUST NOT be cancelled" (2025-11-25, basic/utilities).
            calls_off: ask.method != "initialize",
            armed: true,
        };
        let signs = ticket.signs.clone();
        let faults = self.hub.faults();
        let work = async {
            if self.out.send(outgoing).await.is_err() {
                return Err(self.lost());
            }
            (&mut ticket.reply).await.unwrap_or_else(|_| Err(self.lost()))
        };
        let waited = within(ask.limits, &signs, work).await;
        let sent = match &waited {
            Ok(_) => {
                leaving.armed = false;
                leaving.line.was_written()
            }
            Err(_) => leaving.leave(),
        };
        let reply = waited.unwrap_or_else(|stopped| {
            Err(match stopped {
                Stopped::Cancelled => McpError::Cancelled { sent },
                Stopped::Timeout(after) => {
                    // What it wrote instead may be why.
                    let note = (self.hub.faults() > faults)
                        .then(|| self.hub.last_fault())
                        .flatten()
                        .map(|fault| format!("; meanwhile {fault}"));
                    McpError::Timeout { after, sent, note }
                }
            })
        });
        let reply = reply.map_err(|error| if sent { error } else { error.unsent() });
        Told { params, sent, reply }
    }

    /// Tells the server something that needs no answer.
    pub(super) async fn tell(&self, method: &str, params: &Members) {
        // A server that is gone need not be told.
        let _ = self.out.send(Outgoing::new(notification(method, &params.object()))).await;
    }

    fn lost(&self) -> McpError {
        let why = "it ended".to_owned();
        self.pending.ended().unwrap_or(McpError::Lost { why, sent: true })
    }

    /// Closes stdin and waits until the program and its group have ended, by themselves or not.
    pub(super) async fn close(&self) {
        self.closing.cancel();
        let all = self.grace * 3 + Duration::from_secs(5);
        if tokio::time::timeout(all, self.ended.cancelled()).await.is_err() {
            self.supervisor.abort();
        }
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        // Its future owns the process group, which is killed with it.
        self.supervisor.abort();
        self.ended.cancel();
    }
}

/// A request whose caller may leave.
struct Leaving<'a> {
    id: u64,
    line: Outgoing,
    out: &'a mpsc::Sender<Outgoing>,
    calls_off: bool,
    armed: bool,
}

impl Leaving<'_> {
    /// Whether the server may have seen the request.
    fn leave(&mut self) -> bool {
        self.armed = false;
        if self.line.take_back() {
            return false;
        }
        if self.calls_off {
            let params = Members::new()
                .raw("requestId", &self.id.to_string())
                .string("reason", "the caller no longer waits");
            let line = notification("notifications/cancelled", &params.object());
            // Where the queue is full the server does not read, and would not read this either.
            let _ = self.out.try_send(Outgoing::new(line));
        }
        true
    }
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        if self.armed {
            self.leave();
        }
    }
}
