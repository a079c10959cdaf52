//! A call that goes on as a task: the extension `io.modelcontextprotocol/tasks` (SEP-2663).

use std::time::Duration;

use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use super::{core::Core, rounds::person};
use crate::mcp::{
    ask::Ask,
    connection::Connection,
    error::McpError,
    message::{Members, RpcError},
    result::{Complete, Outcome, Task},
    wait::Limits,
};

/// Between two questions, where the server names no pause, and within what it may name.
const PAUSE: Duration = Duration::from_secs(1);
const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(60);

/// Questions in a row that bring no answer.
const MOST_FAILURES: u32 = 3;

/// How long a task is given to hear that it is called off.
const CALLING_OFF: Duration = Duration::from_secs(5);

type Done = (Result<Complete, McpError>, Option<Box<RawValue>>);

impl Core {
    /// Asks after a task until it is done, answers what it wants to know, and calls it off where
    /// nobody waits any more.
    pub(super) async fn task(&self, connection: &Connection, task: Task, limits: &Limits) -> Done {
        let id = task.task_id.clone();
        let mut calling_off = CallOff { core: self, connection, id: &id, armed: true };
        let done = self.follow(connection, task, limits).await;
        if matches!(done.0, Err(McpError::Timeout { .. } | McpError::Cancelled { .. })) {
            calling_off.now().await;
        }
        calling_off.armed = false;
        done
    }

    async fn follow(&self, connection: &Connection, mut task: Task, limits: &Limits) -> Done {
        let id = task.task_id.clone();
        let mut failures = 0;
        loop {
            match task.status.as_str() {
                "completed" => return self.finished(connection, task.result),
                "failed" => {
                    let error = task.error.map(|error| RpcError::read(&error));
                    let error = error.unwrap_or_else(|| RpcError {
                        code: 0,
                        message: said(task.status_message, "the task failed without words"),
                        data: None,
                    });
                    return (Err(McpError::Rpc(error)), None);
                }
                "cancelled" => {
                    let message = said(task.status_message, "the server cancelled the task");
                    return (Err(McpError::Rpc(RpcError { code: 0, message, data: None })), None);
                }
                "input_required" => {
                    let wanted = task.input_requests.take().unwrap_or_default();
                    let given = match person(limits, self.inputs(&wanted)).await {
                        Ok(given) => given,
                        Err(error) => return (Err(error), None),
                    };
                    let params = of(&id).raw("inputResponses", &given.to_string());
                    let reply = self.about(connection, "tasks/update", &id, &params, limits).await;
                    if let Err(error) = reply {
                        return (Err(error), None);
                    }
                }
                "working" => {}
                other => {
                    let why = format!("its task has the unknown status {other:?}");
                    return (Err(self.unusable(why)), None);
                }
            }
            if let Err(error) = person(limits, async {
                pause(task.poll_interval_ms).await;
                Ok(())
            })
            .await
            {
                return (Err(error), None);
            }
            let reply = self.about(connection, "tasks/get", &id, &of(&id), limits).await;
            match reply.map(|result| serde_json::from_str::<Task>(result.get())) {
                Ok(Ok(next)) => {
                    failures = 0;
                    task = next;
                }
                Ok(Err(error)) => {
                    return (Err(self.unusable(format!("its task cannot be read: {error}"))), None);
                }
                // A task outlives a request for its state.
                Err(McpError::Lost { .. } | McpError::NotReached(_) | McpError::Status { .. })
                    if failures < MOST_FAILURES && connection.link.ended().is_none() =>
                {
                    failures += 1;
                }
                Err(McpError::Lost { why, .. }) => {
                    return (Err(McpError::Lost { why, sent: true }), None);
                }
                Err(McpError::NotReached(why)) => {
                    return (Err(McpError::Lost { why, sent: true }), None);
                }
                Err(McpError::Rpc(error)) => {
                    let why = format!("it knows nothing of its task {id:?} any more: {error}");
                    return (Err(self.unusable(why)), None);
                }
                Err(error) => return (Err(error), None),
            }
        }
    }

    fn finished(&self, connection: &Connection, result: Option<Box<RawValue>>) -> Done {
        let Some(result) = result else {
            return (Err(self.unusable("its task is completed without a result".to_owned())), None);
        };
        let reply = match self.read(connection, &result) {
            Outcome::Complete(complete) => Ok(complete),
            Outcome::Unusable(why) => Err(self.unusable(why)),
            Outcome::InputRequired(_) | Outcome::Task(_) => {
                Err(self.unusable("the result of its task is none".to_owned()))
            }
        };
        (reply, Some(result))
    }

    async fn about(
        &self,
        connection: &Connection,
        method: &'static str,
        id: &str,
        params: &Members,
        limits: &Limits,
    ) -> Result<Box<RawValue>, McpError> {
        let ask = Ask {
            method,
            name: Some(id),
            params,
            meta: &Members::new(),
            headers: &[],
            speech: &connection.speech,
            progress: false,
            limits,
        };
        self.ask(connection, &ask).await.reply
    }
}

fn of(id: &str) -> Members {
    Members::new().string("taskId", id)
}

fn said(message: Option<String>, otherwise: &str) -> String {
    message.map_or_else(|| otherwise.to_owned(), |said| crate::mcp::message::words(&said))
}

async fn pause(asked: Option<f64>) {
    let asked = asked.filter(|ms| ms.is_finite() && *ms >= 0.0);
    let pause = asked.map_or(PAUSE, |ms| Duration::from_secs_f64((ms / 1000.0).min(3600.0)));
    tokio::time::sleep(pause.clamp(SHORTEST, LONGEST)).await;
}

/// A task that nobody waits for any more is called off, also where the caller was dropped.
struct CallOff<'a> {
    core: &'a Core,
    connection: &'a Connection,
    id: &'a str,
    armed: bool,
}

impl CallOff<'_> {
    async fn now(&mut self) {
        self.armed = false;
        let limits = Limits::new(CALLING_OFF, CALLING_OFF, CancellationToken::new());
        let reply =
            self.core.about(self.connection, "tasks/cancel", self.id, &of(self.id), &limits).await;
        if let Err(error) = reply {
            tracing::debug!(server = %self.core.plan.config.name, %error, "a task was not called off");
        }
    }
}

impl Drop for CallOff<'_> {
    fn drop(&mut self) {
        let Some(runtime) = tokio::runtime::Handle::try_current().ok().filter(|_| self.armed)
        else {
            return;
        };
        let (link, speech) = (self.connection.link.clone(), self.connection.speech.clone());
        let id = self.id.to_owned();
        runtime.spawn(async move {
            let limits = Limits::new(CALLING_OFF, CALLING_OFF, CancellationToken::new());
            link.ask(&Ask {
                method: "tasks/cancel",
                name: Some(&id),
                params: &of(&id),
                meta: &Members::new(),
                headers: &[],
                speech: &speech,
                progress: false,
                limits: &limits,
            })
            .await;
        });
    }
}
