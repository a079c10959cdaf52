//! One turn with an agent: a message, and what comes of it.
//!
//! The message is sent once. What follows (listening, looking at the task) changes nothing and is
//! tried again; a stream that breaks is gone on with by looking.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use super::{
    agent::{Answer, Session},
    assembly::Assembly,
    stream::Events,
    trouble::Trouble,
    wire::{Binding, Card, Interface, Method, Object, Reply, SendParams, Task, Update, Version},
};

/// Between two looks at a task: first, at most.
const FIRST_LOOK: Duration = Duration::from_millis(250);
const LAST_LOOK: Duration = Duration::from_secs(5);

/// How long a cancellation may take to be told.
const TELL: Duration = Duration::from_secs(5);

/// What is known while a turn goes on, also to whoever ends it early.
pub(super) struct Progress {
    /// Whether the message may have been seen.
    pub(super) sent: AtomicBool,
    task: Mutex<Option<String>>,
    sign: Mutex<Instant>,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self {
            sent: AtomicBool::new(false),
            task: Mutex::default(),
            sign: Mutex::new(Instant::now()),
        }
    }

    pub(super) fn has_left(&self) -> bool {
        self.sent.load(Ordering::Relaxed)
    }

    fn known(&self, task: &str) {
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task.to_owned());
    }

    pub(super) fn task(&self) -> Option<String> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn sign(&self) {
        *self.sign.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Ends when there was no sign of progress for so long.
    pub(super) async fn silence(&self, idle: Duration) {
        loop {
            let last = *self.sign.lock().unwrap_or_else(PoisonError::into_inner);
            let left = idle.saturating_sub(last.elapsed());
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left).await;
        }
    }
}

/// The way that is gone: the newest version, in the card's own order. 0.3 only by JSON-RPC: its
/// HTTP binding has a form of its own.
pub(super) fn way(card: &Card) -> Result<&Interface, Trouble> {
    let goes = |way: &&Interface| way.version == Version::V1 || way.binding == Binding::JsonRpc;
    card.interfaces.iter().find(goes).ok_or_else(|| {
        Trouble::Misconfigured(
            "the agent speaks 0.3 over HTTP+JSON only, which is not spoken here".to_owned(),
        )
    })
}

/// Sends a message and stays with it until the turn is over.
pub(super) async fn turn(
    session: &Session<'_>,
    card: &Card,
    way: &Interface,
    mut params: SendParams,
    progress: &Progress,
) -> Result<Reply, Trouble> {
    let continues = params.message.task.is_some();
    // Who cannot be listened to is looked at. A task that goes on is waited for instead: looked at
    // at once, it may still be as it was, and nobody could tell whether it asks again.
    params.immediately = !card.streaming && !continues;
    params.tenant.clone_from(&way.tenant);
    let method = if card.streaming { Method::Stream } else { Method::Send };
    let extension = params.message.extensions.first().map(String::as_str);
    let text = params.write(way.version);
    let answer = session.ask(way, method, &text, "", extension, &progress.sent).await?;
    progress.sign();
    match answer {
        Answer::Json(raw) => match Reply::read(&raw)? {
            Reply::Message(message) => Ok(Reply::Message(message)),
            Reply::Task(task) => {
                progress.known(&task.id);
                if is_over(&task) {
                    Ok(Reply::Task(task))
                } else {
                    look(session, way, task.id, progress).await
                }
            }
        },
        Answer::Stream(events) => listen(session, way, events, continues, progress).await,
    }
}

fn is_over(task: &Task) -> bool {
    task.status.state.is_terminal() || task.status.state.is_interrupted()
}

async fn listen(
    session: &Session<'_>,
    way: &Interface,
    mut events: Box<Events>,
    continues: bool,
    progress: &Progress,
) -> Result<Reply, Trouble> {
    let mut assembly = Assembly::default();
    let mut is_first = true;
    loop {
        let update = match events.next().await {
            Ok(Some(update)) => update,
            Ok(None) => break,
            Err(trouble @ (Trouble::Lost(_) | Trouble::Protocol(_))) => match assembly.task_id() {
                Some(id) => return look(session, way, id.to_owned(), progress).await,
                None => return Err(trouble),
            },
            Err(trouble) => return Err(trouble),
        };
        progress.sign();
        // A task that goes on may be shown first as it was before.
        let as_it_was = is_first
            && continues
            && matches!(&update, Update::Task(task) if task.status.state.is_interrupted());
        let ends = update.ends_the_turn() && !as_it_was;
        is_first = false;
        assembly.take(update);
        if let Some(id) = assembly.task_id() {
            progress.known(id);
        }
        if ends {
            break;
        }
    }
    let id = assembly.task_id().map(str::to_owned);
    match (assembly.reply(), id) {
        (Some(reply), _) => Ok(reply),
        (None, Some(id)) => look(session, way, id, progress).await,
        (None, None) => Err(Trouble::Lost("its stream ended before it said anything".to_owned())),
    }
}

/// Looks at a task until its turn is over.
async fn look(
    session: &Session<'_>,
    way: &Interface,
    id: String,
    progress: &Progress,
) -> Result<Reply, Trouble> {
    let mut wait = FIRST_LOOK;
    let mut before: Option<Task> = None;
    let mut missed = 0;
    let params = Object::new()
        .maybe("tenant", way.tenant.as_deref())
        .text("id", &id)
        .raw("historyLength", "0")
        .end();
    loop {
        let asked =
            session.ask(way, Method::Get, &params, &id, None, &AtomicBool::new(false)).await;
        let task = match asked {
            Ok(Answer::Json(raw)) => match Reply::read(&raw)? {
                Reply::Task(task) => task,
                Reply::Message(_) => {
                    return Err(Trouble::Protocol(
                        "asked for a task, it gave a message".to_owned(),
                    ));
                }
            },
            Ok(Answer::Stream(_)) => {
                return Err(Trouble::Protocol("asked for a task, it gave a stream".to_owned()));
            }
            // Nobody knows the way this takes; silence ends it.
            Err(trouble) if trouble.may_pass() && missed < 20 => {
                missed += 1;
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(LAST_LOOK);
                continue;
            }
            Err(trouble) => return Err(trouble),
        };
        missed = 0;
        if is_over(&task) {
            return Ok(Reply::Task(task));
        }
        if before.as_ref() != Some(&task) {
            progress.sign();
            before = Some(task);
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 3 / 2).min(LAST_LOOK);
    }
}

/// Tells the agent that nobody wants the task any more. It may not hear it.
pub(super) async fn call_off(session: &Session<'_>, way: &Interface, id: &str) {
    let params = Object::new().maybe("tenant", way.tenant.as_deref()).text("id", id).end();
    let sent = AtomicBool::new(false);
    let told = session.ask(way, Method::Cancel, &params, id, None, &sent);
    match tokio::time::timeout(TELL, told).await {
        Ok(Ok(_)) => {}
        Ok(Err(trouble)) => tracing::debug!(?trouble, "an agent's task could not be cancelled"),
        Err(_) => tracing::debug!("an agent gave no answer to a cancellation"),
    }
}
