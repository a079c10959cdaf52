//! How the proxy is set.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use callgate_contract::Mode;
use callgate_engine::{Approver, Journal, Observer, Toolset};
use callgate_machine::Agent;
use serde_json::Value;

use super::{allow::Allow, told::Watch};

/// How the proxy is set.
#[derive(Clone)]
pub struct ProxyOptions {
    /// The model of requests that name none, as `provider:model`; it may have any of the names in
    /// `aliases` as well. None: a request has to name its model.
    pub default_model: Option<String>,
    /// Other names for models, to `provider:model`: for applications that name a model of another
    /// provider. The name `*` stands for every name that is neither here nor `provider:model`.
    pub aliases: BTreeMap<String, String>,
    /// Which models may be asked for; the default model and those of `aliases` always may.
    pub allow: Allow,
    /// Further names for `/v1/models`, beside the default, the aliases and what `allow` names.
    pub listed: Vec<String>,
    /// How much the gates mend, unless a request says otherwise (`x-callgate-mode`).
    pub mode: Mode,
    /// How often the model is asked for one answer, the first time included: 4. A request may ask
    /// for fewer (`x-callgate-attempts`).
    pub attempts: u32,
    /// No further attempt once an answer has cost so many tokens, input and output together.
    pub tokens: Option<u64>,
    /// How long an answer may take with all its attempts: 600 s.
    pub time: Duration,
    /// The longest request, in bytes: 32 MiB, as providers have it.
    pub max_body: usize,
    /// Requests at the same time; further ones are refused with 503: 1024.
    pub max_requests: usize,
    /// How often a stream that has nothing to say shows that it is alive: 15 s.
    pub keep_alive: Duration,
    /// How long answers on their way may go on once the server is told to stop: 10 s.
    pub drain: Duration,
    /// The server's own tools, for requests that want them called here.
    pub catalog: Option<Catalog>,
    /// Sees each request that was served; must not block.
    pub watch: Option<Watch>,
    /// Whether whoever watches sends spans: what was [`traced`](super::Served::traced) is told then,
    /// and providers are told their span (`traceparent`). The toolset of `catalog` has a word of its
    /// own for that.
    pub traced: bool,
}

/// The server's own tools, for requests with `x-callgate-tools: catalog`.
#[derive(Clone)]
pub struct Catalog {
    /// The tools.
    pub tools: Toolset,
    /// The agent whose loop, budget and mode such runs have. Its instructions come before the
    /// client's; its model is not used.
    pub agent: Agent,
    /// Where the runs are kept; none: in memory, while they go on.
    pub journal: Option<Arc<dyn Journal>>,
    /// Who calls, for rules and tiers, where a request's token does not say.
    pub caller: Value,
    /// Who is asked before a call of tier `approve` runs; none: nobody, so it does not.
    pub approver: Option<Arc<dyn Approver>>,
    /// Sees the events of such runs; must not block.
    pub observer: Option<Observer>,
}

impl Default for ProxyOptions {
    fn default() -> Self {
        Self {
            default_model: None,
            aliases: BTreeMap::new(),
            allow: Allow::default(),
            listed: Vec::new(),
            mode: Mode::default(),
            attempts: 4,
            tokens: None,
            time: Duration::from_secs(600),
            max_body: 32 << 20,
            max_requests: 1024,
            keep_alive: Duration::from_secs(15),
            drain: Duration::from_secs(10),
            catalog: None,
            watch: None,
            traced: false,
        }
    }
}

impl fmt::Debug for ProxyOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxyOptions")
            .field("default_model", &self.default_model)
            .field("aliases", &self.aliases)
            .field("allow", &self.allow)
            .finish_non_exhaustive()
    }
}
