//! Workers: processes that do what Restate has them do.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use callgate_engine::Engine;
use tokio::net::TcpListener;

use crate::{
    blob::{Blobs, FileBlobs},
    build,
    delta::{DeltaSink, NoDeltas},
    flight::Flights,
    names::ServiceName,
    serve::Serving,
    services, tools,
};

/// How long a run that is over is kept, where nothing else is said: seven days.
pub const RETENTION: Duration = Duration::from_secs(7 * 24 * 3600);

/// Why a worker does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// The address cannot be listened on.
    #[error("cannot listen on {addr}: {source}")]
    Listen {
        /// The address.
        addr: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The SDK refuses a name or a key.
    #[error("the worker cannot be described to Restate: {0}")]
    Described(String),
    /// A tool whose work another agent does.
    #[error(
        "the tool {0} is another agent, and the Restate engine does not run delegates yet: give it a backend, or run the agent embedded"
    )]
    Delegate(Arc<str>),
    /// This program's own file cannot be read, so its build has no name.
    #[error("cannot read this program to name its build: {0}; give the build a name instead")]
    Build(io::Error),
}

/// What a worker's handlers share.
pub(crate) struct Shared {
    pub engine: Arc<Engine>,
    pub blobs: Arc<dyn Blobs>,
    pub deltas: Arc<dyn DeltaSink>,
    pub build: Arc<str>,
    /// The service that makes tool calls for this build's runs.
    pub tools: Arc<str>,
    pub flights: Flights,
    /// Tells this process from any other.
    pub process: Arc<str>,
}

/// A process that drives runs of one agent, to be started.
pub struct Worker {
    engine: Arc<Engine>,
    blobs: Arc<dyn Blobs>,
    deltas: Arc<dyn DeltaSink>,
    build: Option<Arc<str>>,
    service: ServiceName,
    retention: Duration,
    identity_keys: Vec<String>,
}

impl Worker {
    /// A worker for an engine's agent, model and tools. The engine's journal and approver are not
    /// used: events are kept in Restate, and people answer through [`crate::Client`].
    pub fn new(engine: Arc<Engine>) -> Self {
        Self {
            engine,
            blobs: Arc::new(FileBlobs::new(".callgate/blobs")),
            deltas: Arc::new(NoDeltas),
            build: None,
            service: ServiceName::default(),
            retention: RETENTION,
            identity_keys: Vec::new(),
        }
    }

    /// Where bodies over 256 KiB are kept. Workers that share runs share it. Default: the folder
    /// `.callgate/blobs`.
    #[must_use]
    pub fn blobs(mut self, blobs: Arc<dyn Blobs>) -> Self {
        self.blobs = blobs;
        self
    }

    /// Where token deltas go. Default: nowhere.
    #[must_use]
    pub fn deltas(mut self, deltas: Arc<dyn DeltaSink>) -> Self {
        self.deltas = deltas;
        self
    }

    /// The build's name, instead of one made of this program and the project: letters, digits and
    /// `-`. Two workers of one name have to be the same program with the same project.
    #[must_use]
    pub fn build(mut self, build: impl Into<Arc<str>>) -> Self {
        self.build = Some(build.into());
        self
    }

    /// The name of the service of runs, where several agents share a Restate. Default:
    /// `CallgateRun`.
    #[must_use]
    pub fn service(mut self, service: ServiceName) -> Self {
        self.service = service;
        self
    }

    /// How long a run that is over is kept. Default: seven days.
    #[must_use]
    pub fn retention(mut self, retention: Duration) -> Self {
        self.retention = retention;
        self
    }

    /// Takes requests only from a Restate that signs them with this key (`publickeyv1_…`). May be
    /// given several times.
    #[must_use]
    pub fn identity_key(mut self, key: impl Into<String>) -> Self {
        self.identity_keys.push(key.into());
        self
    }

    /// Listens and serves, until what is returned is dropped.
    ///
    /// # Errors
    /// The address is taken, or a name or key is none.
    pub async fn listen(self, addr: SocketAddr) -> Result<Serving, WorkerError> {
        if let Some(tool) = self.engine.delegates().min() {
            return Err(WorkerError::Delegate(tool.clone()));
        }
        let listener =
            TcpListener::bind(addr).await.map_err(|source| WorkerError::Listen { addr, source })?;
        let build = match self.build.clone() {
            Some(build) => build,
            None => build::of(&self.engine).await.map_err(WorkerError::Build)?,
        };
        let shared = Arc::new(Shared {
            tools: self.service.tools(&build).into(),
            engine: self.engine.clone(),
            blobs: self.blobs.clone(),
            deltas: self.deltas.clone(),
            build: build.clone(),
            flights: Flights::default(),
            process: tools::process(),
        });
        let endpoint =
            services::endpoint(&shared, &self.service, self.retention, &self.identity_keys)
                .map_err(WorkerError::Described)?;
        let flights = shared.flights.clone();
        Serving::start(listener, endpoint, &build, self.service, flights)
            .map_err(|source| WorkerError::Listen { addr, source })
    }
}
