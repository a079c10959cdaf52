//! Whoever asks for runs and looks at them: the outside of Restate.
//!
//! A run is sent and then attached to, never called: on a fail-over Restate has answered a first
//! call with *409 already invoked*, and whoever called would have lost a run that went on. Sending
//! twice is sending once.

mod admin;
mod attend;
mod http;
mod keep;
mod look;
mod places;
mod read;
mod told;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use callgate_machine::{
    Finish,
    event::{Decision, Resolution},
};
use serde::Deserialize;
use serde_json::Value;

pub use self::{
    admin::{Admin, Deployment, Row},
    told::Look,
};
use self::{http::Http, places::Places};
use crate::{
    blob::Packed,
    clock,
    message::{Said, Say, Submit},
    names::{self, ServiceName},
    services::handler_of,
    status::RunStatus,
};

/// The most bytes of a goal and its caller together: Restate takes 32 MiB, and the run keeps it.
const SUBMIT_LIMIT: usize = 8 * 1024 * 1024;
/// The most bytes of a fork's beginning.
const HISTORY_LIMIT: usize = 24 * 1024 * 1024;
/// How long Restate may be out of reach before a wait for a run gives up.
const PATIENCE: Duration = Duration::from_secs(120);

/// What can go wrong between a client and Restate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// It cannot be reached.
    #[error("cannot reach Restate at {url}: {detail}; is it running there?")]
    Unreachable {
        /// What was asked.
        url: String,
        /// Why.
        detail: String,
    },
    /// It answered with an error.
    #[error("Restate answered {status} to {url}: {message}")]
    Refused {
        /// What was asked.
        url: String,
        /// The HTTP status.
        status: u16,
        /// Its words.
        message: String,
    },
    /// It answered something else than expected.
    #[error("the answer of Restate to {url} cannot be read: {detail}")]
    Answer {
        /// What was asked.
        url: String,
        /// Why.
        detail: String,
    },
    /// No worker is registered.
    #[error(
        "Restate at {url} knows no service {service}: start a worker (callgate worker --engine restate)"
    )]
    NoWorker {
        /// The ingress.
        url: String,
        /// The service of runs.
        service: String,
    },
    /// There is no such run.
    #[error("there is no run {run} in Restate, or it has not begun yet")]
    UnknownRun {
        /// What was asked for.
        run: String,
    },
    /// An id that cannot be one.
    #[error("{0:?} cannot be a run's id: letters, digits, '.', '_', ':' and '-', 128 at most")]
    BadId(String),
    /// A goal that is too large.
    #[error("the goal and its caller have {bytes} bytes; {SUBMIT_LIMIT} is the most")]
    TooLarge {
        /// Their length.
        bytes: usize,
    },
    /// A fork with too much before it.
    #[error("what the fork begins with has {bytes} bytes; {HISTORY_LIMIT} is the most")]
    LongHistory {
        /// Their length.
        bytes: usize,
    },
    /// The run's own handler failed for good.
    #[error("run {run} could not be driven to its end: {message}")]
    Failed {
        /// The run.
        run: String,
        /// Why.
        message: String,
    },
    /// Something that only the admin API knows.
    #[error("{what} needs the address of Restate's admin API (--admin)")]
    NeedsAdmin {
        /// What does.
        what: &'static str,
    },
    /// A large body that is no longer what it was.
    #[error("the body {0} came back with another hash")]
    Damaged(Arc<str>),
    /// A journal on this side that the run was to be taken into.
    #[error(transparent)]
    Journal(#[from] callgate_engine::JournalError),
    /// The client itself could not be made.
    #[error("cannot set up an HTTP client: {0}")]
    Setup(String),
}

impl ClientError {
    /// Whether the same may be answered when it is asked again in a moment: Restate cannot be
    /// reached, or is not ready.
    pub fn is_passing(&self) -> bool {
        http::is_passing(self)
    }
}

/// A run that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// Its id.
    pub run: String,
    /// Restate's id of the invocation.
    pub invocation: String,
    /// Whether it had been sent before.
    pub before: bool,
}

/// Runs in Restate, from outside. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Client {
    http: Http,
    admin: Option<Arc<Admin>>,
    service: ServiceName,
    places: Arc<Places>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SendAnswer {
    invocation_id: String,
    status: String,
}

impl Client {
    /// A client of the ingress at a URL (`http://127.0.0.1:8080`).
    ///
    /// # Errors
    /// The HTTP client cannot be set up.
    pub fn new(ingress: &str) -> Result<Self, ClientError> {
        Ok(Self {
            http: Http::new(ingress)?,
            admin: None,
            service: ServiceName::default(),
            places: Arc::default(),
        })
    }

    /// With the admin API at a URL (`http://127.0.0.1:9070`): for workers to register, and to list
    /// runs.
    ///
    /// # Errors
    /// The HTTP client cannot be set up.
    pub fn admin(mut self, admin: &str) -> Result<Self, ClientError> {
        self.admin = Some(Arc::new(Admin::new(admin)?));
        Ok(self)
    }

    /// The service of runs, where workers were given another name.
    #[must_use]
    pub fn service(mut self, service: ServiceName) -> Self {
        self.service = service;
        self.places = Arc::default();
        self
    }

    /// The service of runs.
    pub fn service_name(&self) -> &str {
        self.service.as_str()
    }

    /// Whether runs can be begun and looked at now: ingress and admin API answer, and a worker of
    /// the service is registered.
    ///
    /// # Errors
    /// What is missing.
    pub async fn health(&self) -> Result<(), ClientError> {
        self.http.get::<Value>("/restate/health").await?;
        let admin = self.admin.as_ref();
        let admin = admin.ok_or(ClientError::NeedsAdmin { what: "looking at runs" })?;
        if admin.has_service(self.service.as_str()).await? {
            return Ok(());
        }
        let (url, service) = (self.http.base().to_owned(), self.service.to_string());
        Err(ClientError::NoWorker { url, service })
    }

    /// The admin API, where its address is known.
    pub fn admin_api(&self) -> Option<&Arc<Admin>> {
        self.admin.as_ref()
    }

    /// Tells Restate of a worker; see [`Admin::register`].
    ///
    /// # Errors
    /// The admin API is not known, cannot be reached, or cannot reach the worker.
    pub async fn register(&self, url: &str) -> Result<Deployment, ClientError> {
        let admin = self.admin.as_ref();
        admin.ok_or(ClientError::NeedsAdmin { what: "registering a worker" })?.register(url).await
    }

    /// An id that sorts by time and that no other process makes.
    pub fn new_id() -> String {
        use std::hash::{BuildHasher as _, RandomState};
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let random = RandomState::new().hash_one(count) as u32;
        format!("run-{:011x}-{random:08x}", clock::now())
    }

    /// Asks for a run. Asking again with the same id is no second run.
    ///
    /// # Errors
    /// Restate cannot be reached, no worker is registered, or the id or goal cannot be taken.
    pub async fn submit(&self, run: &str, submit: &Submit) -> Result<Sent, ClientError> {
        self.check(run)?;
        let bytes = submit.goal.len() + submit.caller.to_string().len();
        if bytes > SUBMIT_LIMIT {
            return Err(ClientError::TooLarge { bytes });
        }
        if !submit.history.is_empty() {
            // The one thing that may come near to what Restate takes.
            let bytes = serde_json::to_vec(submit).map_or(usize::MAX, |json| json.len());
            if bytes > HISTORY_LIMIT {
                return Err(ClientError::LongHistory { bytes });
            }
        }
        let path = format!("/restate/send/{}/{run}/{}", self.service, names::RUN);
        let answer: SendAnswer = self.post(&path, submit, run).await?;
        let before = answer.status == "PreviouslyAccepted";
        Ok(Sent { run: run.to_owned(), invocation: answer.invocation_id, before })
    }

    /// Waits for a run's end, however long that takes. Restate may be away for two minutes at a
    /// time.
    ///
    /// # Errors
    /// There is no such run, or its handler failed for good.
    pub async fn attach(&self, run: &str) -> Result<Finish, ClientError> {
        self.check(run)?;
        let path = format!("/restate/workflow/{}/{run}/attach", self.service);
        let packed: Packed = self
            .http
            .patiently(PATIENCE, || self.http.get(&path))
            .await
            .map_err(|error| self.explain(error, run))?;
        self.opened(run, &packed).await
    }

    /// How far a run is.
    ///
    /// # Errors
    /// There is no such run, or it has not begun.
    pub async fn status(&self, run: &str) -> Result<RunStatus, ClientError> {
        self.check(run)?;
        let status: Option<RunStatus> = self.call(run, "status", &Value::Null).await?;
        status.ok_or_else(|| ClientError::UnknownRun { run: run.to_owned() })
    }

    /// Says something to a run.
    ///
    /// # Errors
    /// Restate cannot be reached or knows no such service.
    pub async fn say(&self, run: &str, said: &Say) -> Result<Said, ClientError> {
        self.check(run)?;
        self.call(run, handler_of(said), said).await
    }

    /// Decides on a call that waits for approval, bound to what was seen where `binding` says so.
    ///
    /// # Errors
    /// As [`say`](Self::say).
    pub async fn decide(
        &self,
        run: &str,
        call: &str,
        binding: Option<&str>,
        decision: Decision,
        by: Option<&str>,
    ) -> Result<Said, ClientError> {
        let (call, binding, by) = (call.into(), binding.map(Into::into), by.map(Into::into));
        self.say(run, &Say::Decision { call, binding, decision, by }).await
    }

    /// Answers a question that the model put to the user.
    ///
    /// # Errors
    /// As [`say`](Self::say).
    pub async fn answer(
        &self,
        run: &str,
        call: &str,
        text: &str,
        by: Option<&str>,
    ) -> Result<Said, ClientError> {
        let by = by.map(Into::into);
        self.say(run, &Say::Answer { call: call.into(), text: text.into(), by }).await
    }

    /// Says what became of a call in doubt.
    ///
    /// # Errors
    /// As [`say`](Self::say).
    pub async fn resolve(
        &self,
        run: &str,
        call: &str,
        resolution: Resolution,
        by: Option<&str>,
    ) -> Result<Said, ClientError> {
        let by = by.map(Into::into);
        self.say(run, &Say::Doubt { call: call.into(), resolution, by }).await
    }

    /// Stops a run.
    ///
    /// # Errors
    /// As [`say`](Self::say).
    pub async fn cancel(&self, run: &str, by: Option<&str>) -> Result<Said, ClientError> {
        self.say(run, &Say::Cancel { by: by.map(Into::into) }).await
    }

    /// Has a run wait.
    ///
    /// # Errors
    /// As [`say`](Self::say).
    pub async fn pause(&self, run: &str, by: Option<&str>) -> Result<Said, ClientError> {
        self.say(run, &Say::Pause { by: by.map(Into::into) }).await
    }

    /// Has a paused run go on.
    ///
    /// # Errors
    /// As [`say`](Self::say).
    pub async fn resume(&self, run: &str, by: Option<&str>) -> Result<Said, ClientError> {
        self.say(run, &Say::Resume { by: by.map(Into::into) }).await
    }

    fn check(&self, run: &str) -> Result<(), ClientError> {
        if names::is_run_id(run) { Ok(()) } else { Err(ClientError::BadId(run.to_owned())) }
    }
}
