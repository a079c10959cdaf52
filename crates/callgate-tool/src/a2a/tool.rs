//! An agent elsewhere as a backend.

use std::{sync::Arc, time::Duration};

use callgate_contract::{ErrorKind, Executed, Failure, Output};
use serde_json::value::RawValue;

use super::{
    agent::{RemoteAgent, Session},
    outcome,
    talk::{self, Progress},
    trouble::Trouble,
    wire::{Card, Json, Members, Message, Object, Part, Reply, Role, SendParams, Version},
};
use crate::{
    Backend, Invocation, InvokeFuture, Invoked,
    call::{Call, Interrupted},
};

/// A task for an agent, or for one skill of it.
pub(crate) struct A2aTool {
    agent: Arc<RemoteAgent>,
    skill: Option<String>,
}

/// How a call ended.
enum Ended {
    Replied(Box<Reply>),
    Failed(Trouble),
    Silent(Duration),
    Stopped(Interrupted),
}

impl A2aTool {
    pub(super) fn new(agent: Arc<RemoteAgent>, skill: Option<String>) -> Self {
        Self { agent, skill }
    }

    async fn run(&self, call: Call<'_>) -> Invoked {
        let progress = Progress::new();
        let session = match self.agent.open(call.trace) {
            Ok(session) => session,
            Err(trouble) => return Invoked::failed(trouble.failure(false, call.attempt)),
        };
        let mut wire = None;
        let mut card: Option<Arc<Card>> = None;
        let ended = {
            let work = async {
                let known = session.card().await?;
                let way = talk::way(&known)?;
                let params = self.params(&known, call)?;
                wire = Some(params.write(way.version));
                card = Some(known.clone());
                talk::turn(&session, &known, way, params, &progress).await
            };
            tokio::select! {
                biased;
                () = call.cancel.cancelled() => Ended::Stopped(Interrupted::Cancelled),
                done = work => match done {
                    Ok(reply) => Ended::Replied(Box::new(reply)),
                    Err(trouble) => Ended::Failed(trouble),
                },
                () = tokio::time::sleep(call.timeout) => {
                    Ended::Stopped(Interrupted::Timeout(call.timeout))
                }
                () = progress.silence(self.agent.idle()) => Ended::Silent(self.agent.idle()),
            }
        };
        if matches!(ended, Ended::Stopped(_) | Ended::Silent(_))
            && let (Some(card), Some(task)) = (&card, progress.task())
            && let Ok(way) = talk::way(card)
        {
            talk::call_off(&session, way, &task).await;
        }
        let raw = match &ended {
            Ended::Replied(reply) => Some(match &**reply {
                Reply::Task(task) => task.write(Version::V1),
                Reply::Message(message) => message.write(Version::V1),
            }),
            _ => None,
        };
        let shown = |text: String| -> Arc<str> { session.secrets.scrub(&text).into() };
        let sent = progress.has_left();
        Invoked {
            result: result(ended, sent, call.attempt, &session),
            wire: wire.filter(|_| sent).map(shown),
            raw: raw.map(shown),
            used: None,
        }
    }

    /// The message that a call stands for.
    fn params(&self, card: &Card, call: Call<'_>) -> Result<SendParams, Trouble> {
        let members = Members::read_text(call.arguments, "")?;
        let (mut parts, mut task) = (Vec::new(), None);
        if self.skill.is_some() {
            parts.extend(Json::parse(call.arguments).map(Part::data));
        } else {
            parts.extend(members.text("task")?.map(Part::text));
            parts.extend(members.get("data").map(|raw: &RawValue| Part::data(raw.into())));
            task = members.text("taskId")?;
        }
        if parts.is_empty() {
            return Err(Trouble::Misconfigured(
                "the arguments say nothing to the agent".to_owned(),
            ));
        }
        // The same for every attempt: an agent that keeps ids does nothing twice.
        let mut message = Message::new(call.idempotency_key, Role::User, parts);
        message.task = task;
        if let (Some(skill), Some(uri)) = (&self.skill, &card.schemas) {
            let named = Object::new().text("skillId", skill).end();
            message.metadata = Json::parse(&Object::new().raw(uri, &named).end());
            message.extensions = vec![uri.clone()];
        } else if let Some(skill) = &self.skill {
            let named = Object::new().text("skillId", skill).end();
            message.metadata = Json::parse(&named);
        }
        Ok(SendParams::new(message))
    }
}

fn result(
    ended: Ended,
    sent: bool,
    attempt: u32,
    session: &Session<'_>,
) -> Result<Output, Failure> {
    let so_far = if sent { Executed::Unknown } else { Executed::No };
    let failure = match ended {
        Ended::Replied(reply) => match outcome::output(&reply) {
            Ok(output) => return Ok(scrubbed(output, session)),
            Err(failure) => failure,
        },
        Ended::Failed(trouble) => trouble.failure(sent, attempt),
        Ended::Stopped(why) => why.failure(so_far).retryable(!sent),
        Ended::Silent(idle) => {
            let words = format!("the agent showed no progress for {} s", idle.as_secs());
            Failure::new(ErrorKind::Timeout, words).executed(so_far).retryable(!sent)
        }
    };
    let message = session.secrets.scrub(&failure.message).into_owned();
    Err(Failure { message, ..failure })
}

/// An agent that echoes its credentials must not show them.
fn scrubbed(mut output: Output, session: &Session<'_>) -> Output {
    let clean = |text: &Arc<str>| -> Arc<str> { session.secrets.scrub_output(text).into() };
    output.structured = output.structured.as_ref().map(clean);
    for block in &mut output.content {
        match block {
            callgate_contract::Content::Text { text } => *text = clean(text),
            callgate_contract::Content::Other { json } => *json = clean(json),
            callgate_contract::Content::Image { .. } => {}
        }
    }
    output
}

impl Backend for A2aTool {
    fn invoke(&self, invocation: Invocation) -> InvokeFuture<'_> {
        Box::pin(async move { self.run(Call::from(&invocation)).await })
    }
}
