//! A call from its admission to its outcome.
//!
//! What is repeated here, and nothing else: a request that was never written, on a new connection;
//! one that a server refused for its headers (-32020), after reading the list anew; and, where the
//! tool may be repeated, one whose connection was lost. Everything else is the machine's to decide.

use std::{future::Future, sync::Arc};

use callgate_contract::{ErrorKind, Executed, Failure, Output};

use super::{
    core::Core,
    failure::{failure, vanished},
    rounds::Round,
};
use crate::{
    Invoked,
    mcp::{
        call::Call,
        connection::Connection,
        era::HEADER_MISMATCH,
        error::McpError,
        headers,
        tool::Pinned,
        wait::{Limits, Signs, Stopped, within},
    },
};

/// What was repeated already.
#[derive(Default)]
struct Again {
    connected: u32,
    listed: bool,
    sent: bool,
}

/// A server that cannot be written to is given up after so many connections.
const MOST_CONNECTIONS: u32 = 3;

impl Core {
    pub(super) async fn call(self: &Arc<Self>, call: &Call, check: Option<&Pinned>) -> Invoked {
        let timeouts = self.plan.config.timeouts;
        let limits =
            Limits::new(timeouts.idle, call.timeout.min(timeouts.max), call.cancel.clone());
        let mut again = Again::default();
        loop {
            let (connection, mut headers) = match self.prepare(call, check, &limits).await {
                Ok(prepared) => prepared,
                Err(Unprepared::Check(failure)) => return Invoked::failed(failure),
                Err(Unprepared::Mcp(McpError::Lost { sent: false, .. }))
                    if again.connected + 1 < MOST_CONNECTIONS =>
                {
                    again.connected += 1;
                    continue;
                }
                Err(Unprepared::Mcp(error)) => {
                    return Invoked::failed(failure(&error, call.repeatable));
                }
            };
            if let Some(trace) = call.trace.as_ref().filter(|_| connection.link.is_http()) {
                headers.extend(trace.fields().map(|(name, value)| (name.to_owned(), value)));
            }
            let round = self.rounds(&connection, call, &headers, &limits).await;
            match &round.reply {
                Err(McpError::Lost { sent: false, .. })
                    if !round.sent && again.connected + 1 < MOST_CONNECTIONS =>
                {
                    again.connected += 1;
                }
                Err(McpError::Lost { .. } | McpError::SessionLost)
                    if call.repeatable && !again.sent =>
                {
                    again.sent = true;
                }
                Err(McpError::Rpc(error)) if error.code == HEADER_MISMATCH && !again.listed => {
                    again.listed = true;
                    self.forget_list();
                }
                _ => return self.invoked(&connection, call, round),
            }
        }
    }

    /// A connection, and what the list says about the call: its check and its headers.
    async fn prepare(
        self: &Arc<Self>,
        call: &Call,
        check: Option<&Pinned>,
        limits: &Limits,
    ) -> Result<(Arc<Connection>, Vec<(String, String)>), Unprepared> {
        let connection = before(limits, self.connection()).await?;
        let takes_headers = connection.link.is_http() && connection.speech.is_modern();
        if check.is_none() && !takes_headers {
            return Ok((connection, Vec::new()));
        }
        let cached = match before(limits, self.list_for_call(&connection)).await {
            // Nothing is compared, and a call without its headers is the server's to judge.
            Err(Unprepared::Mcp(McpError::Stale(_))) if check.is_none() => {
                return Ok((connection, Vec::new()));
            }
            cached => cached?,
        };
        if let Some(check) = check {
            let Some(tool) = cached.listing.get(&call.tool) else {
                return Err(Unprepared::Check(vanished(&call.tool, &cached.listing)));
            };
            check.compare(tool, cached.listing.revision).map_err(Unprepared::Check)?;
        }
        let params = cached.params.get(&call.tool).filter(|_| takes_headers);
        let headers = params.map(|params| headers::of(params, call.arguments.text()));
        Ok((connection, headers.unwrap_or_default()))
    }

    fn invoked(&self, connection: &Connection, call: &Call, round: Round) -> Invoked {
        let secrets = &connection.secrets;
        let result = match round.reply {
            Ok(complete) => {
                for note in complete.notes {
                    self.plan.hub.odd(format!("{}: {note}", call.tool));
                }
                complete.result
            }
            Err(McpError::Closed) if round.sent => {
                let message = "the client was closed while the call was under way";
                Err(Failure::new(ErrorKind::Cancelled, message))
            }
            Err(error) if round.sent => Err(failure(&error.after_all(), call.repeatable)),
            Err(error) => Err(failure(&error, call.repeatable)),
        };
        let result: Result<Output, Failure> = result.map_err(|mut failure| {
            failure.message = secrets.scrub(&failure.message).into_owned();
            failure
        });
        Invoked {
            result,
            wire: round.sent.then(|| secrets.scrub(&round.params).into()),
            raw: round.raw.map(|raw| secrets.scrub(raw.get()).into()),
            used: None,
        }
    }
}

/// Why nothing was sent.
enum Unprepared {
    Check(Failure),
    Mcp(McpError),
}

/// Does something before the call is sent, within the call's limits.
async fn before<T>(
    limits: &Limits,
    work: impl Future<Output = Result<T, McpError>>,
) -> Result<T, Unprepared> {
    // A start may take longer than a tool may be silent: only the whole time counts here.
    match within(&limits.patient(), &Signs::default(), work).await {
        Ok(done) => done.map_err(|error| Unprepared::Mcp(error.before())),
        Err(Stopped::Cancelled) => Err(Unprepared::Mcp(McpError::Cancelled { sent: false })),
        Err(Stopped::Timeout(after)) => {
            let failure = Failure::new(
                ErrorKind::Timeout,
                format!(
                    "the server was not ready within {} ms; the tool was not called",
                    after.as_millis()
                ),
            );
            Err(Unprepared::Check(failure.executed(Executed::No).retryable(true)))
        }
    }
}
