//! Lines from a server, to whom they belong.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::{io::AsyncReadExt as _, process::ChildStdout, sync::mpsc, task::JoinSet};

use super::{
    lines::{Line, Lines},
    writer::Outgoing,
};
use crate::mcp::{
    error::McpError,
    hub::{Blame, Hub},
    message::{self, Broken, Fault, Id, Incoming, refusal},
    pending::{Pending, Stray},
};

/// Questions of a server that are being answered at once.
const MOST_QUESTIONS: usize = 16;

pub(super) struct Reader {
    pub(super) hub: Arc<Hub>,
    pub(super) pending: Arc<Pending>,
    pub(super) out: mpsc::Sender<Outgoing>,
    pub(super) max_message: usize,
}

impl Reader {
    /// Reads until the end of the stream.
    pub(super) async fn read(self, stdout: Option<ChildStdout>) {
        let Some(mut stdout) = stdout else { return };
        let mut lines = Lines::new(self.max_message);
        let mut chunk = vec![0; 64 << 10];
        // Dropped, and so ended, with the connection.
        let mut questions = JoinSet::new();
        loop {
            match stdout.read(&mut chunk).await {
                Ok(0) | Err(_) => break,
                Ok(count) => lines.push(&chunk[..count], |line| self.take(line, &mut questions)),
            }
            while questions.try_join_next().is_some() {}
        }
        lines.finish(|line| self.take(line, &mut questions));
    }

    fn take(&self, line: Line<'_>, questions: &mut JoinSet<()>) {
        match line {
            Line::Whole(line) => match message::read(line) {
                Ok(incoming) => self.incoming(incoming, questions),
                Err(broken) => self.broken(broken),
            },
            Line::TooLong { id } => {
                let fault = Fault::TooLarge { limit: self.max_message };
                self.broken(Broken { fault, id, is_answer: true });
            }
        }
    }

    fn incoming(&self, incoming: Incoming<'_>, questions: &mut JoinSet<()>) {
        match incoming {
            Incoming::Answer { id, body } => self.answer(&id, body),
            Incoming::Notification { method, params } => {
                if let Some(id) = progress_of(&method, params) {
                    self.pending.sign(id);
                }
                self.hub.notified(&method);
            }
            Incoming::Request { id, method, params } => {
                if questions.len() >= MOST_QUESTIONS {
                    let line = refusal(id, -32000, "too many requests at once");
                    let _ = self.out.try_send(Outgoing::new(line));
                    return;
                }
                let (id, method) = (id.to_owned(), method.into_owned());
                let params = params.map(ToOwned::to_owned);
                let (hub, out) = (self.hub.clone(), self.out.clone());
                let held = self.pending.hold_all();
                questions.spawn(async move {
                    let line = hub.serve(&id, &method, params.as_deref()).await;
                    let _ = out.send(Outgoing::new(line)).await;
                    drop(held);
                });
            }
        }
    }

    fn answer(&self, id: &Id, body: Result<&RawValue, message::RpcError>) {
        let reply = body.map(ToOwned::to_owned).map_err(McpError::Rpc);
        let nobody = |id: String| Fault::NobodyAsked { id };
        match id {
            Id::Ours { number, exact } => {
                if !exact {
                    self.hub.odd(format!("it sent the id {number} back as another type"));
                }
                match self.pending.answer(*number, reply) {
                    // To a request that was given up: its caller has been told.
                    Ok(()) | Err(Stray::Late) => {}
                    Err(Stray::NeverAsked) => self.astray(nobody(number.to_string())),
                }
            }
            Id::Foreign(id) => self.astray(nobody(id.clone())),
            // An error about something it could not read: only requests are sent.
            Id::None => match reply {
                Err(McpError::Rpc(error)) => self.astray(nobody(format!("null ({error})"))),
                _ => self.astray(nobody("null".to_owned())),
            },
        }
    }

    /// An answer without a request: some request is without its answer.
    fn astray(&self, fault: Fault) {
        self.broken(Broken { fault, id: None, is_answer: true });
    }

    fn broken(&self, broken: Broken) {
        self.hub.fault(&broken.fault);
        match Blame::of(&broken) {
            // Late or never asked: then nobody waits for it.
            Blame::One(id) => {
                let _ = self.pending.answer(id, Err(McpError::Protocol(broken.fault)));
            }
            Blame::Oldest => self.pending.fail_oldest(broken.fault),
            Blame::Nobody => {}
        }
    }
}

/// The request that a progress notification belongs to: tokens are ids.
pub(in crate::mcp) fn progress_of(method: &str, params: Option<&RawValue>) -> Option<u64> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Progress<'a> {
        #[serde(borrow)]
        progress_token: &'a RawValue,
    }
    if method != "notifications/progress" {
        return None;
    }
    let progress: Progress<'_> = serde_json::from_str(params?.get()).ok()?;
    progress.progress_token.get().trim_matches('"').parse().ok()
}
