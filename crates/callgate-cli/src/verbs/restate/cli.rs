//! What can be typed.

use std::{net::SocketAddr, path::PathBuf};

use callgate_restate::{SERVICE, ServiceName};
use clap::{Args, ValueEnum};

use crate::cli::{GateMode, Opened};

/// Where runs are kept and driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    /// In this process
    Embedded,
    /// In Restate, by workers
    Restate,
}

/// An engine of workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WorkerEngine {
    /// Restate
    Restate,
}

fn service(name: &str) -> Result<ServiceName, String> {
    ServiceName::new(name).map_err(|e| e.to_string())
}

/// Which engine a run is given to.
#[derive(Debug, Args)]
pub(crate) struct EngineOptions {
    /// Who drives the run
    #[arg(long, value_enum, default_value_t = Engine::Embedded)]
    pub(crate) engine: Engine,
    /// With --engine restate: where Restate takes requests
    #[arg(
        long,
        env = "CALLGATE_RESTATE_INGRESS",
        default_value = "http://127.0.0.1:8080",
        value_name = "URL"
    )]
    pub(crate) ingress: String,
    /// With --engine restate: the workers' service of runs
    #[arg(long, default_value = SERVICE, value_parser = service, value_name = "NAME")]
    pub(crate) service: ServiceName,
    /// With --engine restate: the run's id; one that is there already is watched, not begun again
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// With --engine restate: print the run's id and do not wait for it
    #[arg(long)]
    pub(crate) detach: bool,
}

/// Where the runs of `callgate serve --engine restate` are.
#[derive(Debug, Args)]
pub(crate) struct ServedBy {
    /// With --engine restate: where Restate takes requests. Default: http://127.0.0.1:8080
    #[arg(long, env = "CALLGATE_RESTATE_INGRESS", value_name = "URL")]
    pub(crate) ingress: Option<String>,
    /// With --engine restate: its admin API, which has the tables that runs are read from.
    /// Default: http://127.0.0.1:9070
    #[arg(long, env = "CALLGATE_RESTATE_ADMIN", value_name = "URL")]
    pub(crate) admin: Option<String>,
    /// With --engine restate: the workers' service of runs. Default: CallgateRun
    #[arg(long, value_parser = service, value_name = "NAME")]
    pub(crate) service: Option<ServiceName>,
}

/// `callgate worker`.
#[derive(Debug, Args)]
pub(crate) struct Worker {
    /// Whose worker
    #[arg(long, value_enum, default_value_t = WorkerEngine::Restate)]
    pub(crate) engine: WorkerEngine,
    #[command(flatten)]
    pub(crate) project: Opened,
    /// Where to listen for Restate
    #[arg(long, default_value = "127.0.0.1:9080", value_name = "ADDRESS:PORT")]
    pub(crate) listen: SocketAddr,
    /// Scheme, host and port under which Restate reaches this worker, or the load balancer before
    /// all workers of this build; else http:// and the address listened on
    #[arg(long, value_name = "URL")]
    pub(crate) advertise: Option<String>,
    /// Restate's admin API, to register with
    #[arg(
        long,
        env = "CALLGATE_RESTATE_ADMIN",
        default_value = "http://127.0.0.1:9070",
        value_name = "URL"
    )]
    pub(crate) admin: String,
    /// Register nothing: another worker of this build has, or somebody does it by hand
    #[arg(long)]
    pub(crate) no_register: bool,
    /// The name of the service of runs, where several agents share a Restate
    #[arg(long, default_value = SERVICE, value_parser = service, value_name = "NAME")]
    pub(crate) service: ServiceName,
    /// Where bodies over 256 KiB are kept; all workers of a build share it. Else the project's
    /// .callgate/blobs
    #[arg(long, value_name = "DIR")]
    pub(crate) blobs: Option<PathBuf>,
    /// How many days a run that is over is kept
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u64).range(1..=365), value_name = "DAYS")]
    pub(crate) keep: u64,
    /// Take requests only from a Restate that signs them with this key (publickeyv1_…)
    #[arg(long, value_name = "KEY")]
    pub(crate) identity_key: Vec<String>,
    /// The model, provider:model or provider/model; else the one in agent.json
    #[arg(short, long, env = "CALLGATE_MODEL", value_name = "PROVIDER:MODEL")]
    pub(crate) model: Option<String>,
    /// Where the provider's API is; before what variables such as OPENAI_BASE_URL say
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// How much the gates mend by themselves; else as agent.json says
    #[arg(long, value_enum)]
    pub(crate) mode: Option<GateMode>,
    /// A line {"type":"listening",…} on standard output once it listens and is registered
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) const WORKER_EXAMPLES: &str = "\
A worker does what Restate has it do: it drives runs of the project's agent. It can be killed at any time; another one
goes on. Its URL carries its build, so a changed project or program is another URL, and runs end where they began.

Examples:
  callgate worker --engine restate
  callgate worker --listen 0.0.0.0:9080 --advertise http://workers.internal:9080 --admin http://restate:9070
  callgate run --engine restate \"Close ticket T-1042\"
";
