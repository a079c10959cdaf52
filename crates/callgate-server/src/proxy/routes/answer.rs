//! One request, from its body to its answer.

use std::{
    future::Future,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use axum::{extract::Request, response::Response};
use callgate_machine::family_of;
use callgate_model::Model;
use callgate_wire::{
    Reply, Usage,
    inbound::{Dialect, Received, Refusal, RefusalKind, Stamp},
};
use http::{HeaderName, HeaderValue, StatusCode};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use super::{
    Door,
    account::Account,
    asked::{self, Wishes},
    respond,
};
use crate::{
    http::{Identity, Scope, TraceContext},
    proxy::{
        Proxy, Shared, allow,
        catalog::{self, Asked},
        drive::{alive, drive},
        live::{Live, Piece},
        told::{Remark, Told},
        trail::Trail,
        turn::{Turn, no_contracts},
    },
};

/// Serves one request.
pub(super) async fn serve(door: Door, dialect: Dialect, request: Request) -> Response {
    let id = match crate::random::<15>() {
        Ok(bytes) => word(bytes),
        Err(error) => {
            let refusal = Refusal::new(RefusalKind::Internal, error.to_string());
            return respond::refused(dialect, &refusal, None);
        }
    };
    let mut response = match prepare(&door, dialect, request, &id).await {
        Ok(job) if job.received.stream => job.streamed().await,
        Ok(job) => job.whole().await,
        Err((refusal, status)) => {
            let mut response = respond::refused(dialect, &refusal, None);
            if let Some(status) = status {
                *response.status_mut() = status;
            }
            response
        }
    };
    // By which OpenAI's and Anthropic's libraries tell a request in their errors.
    if let Ok(id) = HeaderValue::from_str(&format!("req_{id}")) {
        let headers = response.headers_mut();
        headers.insert(HeaderName::from_static("x-request-id"), id.clone());
        headers.insert(HeaderName::from_static("request-id"), id);
    }
    response
}

/// A request that can be served.
struct Job {
    proxy: Proxy,
    dialect: Dialect,
    received: Received,
    wishes: Wishes,
    caller: Value,
    model: Arc<dyn Model>,
    stamp: Stamp,
    account: Account,
}

type Failed = (Refusal, Option<StatusCode>);

async fn prepare(
    door: &Door,
    dialect: Dialect,
    request: Request,
    id: &Arc<str>,
) -> Result<Job, Failed> {
    let usual = |refusal: Refusal| (refusal, None);
    let proxy = &door.proxy;
    let Shared { options, room, tracker, .. } = &*proxy.0;
    let (parts, body) = request.into_parts();
    let identity = parts.extensions.get::<Identity>();
    let Some(identity) = identity.filter(|identity| identity.may(Scope::Run)) else {
        let message = "this token lacks the scope \"run\"";
        return Err(usual(Refusal::new(RefusalKind::Forbidden, message)));
    };
    let busy = |message: &str| {
        let refusal = Refusal::new(RefusalKind::Unavailable, message);
        usual(Refusal { retry_after_ms: Some(1000), ..refusal })
    };
    if tracker.is_closed() {
        return Err(busy("this server is stopping"));
    }
    let permit = room.clone().try_acquire_owned();
    let permit = permit.map_err(|_| {
        busy("there are as many requests under way as this server takes; try again later")
    })?;
    let under = parts.extensions.get::<TraceContext>().cloned();
    let trail = Trail::open(id, under, options.traced);
    let mut account = Account::open(proxy, dialect, permit, tracker.token(), trail);
    let wishes = asked::wishes(&parts.headers, options).map_err(usual)?;
    let body = asked::body(&parts.headers, body, options.max_body, door.patience).await?;
    let read = async {
        let mut received = dialect.inbound().read(&body).map_err(Refusal::from)?;
        let shown = received.request.model.clone();
        let named = allow::named(options, &shown)?;
        let model = proxy.0.models.get(&named.spec).await?;
        received.check(model.codec().unwrap_or_default())?;
        // The provider's own name.
        let spec = model.id();
        received.request.model = spec.split_once(':').map_or(spec, |(_, name)| name).into();
        let wishes = Wishes { catalog: wishes.catalog || named.catalog, ..wishes };
        Ok::<_, Refusal>((received, shown, model, wishes))
    };
    let (received, shown, model, wishes) = match read.await {
        Ok(read) => read,
        Err(refusal) => {
            account.refused(&refusal);
            return Err(usual(refusal));
        }
    };
    account.served.model = model.id().into();
    account.served.streamed = received.stream;
    let created = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let shown = if shown.is_empty() { model.id().into() } else { shown };
    let stamp = Stamp { id: id.clone(), created, model: shown };
    Ok(Job {
        proxy: proxy.clone(),
        dialect,
        received,
        wishes,
        caller: identity.caller.clone(),
        model,
        stamp,
        account,
    })
}

impl Job {
    async fn whole(mut self) -> Response {
        let outcome = self.answer(None).await;
        let (told, model) = (self.account.served.told.clone(), self.account.served.model.clone());
        let mut response = match outcome {
            Ok(reply) => {
                self.account.answered();
                let body = self.dialect.inbound().reply(&self.received, &reply, &self.stamp);
                respond::whole(body, &told)
            }
            Err(refusal) => {
                self.account.refused(&refusal);
                respond::refused(self.dialect, &refusal, Some(&told))
            }
        };
        name(&mut response, &model);
        response
    }

    async fn streamed(mut self) -> Response {
        let (out, mut pieces) = mpsc::unbounded_channel();
        let writer = self.dialect.inbound().stream(&self.received, &self.stamp);
        let live = Live::new(writer, out);
        let (dialect, model) = (self.dialect, self.account.served.model.clone());
        let every = self.proxy.options().keep_alive;
        let task = AbortOnDropHandle::new(tokio::spawn(async move {
            let outcome = alive(&live, every, self.answer(Some(&live))).await;
            let told = self.account.served.told.clone();
            match outcome {
                Ok(reply) => {
                    self.account.answered();
                    live.finish(&reply, &told);
                }
                Err(refusal) => {
                    self.account.refused(&refusal);
                    live.fail(refusal, &told);
                }
            }
        }));
        // A failure before the first word keeps its status.
        let mut response = match pieces.recv().await {
            Some(Piece::Bytes(first)) => respond::stream(first, pieces, task),
            Some(Piece::Refused((refusal, told))) => {
                respond::refused(dialect, &refusal, Some(&told))
            }
            None => {
                let refusal = Refusal::new(RefusalKind::Internal, "the answer broke off");
                respond::refused(dialect, &refusal, None)
            }
        };
        name(&mut response, &model);
        response
    }

    /// The answer within its time, unless the server stops.
    async fn answer(&mut self, live: Option<&Live>) -> Result<Reply, Refusal> {
        let shared = self.proxy.0.clone();
        let time = shared.options.time;
        let mut told = Told::default();
        let mut usage = Usage::default();
        let work = async {
            if self.wishes.catalog {
                self.by_run(live, &mut told, &mut usage).await
            } else {
                self.by_turn(live, &mut told, &mut usage).await
            }
        };
        let outcome = within(time, &shared, work).await;
        self.account.served.told = told;
        self.account.served.usage = usage;
        outcome
    }

    /// The client's own tools: judged here, called there.
    async fn by_turn(
        &self,
        live: Option<&Live>,
        told: &mut Told,
        usage: &mut Usage,
    ) -> Result<Reply, Refusal> {
        let request = self.received.request.clone();
        let contracts = if request.tools.is_empty() {
            no_contracts()
        } else {
            self.proxy.0.shelf.get(&request.tools, family_of(self.model.id())).await?
        };
        let mut turn = Turn::new(contracts, request, self.wishes.bounds, self.stamp.id.clone());
        for note in &self.received.notes {
            turn.told().note(Remark::Wire(note.clone()));
        }
        let trail = &self.account.trail;
        let outcome = drive(&*self.model, &mut turn, live, trail, |turn| {
            turn.told().clone_into(told);
            *usage = turn.usage();
        })
        .await;
        let answer = outcome?;
        Ok(if live.is_some() { answer.reply } else { answer.whole() })
    }

    /// The server's own tools.
    async fn by_run(
        &self,
        live: Option<&Live>,
        told: &mut Told,
        usage: &mut Usage,
    ) -> Result<Reply, Refusal> {
        let Some(catalog) = &self.proxy.options().catalog else {
            let message = "this server has no tools of its own: leave x-callgate-tools and \
                           \"+catalog\" out, and send `tools`";
            return Err(Refusal::new(RefusalKind::BadRequest, message));
        };
        for note in &self.received.notes {
            told.note(Remark::Wire(note.clone()));
        }
        let asked = Asked {
            model: self.model.clone(),
            request: self.received.request.clone(),
            caller: self.caller.clone(),
            mode: self.wishes.bounds.mode,
            trace: self.account.trail.context(),
        };
        let reply = catalog::run(catalog, asked, live, told, &self.proxy.0.tracker).await?;
        *usage = reply.usage;
        Ok(reply)
    }
}

/// Work within its time, unless the server stops.
async fn within<T>(
    time: Duration,
    shared: &Shared,
    work: impl Future<Output = Result<T, Refusal>>,
) -> Result<T, Refusal> {
    tokio::select! {
        biased;
        done = tokio::time::timeout(time, work) => done.unwrap_or_else(|_| {
            let message = format!("there was no answer within {} s", time.as_secs_f64());
            Err(Refusal::new(RefusalKind::Timeout, message))
        }),
        () = shared.stop.cancelled() => {
            Err(Refusal::new(RefusalKind::Unavailable, "this server is stopping"))
        }
    }
}

/// Which model it was.
fn name(response: &mut Response, model: &str) {
    if let Ok(model) = HeaderValue::from_str(model) {
        response.headers_mut().insert(HeaderName::from_static("x-callgate-model"), model);
    }
}

/// Twenty characters of the alphabet of ids.
fn word(bytes: [u8; 15]) -> Arc<str> {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut number = bytes.iter().fold(0_u128, |number, byte| number << 8 | u128::from(*byte));
    let mut text = String::with_capacity(20);
    for _ in 0..20 {
        text.push(char::from(DIGITS[usize::try_from(number % 62).unwrap_or_default()]));
        number /= 62;
    }
    text.into()
}
