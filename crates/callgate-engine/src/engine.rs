//! What runs share: a model, tools, a journal, somebody to ask.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use callgate_contract::{Catalog, schema::Schema, surface::Family};
use callgate_machine::{
    Agent, Mount, Run,
    event::{AnswerSchema, RunStarted},
};
use callgate_model::Model;
use callgate_tool::Backend;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    approver::{Approver, DenyAll},
    journal::{Journal, MemoryJournal},
    session::{Clock, Observer, Session},
};

/// Everything that runs of one agent share.
pub struct Engine {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) fallbacks: Vec<Arc<dyn Model>>,
    pub(crate) backends: HashMap<Arc<str>, Arc<dyn Backend>>,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) approver: Arc<dyn Approver>,
    pub(crate) stream: bool,
    agent: Arc<Agent>,
    answer: Option<AnswerSchema>,
    catalog: Arc<Catalog>,
    mount: Mount,
    fingerprints: BTreeMap<Arc<str>, String>,
    clock: Clock,
}

impl Engine {
    /// An engine for an agent whose tools are those of a catalog.
    pub fn new(agent: Agent, model: Arc<dyn Model>, catalog: Catalog) -> Self {
        let mount = mounted(&agent, &*model, &catalog, None);
        Self::mounted(agent, model, Arc::new(catalog), mount)
    }

    /// An engine whose model is offered what the caller says, instead of what its provider takes.
    pub(crate) fn mounted(
        agent: Agent,
        model: Arc<dyn Model>,
        catalog: Arc<Catalog>,
        mount: Mount,
    ) -> Self {
        let fingerprints =
            catalog.tools().map(|tool| (tool.name.clone(), tool.fingerprint())).collect();
        Self {
            model,
            fallbacks: Vec::new(),
            backends: HashMap::new(),
            journal: Arc::new(MemoryJournal::new()),
            approver: Arc::new(DenyAll),
            stream: true,
            agent: Arc::new(agent),
            answer: None,
            catalog,
            mount,
            fingerprints,
            clock: Clock::default(),
        }
    }

    /// Who does the work of a tool.
    #[must_use]
    pub fn backend(mut self, tool: &str, backend: Arc<dyn Backend>) -> Self {
        self.backends.insert(tool.into(), backend);
        self
    }

    /// Where events are kept. Default: in memory.
    #[must_use]
    pub fn journal(mut self, journal: Arc<dyn Journal>) -> Self {
        self.journal = journal;
        self
    }

    /// Who is asked for approval. Default: nobody, so every question is a no.
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = approver;
        self
    }

    /// Structured Output: the final answer's schema.
    #[must_use]
    pub fn answer(mut self, answer: Option<AnswerSchema>) -> Self {
        self.answer = answer;
        self.remount();
        self
    }

    /// Models that stand in, in order, when the one before has an outage or a rate limit. The
    /// transcript goes with them, without what only its own model understands.
    #[must_use]
    pub fn fallbacks(mut self, models: Vec<Arc<dyn Model>>) -> Self {
        self.fallbacks = models;
        self.remount();
        self
    }

    fn remount(&mut self) {
        let schema = self.answer.as_ref().and_then(|a| Schema::compile(a.schema.clone()).ok());
        let mount = |model: &dyn Model| mounted(&self.agent, model, &self.catalog, schema.as_ref());
        let others = self.fallbacks.iter().map(|m| (Arc::from(m.id()), mount(&**m))).collect();
        self.mount = mount(&*self.model).with_fallbacks(others);
    }

    /// Whether replies are streamed when somebody watches. Default: yes.
    #[must_use]
    pub fn stream(mut self, stream: bool) -> Self {
        self.stream = stream;
        self
    }

    /// The agent.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// The catalog.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// What the model is offered.
    pub fn mount(&self) -> &Mount {
        &self.mount
    }

    pub(crate) fn now(&self) -> u64 {
        self.clock.now()
    }

    /// A new run, not begun yet. `cancel` stops it from anywhere.
    pub fn session(
        self: &Arc<Self>,
        observer: Option<Observer>,
        cancel: CancellationToken,
    ) -> Session {
        let run = Run::new(self.new_id(), self.catalog.clone(), self.mount.clone());
        Session::new(self.clone(), run, observer, cancel)
    }

    /// The first event of a run.
    pub fn start(&self, goal: &str, caller: Value) -> RunStarted {
        RunStarted {
            agent: self.agent.clone(),
            model: self.model.id().into(),
            goal: goal.into(),
            caller,
            answer: self.answer.clone(),
            tools: self.fingerprints.clone(),
            shown: self.mount.shown().clone(),
        }
    }

    /// An id that sorts by time and is unique on this machine: time, process, count.
    fn new_id(&self) -> String {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        format!("run-{:011x}-{:x}-{count:x}", self.now(), std::process::id())
    }
}

fn mounted(agent: &Agent, model: &dyn Model, catalog: &Catalog, answer: Option<&Schema>) -> Mount {
    Mount::of(catalog, family_of(model.id()), agent.strict, answer)
}

/// Whose dialect a model's tools are told in, by the provider in its id.
fn family_of(model: &str) -> Family {
    match model.split([':', '/']).next().unwrap_or_default() {
        "openai" | "openai-responses" | "openai-chat" => Family::OpenAi,
        "anthropic" => Family::Anthropic,
        "gemini" => Family::Gemini,
        "deepseek" => Family::DeepSeek,
        "mistral" => Family::Mistral,
        "ollama" => Family::Ollama,
        _ => Family::Compatible,
    }
}
