//! Whose runs, and how many.

use std::{sync::Arc, time::Duration};

use callgate_engine::{Engine, Observer};

/// An agent whose runs a host drives.
#[derive(Clone)]
pub struct HostedAgent {
    /// Its name: that of its specification, by which the journal lists its runs.
    pub name: Arc<str>,
    /// What it is for, in a line.
    pub description: Option<Arc<str>>,
    /// What its runs share.
    pub engine: Arc<Engine>,
}

impl HostedAgent {
    /// An agent by the name in its specification.
    pub fn new(engine: Arc<Engine>) -> Self {
        let name = engine.agent().name.as_str().into();
        Self { name, description: None, engine }
    }

    /// With a line on what it is for.
    #[must_use]
    pub fn described(mut self, description: Option<Arc<str>>) -> Self {
        self.description = description;
        self
    }
}

/// Makes an agent's engine with another model than its own: agent, model. An error is told to
/// whoever asked.
pub type VariantMaker = Arc<dyn Fn(&str, &str) -> Result<Arc<Engine>, String> + Send + Sync>;

/// How a host is set.
#[derive(Clone)]
pub struct HostOptions {
    /// Runs that are driven at the same time; further ones are kept, and wait for their turn.
    /// Default: 256.
    pub max_runs: usize,
    /// Runs that may wait for their turn; further ones are refused. Default: 10,000.
    pub max_waiting: usize,
    /// How often words that other processes left are looked for. Default: 1 s.
    pub look: Duration,
    /// How long after an error of the journal a run is tried again. Default: 30 s.
    pub retry: Duration,
    /// Makes engines with other models; without it runs go on with their agent's own.
    pub variants: Option<VariantMaker>,
    /// Sees what happens in all runs that are driven here; must not block.
    pub observer: Option<Observer>,
}

impl Default for HostOptions {
    fn default() -> Self {
        Self {
            max_runs: 256,
            max_waiting: 10_000,
            look: Duration::from_secs(1),
            retry: Duration::from_secs(30),
            variants: None,
            observer: None,
        }
    }
}

impl std::fmt::Debug for HostOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostOptions")
            .field("max_runs", &self.max_runs)
            .field("max_waiting", &self.max_waiting)
            .finish_non_exhaustive()
    }
}
